"""`chunkprep demo`: the main job on the sample documents, step by step, with what it prints."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import click

from chunkprep_flows.auditing import findings
from chunkprep_flows.commands.ingest import show
from chunkprep_flows.commands.pack import chunk_names, show_decisions
from chunkprep_flows.console import print_table
from chunkprep_flows.ingest_settings import IngestSettings
from chunkprep_flows.opened import now
from chunkprep_flows.runner import run_in_session
from chunkprep_flows.wording import counted
from chunkprep_ingest.sources import list_sources
from chunkprep_packer import Candidate, Packer, PackRequest, PackResult
from chunkprep_packer.search_scores import scaled
from chunkprep_store import SearchHit, Store

QUESTION = "How long is the refund window, and how much of the price is refunded after it?"
BUDGET = 1600
TOP = 12
MIN_SCORE = 0.15
OLD_POLICY = "policies/refund-2019.md"
POLICY = "policies/refund-2026.md"
EDIT = ("within 14 days of booking", "within 21 days of booking")


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds: flows as seen from outside, and the part of them that was ours."""

    flows: float
    own: float


def run_demo(folder: Path, samples: Path) -> tuple[Times, int]:
    """Every step; returns where the time of the flows went, and the audit's exit code."""
    url = f"sqlite:///{(folder / 'chunkprep.db').as_posix()}"
    settings = IngestSettings(sources=(str(samples),), store=url)
    heading("1. Ingest the samples through the Prefect flow")
    first = timed_ingest(settings)
    with Store.open(url, create=False) as store, Packer.open(url) as packer:
        heading(f"2. Search: {QUESTION}")
        candidates = find_candidates(store)
        heading(f"3. Pack {BUDGET:,} tokens")
        pack(packer, candidates)
        heading(f"4. Edit {POLICY} and ingest again")
        edit(samples / POLICY)
        second = timed_ingest(settings)
        heading("5. Pack the same candidates, from an index that has not caught up")
        pack(packer, candidates, context=False)
        click.echo("\nWith --on-superseded forward each of them stands for its successor:\n")
        forwarded = pack(packer, candidates, context=False, on_superseded="forward")
        say_versions(store, forwarded)
        heading("6. Audit")
        packer.flush()
        code = audit(store, samples)
    return Times(first.flows + second.flows, first.own + second.own), code


def heading(text: str) -> None:
    """A step's title."""
    click.echo()
    click.secho(text, bold=True)
    click.echo()


def timed_ingest(settings: IngestSettings) -> Times:
    """One run through the flow, shown and timed."""
    started = time.perf_counter()
    report = run_in_session(settings)
    flows = time.perf_counter() - started
    show(report)
    return Times(flows, report.seconds)


def find_candidates(store: Store) -> list[Candidate]:
    """The search's hits, and one chunk of the 2019 policy, as an index that lags returns it."""
    hits = store.search("default", QUESTION, top=TOP, at=now())
    lagging = store.search("default", QUESTION, top=4 * TOP, at=now(), any_status=True)
    stale = next(hit for hit in lagging if hit.document == OLD_POLICY)
    shown = scaled(sorted([*hits, stale], key=lambda hit: -hit.score))
    rows = [(hit.score, hit.document, hit.status, _path(hit)) for hit in shown]
    print_table(("score", "document", "status", "section"), rows, right=("score",))
    click.echo(f"\n{OLD_POLICY} was added by hand: a vector index that lags would return it.")
    return [Candidate(hit.chunk_id, hit.score) for hit in shown]


def _path(hit: SearchHit) -> str:
    import orjson

    return " > ".join(orjson.loads(hit.heading_path))


def pack(
    packer: Packer,
    candidates: list[Candidate],
    *,
    context: bool = True,
    on_superseded: Literal["drop", "forward"] = "drop",
) -> PackResult:
    """Pack, and print the decisions, and before them the context."""
    result = packer.pack(
        PackRequest(
            budget=BUDGET,
            candidates=tuple(candidates),
            min_score=MIN_SCORE,
            on_superseded=on_superseded,
        )
    )
    if context:
        click.echo(result.text)
    show_decisions(result, chunk_names(packer, result), err=False)
    click.echo(f"below_min_score: a score below {MIN_SCORE}, the threshold of this request")
    return result


def edit(path: Path) -> None:
    """Change one number in the policy."""
    text = path.read_text(encoding="utf-8")
    click.echo(f"{EDIT[0]!r} becomes {EDIT[1]!r}\n")
    path.write_text(text.replace(*EDIT), encoding="utf-8")


def say_versions(store: Store, result: PackResult) -> None:
    """Which versions of the edited policy the pack holds, and what their own chunks say."""
    theirs = [block for block in result.blocks if block.document == POLICY]
    ids = [block.chunk_id for block in theirs if block.chunk_id is not None]
    texts = [row.text for row in store.lookup("default", ids, at=now()).rows]
    versions = sorted({block.version or 0 for block in theirs})
    said = [
        f"{phrase!r}: {'yes' if any(phrase in text for text in texts) else 'no'}"
        for phrase in reversed(EDIT)
    ]
    click.echo(
        f"\n{POLICY}: versions {versions} in the pack; its own {counted(len(ids), 'chunk')} there "
        f"say {', '.join(said)}"
    )


def audit(store: Store, samples: Path) -> int:
    """Print what the audit finds; 1 where it finds an error."""
    found = list(
        findings(store, "default", now=now(), listing=list_sources([samples]), recount="all")
    )
    rows = [(f.severity, f.check, f.document, f.message) for f in found]
    if rows:
        print_table(("severity", "check", "document", "message"), rows)
    errors = sum(f.severity == "error" for f in found)
    click.echo(f"\naudit: {counted(errors, 'error')} in {counted(len(found), 'finding')}")
    return 1 if errors else 0
