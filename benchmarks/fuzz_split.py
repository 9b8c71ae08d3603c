"""2,000 nasty documents at caps 16, 32, 128 and 512 in two encodings: `make fuzz`.

Every block and every boundary is rendered and counted whole, and every document is put together
again from its chunks. The templates take turns. A cap of 16 or 32 may honestly be too small for
a template or for one grapheme cluster: those are counted as refused.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter as Tally
from collections.abc import Iterator
from pathlib import Path

from rich.progress import track

from chunkprep_ingest.errors import IndivisibleError, PolicyError
from chunkprep_ingest.policy import Policy
from chunkprep_ingest.profile import make_profile
from chunkprep_ingest.split import split
from chunkprep_ingest.template import TEMPLATES
from chunkprep_ingest.tokens import OFFLINE_ENCODINGS, tiktoken_counter

from figures import Figure, table, write  # isort: skip

sys.path.insert(0, str(Path(__file__).parent.parent))
from tests.support.laws import broken_laws
from tests.support.nasty import nasty_document

CAPS = (16, 32, 128, 512)
GROUP = "Splitting nasty documents"


FAULTS = ("over the cap", "texts changed", "graphemes cut", "prices off", "faults in all")


def figures(tally: Tally[str]) -> Iterator[Figure]:
    """The tally; no fault is allowed."""
    for name in ("chunks", "boundaries", "refused"):
        yield Figure(group=GROUP, name=name, value=tally[name])
    for name in FAULTS:
        yield Figure(group=GROUP, name=name, value=tally[name], bar=0, direction="at_most")


def main() -> int:
    """Print the tally; 1 where any law broke."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=2000)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    documents = options.documents
    counters = [tiktoken_counter(name) for name in OFFLINE_ENCODINGS]
    templates = list(TEMPLATES.values())
    profiles = {(c.encoding, t.name): make_profile(c, t) for c in counters for t in templates}
    tally: Tally[str] = Tally()
    for seed in track(range(documents), description="splitting", transient=True):
        parsed = nasty_document(seed)
        template = templates[seed % len(templates)]
        for counter in counters:
            for cap in CAPS:
                try:
                    chunks = split(
                        parsed, "A title", Policy(cap=cap),
                        profiles[counter.encoding, template.name], counter,
                    )  # fmt: skip
                except (PolicyError, IndivisibleError):
                    tally["refused"] += 1
                    continue
                faults = broken_laws(parsed.text, chunks, template, counter, cap)
                for fault in faults:
                    print(f"document {seed}, {counter.encoding}, {template.name}, {cap}: {fault}")
                tally["chunks"] += len(chunks)
                tally["boundaries"] += sum(len(chunk.boundaries) for chunk in chunks)
                tally["over the cap"] += sum("over the cap" in f for f in faults)
                tally["texts changed"] += sum("text" in f or "lost" in f for f in faults)
                tally["graphemes cut"] += sum("grapheme" in f for f in faults)
                tally["prices off"] += sum("priced" in f or "price" in f for f in faults)
                tally["faults in all"] += sum(bool(f) for f in faults)
    print(f"{documents} documents, caps {', '.join(map(str, CAPS))}, {len(counters)} encodings")
    found = list(figures(tally))
    print(table(found))
    write(found, options.json)
    return 1 if tally["faults in all"] else 0


if __name__ == "__main__":
    sys.exit(main())
