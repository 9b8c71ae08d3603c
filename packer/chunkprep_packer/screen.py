"""From ranked candidates to survivors: every reason not to pack but size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from chunkprep_ingest.model import ChunkRow
from chunkprep_packer.diversity import Cosines, diversify
from chunkprep_packer.duplicates import drop_duplicates
from chunkprep_packer.facts import Facts
from chunkprep_packer.request import Candidate, PackOptions

PINNED = "pinned"
"""Stands where a reason would for a candidate that is in the context already, as a pin."""


@dataclass(frozen=True, slots=True)
class Screened:
    """What is known of each position (in ranked order), and which positions survived.

    `reasons` holds None for a survivor; `survivors` and `ranks` are as diversity has reordered
    them; `forwarded` maps a position to the superseded id that it came from.
    """

    rows: list[ChunkRow | None]
    reasons: list[str | None]
    survivors: list[int]
    forwarded: dict[int, str]
    ranks: Sequence[int]
    cosines: Cosines | None = None


def screen(ranked: Sequence[Candidate], facts: Facts, options: PackOptions) -> Screened:
    """Eligibility, then minimum score, then duplicates, then diversity."""
    screened = _eligible(ranked, facts, options.min_score)
    if options.dedupe != "none":
        screened = _without_duplicates(screened, facts, near=options.dedupe == "near")
    if options.mmr is not None:
        screened = _diverse(screened, ranked, facts, options, options.mmr)
    return screened


def superseded(candidates: Sequence[Candidate], facts: Facts) -> list[str]:
    """Ids of candidates that a successor may stand in for."""
    ids = dict.fromkeys(candidate.chunk_id for candidate in candidates)
    return [i for i in ids if i in facts.rows and facts.judge(facts.rows[i]) == "superseded"]


def _eligible(ranked: Sequence[Candidate], facts: Facts, min_score: float | None) -> Screened:
    rows_by_id, judge, successors = facts.rows, facts.judge, facts.successors
    pinned = {row.chunk_id for row in facts.pins}
    rows: list[ChunkRow | None] = []
    reasons: list[str | None] = []
    survivors: list[int] = []
    forwarded: dict[int, str] = {}
    seen: set[str] = set()
    for at, candidate in enumerate(ranked):
        name = candidate.chunk_id
        row = rows_by_id.get(name)
        if name in seen:
            reason: str | None = "duplicate_id"
        elif row is None:
            reason = "unknown_id"
        else:
            reason = judge(row)
            if reason == "superseded" and name in successors:
                forwarded[at] = name
                row = successors[name]
                reason = "duplicate_id" if row.chunk_id in seen else judge(row)
                seen.add(row.chunk_id)
            if reason is None:
                if row.chunk_id in pinned:
                    reason = PINNED
                elif min_score is not None and candidate.score < min_score:
                    reason = "below_min_score"
                else:
                    survivors.append(at)
        seen.add(name)
        rows.append(row)
        reasons.append(reason)
    return Screened(rows, reasons, survivors, forwarded, range(1, len(rows) + 1))


def _without_duplicates(screened: Screened, facts: Facts, *, near: bool) -> Screened:
    rows = [row for at in screened.survivors if (row := screened.rows[at]) is not None]
    found = drop_duplicates(rows, pinned=facts.pins, near=near)
    reasons = list(screened.reasons)
    for at, reason in zip(screened.survivors, found, strict=True):
        reasons[at] = reason
    survivors = [at for at in screened.survivors if reasons[at] is None]
    return replace(screened, reasons=reasons, survivors=survivors)


def _diverse(
    screened: Screened,
    ranked: Sequence[Candidate],
    facts: Facts,
    options: PackOptions,
    balance: float,
) -> Screened:
    """Reorder the survivors; ranks move with them, the ones dropped take the last of theirs."""
    cosines = facts.cosines
    assert cosines is not None
    diverse = diversify(
        screened.survivors,
        [ranked[at].score for at in screened.survivors],
        cosines,
        balance=balance,
        max_similarity=options.mmr_max_similarity,
        seeds=[at for at, reason in enumerate(screened.reasons) if reason == PINNED],
    )
    ranks, reasons = list(screened.ranks), list(screened.reasons)
    places = [ranks[at] for at in screened.survivors]
    for at, place in zip(diverse.chosen + diverse.dropped, places, strict=True):
        ranks[at] = place
    for at in diverse.dropped:
        reasons[at] = "not_diverse"
    return replace(
        screened, survivors=diverse.chosen, reasons=reasons, ranks=ranks, cosines=cosines
    )
