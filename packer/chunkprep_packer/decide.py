"""The whole decision, from candidates and facts to a plan: pure, and without a tokenizer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from chunkprep_ingest.model import Boundary, ChunkRow
from chunkprep_ingest.template import MAX_ORDINAL
from chunkprep_packer.facts import Facts
from chunkprep_packer.order import arrange
from chunkprep_packer.pins import check_room
from chunkprep_packer.ranking import rank
from chunkprep_packer.request import Candidate, PackOptions
from chunkprep_packer.result import LEFT_OUT, Rank1
from chunkprep_packer.screen import Screened, screen
from chunkprep_packer.select import Offer, Room, Selection, select

_NO_EXTRA: Mapping[str, int] = {}


@dataclass(frozen=True, slots=True)
class Plan:
    """What goes into the context and why the rest does not.

    Positions index `ranked`. `sequence` is the packed positions in final order; pins stand before
    them. `note_tokens` is 0 where no closing line is shown.
    """

    options: PackOptions
    ranked: Sequence[Candidate]
    screened: Screened
    costs: Sequence[int]
    selection: Selection
    pins: Sequence[ChunkRow]
    pin_costs: Sequence[int]
    sequence: Sequence[int]
    note_tokens: int = 0

    @property
    def pinned_tokens(self) -> int:
        """Tokens of all pinned blocks."""
        return sum(self.pin_costs)

    @property
    def used_tokens(self) -> int:
        """Tokens of the whole context: pins, packed blocks and the closing line."""
        return self.pinned_tokens + self.selection.used + self.note_tokens

    @property
    def rank1(self) -> Rank1:
        """What became of the best-ranked survivor."""
        survivors = self.screened.survivors
        return fate(survivors[0], self.selection) if survivors else "none"

    def blocks(self) -> list[tuple[ChunkRow, Boundary | None]]:
        """Every block in final order, with where it is cut."""
        taken, rows = self.selection.taken, self.screened.rows
        shown: list[tuple[ChunkRow, Boundary | None]] = [(row, None) for row in self.pins]
        for at in self.sequence:
            row = rows[at]
            assert row is not None
            shown.append((row, taken[at].cut))
        return shown


def fate(first: int, selection: Selection) -> Rank1:
    """What became of the survivor at position `first`."""
    taken = selection.taken.get(first)
    if taken is not None:
        return "packed" if taken.cut is None else "truncated"
    return "too_large" if selection.missed.get(first) == "too_large" else "no_room"


def decide(options: PackOptions, candidates: Iterable[Candidate], facts: Facts) -> Plan:
    """Rank, screen, select and order. Raises PinsExceedSlot, and RequestError for vectors."""
    ranked = rank(candidates)
    extra = facts.ordinal_tokens if options.ordinals else _NO_EXTRA
    pin_costs = [row.block_tokens + extra.get(row.profile, 0) for row in facts.pins]
    pinned_tokens = check_room(pin_costs, options.budget, ordinals=options.ordinals)
    screened = screen(ranked, facts, options)
    offer = _offer(ranked, screened, extra)
    whole = options.budget - pinned_tokens
    blocks = MAX_ORDINAL - len(pin_costs) if options.ordinals else None
    selection = select(offer, Room(whole, whole, blocks), options)
    note_tokens = 0
    if options.partial_note and facts.note_tokens:
        with_note = _with_note(offer, Room(whole, whole, blocks), options, facts, selection)
        if with_note is not None:
            selection, note_tokens = with_note, facts.note_tokens
    sequence = _sequence(screened, selection, options)
    return Plan(
        options,
        ranked,
        screened,
        offer.costs,
        selection,
        facts.pins,
        pin_costs,
        sequence,
        note_tokens,
    )


def _offer(ranked: Sequence[Candidate], screened: Screened, extra: Mapping[str, int]) -> Offer:
    rows = screened.rows
    surcharges = [0] * len(rows)
    if extra:
        surcharges = [0 if row is None else extra.get(row.profile, 0) for row in rows]
    costs = [
        0 if row is None else row.block_tokens + more
        for row, more in zip(rows, surcharges, strict=True)
    ]
    return Offer(screened.survivors, rows, costs, surcharges, [c.score for c in ranked])


def _with_note(
    offer: Offer, room: Room, options: PackOptions, facts: Facts, without: Selection
) -> Selection | None:
    """The selection that leaves room for the closing line, where the set is partial.

    None where nothing is left out, or where the line would cost the context its last block or
    rank 1 its place.
    """
    partial = any(reason in LEFT_OUT for reason in without.missed.values()) or any(
        taken.cut is not None for taken in without.taken.values()
    )
    left = room.tokens - facts.note_tokens
    if not partial or left < 1:
        return None
    selection = select(offer, room._replace(tokens=left), options)
    if not selection.taken or selection.used > left:
        return None
    first = offer.survivors[0]
    return selection if fate(first, selection) == fate(first, without) else None


def _sequence(screened: Screened, selection: Selection, options: PackOptions) -> list[int]:
    taken, rows = selection.taken, screened.rows
    packed = [at for at in screened.survivors if at in taken]
    if options.order == "rank":
        return packed
    shown = [row for at in packed if (row := rows[at]) is not None]
    return [packed[at] for at in arrange(options.order, shown)]
