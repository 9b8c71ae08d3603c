"""How well a splitter keeps answers whole, beside the public ones: `make eval-split`.

Figures are those of benchmarks/data/eval/README.md's source, on body text at a cap of N tokens
(cl100k_base), headers excluded: chunks over the cap, references cut (spans that no single chunk
holds whole), fill (mean chunk cost / N), and precision-omega (mean over questions of the tokens
of its spans / the tokens of all chunks that touch one). Omega falls as chunks grow, so it is also
compared at the mean chunk size of chonkie's recursive splitter.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import fmean

from chunkprep_ingest.counting import Counter
from chunkprep_ingest.policy import Policy
from chunkprep_ingest.profile import Profile, make_profile
from chunkprep_ingest.readers import ReadOptions, read
from chunkprep_ingest.split import split
from chunkprep_ingest.template import TEMPLATES
from chunkprep_ingest.tokens import tiktoken_counter

from corpus import EVAL  # isort: skip
from peers import peers  # isort: skip

ENCODING = "cl100k_base"
CAPS = (200, 400)
TITLE = "x"

Extent = tuple[int, int]


@dataclass(frozen=True)
class Corpus:
    """A text and the spans that answer each question."""

    name: str
    text: str
    questions: list[list[Extent]]


@dataclass(frozen=True)
class Figures:
    """One splitter on all corpora."""

    over: int
    cut: float
    fill: float
    mean: float
    omega: float

    def row(self, name: str, cap: int) -> str:
        return (
            f"{name:<26}{cap:>5}{self.over:>7}{self.cut:>10.1%}{self.fill:>8.2f}"
            f"{self.mean:>9.1f}{self.omega:>9.2%}"
        )


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


def figures(made: dict[str, list[Extent]], cap: int, counter: Counter) -> Figures:
    """The figures of one splitter's chunks on every corpus."""
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
    return Figures(over, cut / spans, fmean(sizes) / cap, fmean(sizes), fmean(omegas))


def at_mean(mean: float, profile: Profile, counter: Counter) -> tuple[int, Figures]:
    """Our figures at the cap whose mean chunk comes nearest to `mean` tokens."""
    tried = []
    for cap in range(max(16, int(mean * 0.9)), int(mean * 1.5)):
        made = {c.name: ours(c, cap, profile, counter) for c in corpora()}
        tried.append((cap, figures(made, cap, counter)))
    return min(tried, key=lambda found: abs(found[1].mean - mean))


def main() -> None:
    """Print the table."""
    counter = tiktoken_counter(ENCODING)
    profile = make_profile(counter, TEMPLATES["plain"])
    print(
        f"{'splitter':<26}{'cap':>5}{'over':>7}{'refs cut':>10}{'fill':>8}{'mean':>9}{'omega':>9}"
    )
    for cap in CAPS:
        made = {c.name: ours(c, cap, profile, counter) for c in corpora()}
        print(figures(made, cap, counter).row("chunkprep", cap))
        rows = {}
        for name, splitter in peers(ENCODING, cap, counter.count).items():
            made = {c.name: list(located(c.text, splitter(c.text))) for c in corpora()}
            rows[name] = figures(made, cap, counter)
            print(rows[name].row(name, cap))
        if peer := rows.get("chonkie recursive"):
            same, found = at_mean(peer.mean, profile, counter)
            print(found.row("chunkprep, same mean", same))


if __name__ == "__main__":
    main()
