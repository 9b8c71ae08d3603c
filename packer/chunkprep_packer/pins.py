"""Pins: what the caller wants in the context whatever the retriever says.

They are reserved before anything else and rendered first, in the caller's order, so that their
bytes do not depend on the query and prompt caches hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from chunkprep_ingest.counting import Counter
from chunkprep_ingest.errors import PinNotInForce, PinsExceedSlot, RequestError
from chunkprep_ingest.ids import text_hash
from chunkprep_ingest.lifecycle import iso
from chunkprep_ingest.model import ChunkRow, Moment
from chunkprep_ingest.template import MAX_ORDINAL, Template, clean_label, neutralise
from chunkprep_packer.eligibility import may_see, reason_at
from chunkprep_packer.request import PinText, without_surrogates
from chunkprep_packer.unstored import UNSTORED

TEXT_ID = ""
"""The chunk id of a pinned text, which has none."""


def resolve_pins(
    names: Iterable[str],
    rows: Mapping[str, ChunkRow],
    documents: Mapping[str, Sequence[ChunkRow]],
    *,
    access: frozenset[str],
    at: Moment,
) -> list[ChunkRow]:
    """The rows that the names stand for, each once: a chunk id, else a document's chunks in order.

    Raises PinNotInForce for a chunk that is not in force at `at` and for a name without a chunk
    in force. What the caller may not see is as if it were not there: the answer tells nobody that
    it exists.
    """
    pinned: dict[str, ChunkRow] = {}
    for name in names:
        named = [rows[name]] if name in rows else documents.get(name, ())
        found = [row for row in named if may_see(row, access)]
        if not found:
            raise PinNotInForce(
                f"pin {name!r}: no chunk with this id and no document with chunks in force at "
                f"{iso(at)} that the request's access labels open; see `chunkprep docs`",
                "pin",
            )
        for row in found:
            _check(name, row, at)
            pinned.setdefault(row.chunk_id, row)
    return list(pinned.values())


def _check(name: str, row: ChunkRow, at: Moment) -> None:
    reason = reason_at(row, at)
    if reason is not None:
        raise PinNotInForce(
            f"pin {name!r}: not in force at {iso(at)} ({reason}); pin what replaced it, or set "
            f"as_of",
            "pin",
        )


def text_row(
    pin: PinText, at: int, *, template: Template, profile: str, counter: Counter
) -> ChunkRow:
    """A pinned text as a row, counted here and now.

    `at` is its place among the pinned texts, `profile` the template's fingerprint.
    """
    row = dressed_row(pin, at, template=template, profile=profile)
    tokens = counter.count(row.header + row.text + template.delimiter)
    return row._replace(block_tokens=tokens)


def dressed_row(pin: PinText, at: int, *, template: Template, profile: str) -> ChunkRow:
    """A pinned text dressed by the template like any block, not yet priced."""
    body = _body(pin, at)
    text, _ = neutralise(template, body)
    row = unread_text_row(pin.name, at, tokens=0, content_hash=text_hash(body), profile=profile)
    return row._replace(text=text, header=template.header(clean_label(template, pin.name)))


def unread_text_row(
    name: str, at: int, *, tokens: int, content_hash: str, profile: str
) -> ChunkRow:
    """A pinned text of which only the price and the hash are known: a log need not hold more."""
    return UNSTORED._replace(
        chunk_id=TEXT_ID,
        document=name,
        ordinal=at,
        block_tokens=tokens,
        content_hash=content_hash,
        profile=profile,
    )


def _body(pin: PinText, at: int) -> str:
    """The text as the readers would leave it: LF line ends, no NULs, no blank lines around it."""
    text = pin.text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "")
    text = without_surrogates(text).removeprefix("\ufeff")
    lines = text.rstrip().split("\n")
    while lines and not lines[0].strip():
        del lines[0]
    if not lines:
        raise RequestError(f"pin_text[{at}]: is blank; leave it out", "pin_text")
    return "\n".join(lines)


def check_room(costs: Sequence[int], slot: int, *, ordinals: bool) -> int:
    """The tokens of all pins. Raises PinsExceedSlot where they are over the slot."""
    total = sum(costs)
    if total > slot:
        raise PinsExceedSlot(
            f"pins_exceed_slot: the pins cost {total} tokens, the slot has {slot}; raise the "
            f"budget, or pin less",
            "pin",
        )
    if ordinals and len(costs) > MAX_ORDINAL:
        raise RequestError(
            f"pin: {len(costs)} pinned blocks, but ordinals end at {MAX_ORDINAL}; pin less, or "
            f"leave ordinals off",
            "pin",
        )
    return total
