"""What the text before each piece costs, so that any run of pieces costs a subtraction.

The whole text goes through the tokenizer once (`RunningCounter.running`). `before[k]` is the
exact count of the text before piece k, as it stands in the document. Where the tokenizer need not
part the text at a gap, the few characters back to the nearest seam are counted afresh. A gap
inside an unbroken run has no seam near: such gaps are `loose`, and prices do not add across them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from chunkprep_ingest import gaps
from chunkprep_ingest.counting import Counter, is_seam, seam_before
from chunkprep_ingest.pieces import Pieces

_NEAR = 64  # characters back in which a seam is looked for
_VISIBLE = frozenset(chr(c) for c in range(0x21, 0x7F)) - {"/"}


class Measured(NamedTuple):
    """`before` has one entry more than there are pieces; `loose` holds piece indices; `seam[k]`
    is where the characters begin that were counted with what stands before piece k, where that is
    not its start.
    """

    before: Sequence[int]
    loose: frozenset[int]
    seam: dict[int, int]


def measure(pieces: Pieces, running: Sequence[int], counter: Counter, seams: bool) -> Measured:
    """What stands before each piece. `running` is of the pieces' text.

    Without `seams` (the rules do not hold in this encoding) every gap is loose.
    """
    text, starts = pieces.text, pieces.start
    before = [running[at] for at in starts]
    before.append(running[pieces.end])
    last = len(starts)
    if not seams:
        return Measured(before, frozenset(range(last + 1)), {})
    loose: set[int] = set()
    seam_of: dict[int, int] = {}
    for k in [*_suspects(text, starts), last]:
        at = starts[k] if k < last else pieces.end
        if k < last and pieces.strength[k] == gaps.INSIDE_WORD:
            loose.add(k)
        elif not is_seam(text, at):
            floor = max(starts[0], at - _NEAR)
            seam = seam_before(text, at, floor)
            if seam == floor and floor != starts[0]:
                loose.add(k)
            else:
                seam_of[k] = seam
    ends = [*starts, pieces.end]
    contexts = counter.counts([text[seam : ends[k]] for k, seam in seam_of.items()])
    for (k, seam), cost in zip(seam_of.items(), contexts, strict=True):
        before[k] = running[seam] + cost
    return Measured(before, frozenset(loose), seam_of)


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
