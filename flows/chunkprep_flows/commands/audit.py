"""audit, impact: what is wrong in the store, and what it reached."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from chunkprep_flows.console import print_records, talk
from chunkprep_flows.opened import now, opened
from chunkprep_flows.options import command, json_option, option, store_options
from chunkprep_flows.records import impact_record
from chunkprep_ingest.errors import ChunkprepError

FINDING_COLUMNS = ("severity", "check", "document", "version", "message", "remedy")
IMPACT_COLUMNS = ("at", "request_id", "document", "version", "chunk_id", "as_of")
LEVELS = ("info", "warning", "error")


@command(example="chunkprep audit --sources docs/ --recount 1000")
@option("--sources", multiple=True, metavar="PATH", help="Compare with these files; repeatable.")
@option(
    "--index-ids",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Chunk ids in a vector index, one a line.",
)
@option("--recount", metavar="all|N", help="Count all blocks again, or a sample of N.")
@option("--check", "checks", multiple=True, metavar="NAME", help="Only this check; repeatable.")
@option(
    "--fail-on",
    type=click.Choice([*LEVELS, "never"]),
    default="error",
    help="Exit 1 from this severity on.",
)
@store_options
@json_option
@click.pass_context
def audit(
    ctx: click.Context,
    /,
    sources: tuple[str, ...],
    index_ids: Path | None,
    recount: str | None,
    checks: tuple[str, ...],
    fail_on: str,
    store: str,
    collection: str,
    as_json: bool,
) -> None:
    """Check that what is stored still holds: versions, dates, prices, sources, packs.

    Failure signatures of the log of packs are named once it holds some tens of packs, or with
    `--check signatures`.
    """
    from chunkprep_flows.auditing import findings

    with opened(store) as source:
        found = list(
            findings(
                source,
                collection,
                now=now(),
                sources=sources,
                index_ids=index_ids,
                recount=_sample(recount),
                checks=checks,
            )
        )
    records = [finding._asdict() for finding in found]
    if records or as_json:
        print_records(records, FINDING_COLUMNS, as_json=as_json, right=("version",))
    counts = {level: sum(f.severity == level for f in found) for level in LEVELS}
    talk(f"audit: {counts['error']} errors, {counts['warning']} warnings, {counts['info']} notes")
    serious = LEVELS[LEVELS.index(fail_on) :] if fail_on != "never" else ()
    ctx.exit(1 if any(f.severity in serious for f in found) else 0)


def _sample(text: str | None) -> Literal["all"] | int | None:
    """None, "all", or how many chunks."""
    if text is None:
        return None
    if text == "all":
        return "all"
    if not text.isdigit() or text == "0":
        raise click.UsageError(f"--recount takes all or a number of chunks, not {text!r}")
    return int(text)


@command(example="chunkprep impact policies/refund-2019.md@1")
@click.argument("document", metavar="DOC[@VERSION]")
@store_options
@json_option
def impact(document: str, store: str, collection: str, as_json: bool) -> None:
    """List the logged packs that used a document, or one version of it."""
    key, version = _reference(document)
    with opened(store) as source:
        found = source.impact(collection, key, version)
        records = [impact_record(use) for use in found]
    print_records(records, IMPACT_COLUMNS, as_json=as_json, right=("version",))


def _reference(text: str) -> tuple[str, int | None]:
    """Key and version of DOC[@VERSION]; an @ that no number follows belongs to the key."""
    key, at_sign, number = text.rpartition("@")
    if at_sign and number.isdigit():
        if not key:
            raise ChunkprepError(f"{text!r} names no document; write DOC or DOC@VERSION")
        return key, int(number)
    return text, None
