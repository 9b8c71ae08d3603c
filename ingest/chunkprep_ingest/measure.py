"""Count every piece once, so that any run of pieces costs a subtraction.

`before[k]` is the exact count of the text before piece k (from the first piece on), as it stands
in the document. Where the tokenizer need not split at a gap, the piece is counted together with
the few characters back to the nearest seam, and these are subtracted again. A gap inside an
unbroken run has no seam near: such gaps are `loose`, and a chunk that holds one inside is counted
afresh.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from chunkprep_ingest import gaps
from chunkprep_ingest.counting import Counter, is_seam, seam_before
from chunkprep_ingest.pieces import Pieces

_NEAR = 64  # characters back in which a seam is looked for
_UNKNOWN = -1, 0
_VISIBLE = frozenset(chr(c) for c in range(0x21, 0x7F)) - {"/"}


class Measured(NamedTuple):
    """`before` has one entry more than there are pieces; `loose` holds piece indices; `seam[k]`
    is where the characters begin that piece k was counted with, where that is not its start.
    """

    before: Sequence[int]
    loose: frozenset[int]
    seam: dict[int, int]


def measure(pieces: Pieces, counter: Counter, seams: bool) -> Measured:
    """Count all pieces; bytes given to the tokenizer are those of the text, and a few more.

    Without `seams` (the rules do not hold in this encoding) every gap is loose.
    """
    text, starts = pieces.text, pieces.start
    texts = [text[a:b] for a, b in zip(starts, [*starts[1:], pieces.end], strict=True)]
    if not seams:
        loose = frozenset(range(1, len(starts)))
        return Measured(list(accumulate(counter.counts(texts), initial=0)), loose, {})
    loose_gaps: set[int] = set()
    seam_of: dict[int, int] = {}
    for k in _suspects(text, starts):
        at = starts[k]
        if pieces.strength[k] == gaps.INSIDE_WORD:
            loose_gaps.add(k)
        elif not is_seam(text, at):
            floor = max(starts[0], at - _NEAR)
            seam = seam_before(text, at, floor)
            if seam == floor and floor != starts[0]:
                loose_gaps.add(k)
            else:
                seam_of[k] = seam
    contexts = [text[seam : starts[k]] for k, seam in seam_of.items()]
    for k, context in zip(seam_of, contexts, strict=True):
        texts[k] = context + texts[k]
    costs = _costs(pieces, texts, seam_of, counter)
    for k, extra in zip(seam_of, counter.counts(contexts), strict=True):
        costs[k] -= extra
    return Measured(list(accumulate(costs, initial=0)), frozenset(loose_gaps), seam_of)


def _costs(
    pieces: Pieces, texts: list[str], seam_of: dict[int, int], counter: Counter
) -> list[int]:
    """The count of each text; one that making the pieces needed already is not counted again."""
    known = pieces.known
    if not known:
        return counter.counts(texts)
    costs, at = [0] * len(texts), []
    for k, (start, end) in enumerate(pairwise([*pieces.start, pieces.end])):
        stop, cost = known.get(start, _UNKNOWN)
        if stop == end and k not in seam_of:
            costs[k] = cost
        else:
            at.append(k)
    for k, cost in zip(at, counter.counts([texts[k] for k in at]), strict=True):
        costs[k] = cost
    return costs


def _suspects(text: str, starts: Sequence[int]) -> list[int]:
    """Gaps that are not plainly seams: a visible ASCII character after a line, or a space."""
    visible = _VISIBLE
    return [
        k
        for k in range(1, len(starts))
        if not (
            (text[starts[k] - 1] == "\n" and text[starts[k]] in visible)
            or (text[starts[k]] == " " and not text[starts[k] - 1].isspace())
        )
    ]
