"""Attack the service from its own OpenAPI document: `make fuzz-serve`.

A real `chunkprep serve` over the samples answers what schemathesis makes up: valid requests,
broken ones, and chains of them. No answer may be a 5xx, and none may be undocumented.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from figures import Direction, Figure, write  # isort: skip
from serving import CHUNKPREP, packing  # isort: skip

GROUP = "Attacks on the service"
SAMPLES = Path(__file__).parents[1] / "samples"
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
)


@contextmanager
def service(folder: Path) -> Iterator[str]:
    """The root of a service over the samples."""
    store = ("--store", f"sqlite:///{folder / 'chunkprep.db'}")
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run([*CHUNKPREP, "ingest", str(SAMPLES), "--direct", *store], check=True, **quiet)
    with packing(store[1], workers=1) as url:
        yield url


def figures(report: Path) -> Iterator[Figure]:
    """The sums of schemathesis's own report; none where it did not get that far."""
    if not report.exists():
        return
    sums = json.loads(report.read_text(encoding="utf-8"))
    cases, operations = sums["test_cases"], sums["operations"]
    for name, value, bar in (
        ("operations attacked", operations["tested"], None),
        ("operations left out", operations["total"] - operations["tested"], 0),
        ("requests", cases["generated"], None),
        ("requests answered wrongly", cases["with_failures"] + cases["errored"], 0),
    ):
        direction: Direction | None = None if bar is None else "at_most"
        yield Figure(group=GROUP, name=name, value=value, bar=bar, direction=direction)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the attack; 0 where nothing was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=200, help="requests per operation")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="chunkprep-fuzz-") as name, service(Path(name)) as url:
        attack = [
            *(str(Path(sys.executable).with_name("schemathesis")), "run", f"{url}/openapi.json"),
            *("--checks", ",".join(CHECKS), "--max-examples", str(options.examples)),
        ]
        report = Path(name) / "report.json"
        attack += ["--report", "json", "--report-json-path", str(report)]
        code = subprocess.run(attack, cwd=name, check=False).returncode
        write(figures(report), options.json)
        return code


if __name__ == "__main__":
    sys.exit(main())
