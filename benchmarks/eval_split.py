"""How well a splitter keeps answers whole, beside the public ones: `make eval-split`.

Figures are those of benchmarks/data/eval/README.md's source, on body text at a cap of N tokens
(cl100k_base), headers excluded: chunks over the cap, references cut (spans that no single chunk
holds whole), fill (mean chunk cost / N), and precision-omega (mean over questions of the tokens
of its spans / the tokens of all chunks that touch one). Omega falls as chunks grow, so it is also
compared at the mean chunk size of chonkie's recursive splitter.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from chunkprep_ingest.counting import Counter
from chunkprep_ingest.policy import Policy
from chunkprep_ingest.profile import Profile, make_profile
from chunkprep_ingest.readers import ReadOptions, read
from chunkprep_ingest.split import split
from chunkprep_ingest.template import TEMPLATES
from chunkprep_ingest.tokens import tiktoken_counter

from corpus import EVAL  # isort: skip
from figures import Direction, Figure, write  # isort: skip
from peers import peers  # isort: skip

ENCODING = "cl100k_base"
CAPS = (200, 400)
BARS: dict[str, tuple[float, Direction]] = {
    "chunks over the cap": (0, "at_most"),
    "references cut": (2.2, "at_most"),
    "fill": (0.85, "at_least"),
}
"""Of our own splitter at the first cap."""
TITLE = "x"
SAME_MEAN_AS = "chonkie recursive"
OURS_AT_MEAN = f"chunkprep at {SAME_MEAN_AS}'s mean"
GROUP = "Answers kept whole, cap {}"

Extent = tuple[int, int]


@dataclass(frozen=True)
class Corpus:
    """A text and the spans that answer each question."""

    name: str
    text: str
    questions: list[list[Extent]]


@dataclass(frozen=True)
class Score:
    """One splitter on all corpora."""

    over: int
    cut: float
    fill: float
    mean: float
    omega: float

    def row(self, name: str, cap: int) -> str:
        return (
            f"{name:<38}{cap:>5}{self.over:>7}{self.cut:>10.1%}{self.fill:>8.2f}"
            f"{self.mean:>9.1f}{self.omega:>9.2%}"
        )

    def figures(self, name: str, cap: int) -> Iterator[Figure]:
        """For the page of all benchmarks."""
        values = {
            "chunks over the cap": (self.over, ""),
            "references cut": (100 * self.cut, "%"),
            "fill": (self.fill, ""),
            "mean chunk": (self.mean, "tokens"),
            "precision-omega": (100 * self.omega, "%"),
        }
        for what, (value, unit) in values.items():
            of_ours = name == "chunkprep" and cap == CAPS[0]
            bar, direction = BARS.get(what, (None, None)) if of_ours else (None, None)
            yield Figure(
                group=GROUP.format(cap), name=f"{name}: {what}", value=value,
                unit=unit, bar=bar, direction=direction,
            )  # fmt: skip


def corpora() -> list[Corpus]:
    """The texts beside this file, offsets as their makers counted them."""
    found = []
    for spans in sorted(EVAL.glob("*.spans.jsonl")):
        path = spans.with_name(spans.name.replace(".spans.jsonl", ".md"))
        lines = spans.read_text().splitlines()
        questions = [[(a, b) for a, b in json.loads(line)["spans"]] for line in lines]
        found.append(Corpus(path.stem, path.read_bytes().decode(), questions))
    return found


def ours(corpus: Corpus, cap: int, profile: Profile, counter: Counter) -> list[Extent]:
    """Our chunks: the cap of the whole block is raised by what header and delimiter cost."""
    parsed = read(corpus.text.encode(), f"{corpus.name}.md", ReadOptions())
    shift = corpus.text.index(parsed.text)
    spent = counter.count(profile.template.header(TITLE)) + profile.delimiter_tokens
    chunks = split(parsed, TITLE, Policy(cap=cap + spent), profile, counter)
    return [(chunk.start + shift, chunk.end + shift) for chunk in chunks]


def located(text: str, chunks: list[str]) -> Iterator[Extent]:
    """Where a peer's chunks stand in the text they were made from."""
    at = 0
    for chunk in chunks:
        bare = chunk.strip()
        start = text.find(bare, at)
        if start < 0:
            start = text.find(bare)
        if start >= 0 and bare:
            at = start + len(bare)
            yield start, at


def score(made: dict[str, list[Extent]], cap: int, counter: Counter) -> Score:
    """How one splitter's chunks do on every corpus."""
    sizes: list[int] = []
    omegas: list[float] = []
    cut = spans = 0
    for corpus in corpora():
        chunks = made[corpus.name]
        costs = counter.counts([corpus.text[a:b] for a, b in chunks])
        sizes += costs
        for question in corpus.questions:
            spans += len(question)
            cut += sum(not any(a <= s and e <= b for a, b in chunks) for s, e in question)
            touched = sum(
                cost
                for (a, b), cost in zip(chunks, costs, strict=True)
                if any(a < e and s < b for s, e in question)
            )
            wanted = sum(counter.count(corpus.text[s:e]) for s, e in question)
            omegas.append(wanted / touched if touched else 0.0)
    over = sum(size > cap for size in sizes)
    return Score(over, cut / spans, fmean(sizes) / cap, fmean(sizes), fmean(omegas))


def at_mean(mean: float, profile: Profile, counter: Counter) -> tuple[int, Score]:
    """Our figures at the cap whose mean chunk comes nearest to `mean` tokens."""
    tried = []
    for cap in range(max(16, int(mean * 0.9)), int(mean * 1.5)):
        made = {c.name: ours(c, cap, profile, counter) for c in corpora()}
        tried.append((cap, score(made, cap, counter)))
    return min(tried, key=lambda found: abs(found[1].mean - mean))


def rivals(cap: int, profile: Profile, counter: Counter) -> Iterator[tuple[str, int, Score]]:
    """Name, cap and score: ours, then each peer, then ours at the mean chunk of a peer."""
    made = {c.name: ours(c, cap, profile, counter) for c in corpora()}
    yield "chunkprep", cap, score(made, cap, counter)
    for name, splitter in peers(ENCODING, cap, counter.count).items():
        try:
            made = {c.name: list(located(c.text, splitter(c.text))) for c in corpora()}
        except Exception as error:
            print(f"({name} broke and is left out: {type(error).__name__}: {error})")
            continue
        theirs = score(made, cap, counter)
        yield name, cap, theirs
        if name == SAME_MEAN_AS:
            same, found = at_mean(theirs.mean, profile, counter)
            yield OURS_AT_MEAN, same, found


def at_equal_mean(cap: int, ours: Score, theirs: Score) -> Figure:
    """Precision-omega falls as chunks grow, so that it is compared at one mean chunk."""
    return Figure(
        group=GROUP.format(cap), name=f"precision-omega at equal mean, less {SAME_MEAN_AS}'s",
        value=100 * (ours.omega - theirs.omega), unit="points", bar=0, direction="at_least",
    )  # fmt: skip


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    counter = tiktoken_counter(ENCODING)
    profile = make_profile(counter, TEMPLATES["plain"])
    print(
        f"{'splitter':<38}{'cap':>5}{'over':>7}{'refs cut':>10}{'fill':>8}{'mean':>9}{'omega':>9}"
    )
    found: list[Figure] = []
    for cap in CAPS:
        scores = {}
        for name, own_cap, reached in rivals(cap, profile, counter):
            print(reached.row(name, own_cap))
            found += reached.figures(name, cap)
            scores[name] = reached
        if SAME_MEAN_AS in scores:
            found.append(at_equal_mean(cap, scores[OURS_AT_MEAN], scores[SAME_MEAN_AS]))
    write(found, options.json)


if __name__ == "__main__":
    main()
