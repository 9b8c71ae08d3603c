"""failures: what could not be ingested, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from chunkprep_flows.console import print_records, talk
from chunkprep_flows.opened import opened
from chunkprep_flows.options import command, json_option, option, store_options
from chunkprep_flows.records import failure_record

if TYPE_CHECKING:
    from chunkprep_store import Store

COLUMNS = ("document", "code", "attempts", "last_at", "message", "remedy")


@command(example="chunkprep failures --retry")
@option("--retry", is_flag=True, help="Try each of them again, without Prefect.")
@option(
    "--dismiss",
    multiple=True,
    metavar="KEY",
    help="Take this one off the list, where no version of it stands; repeatable.",
)
@store_options
@json_option
@click.pass_context
def failures(
    ctx: click.Context,
    retry: bool,
    dismiss: tuple[str, ...],
    store: str,
    collection: str,
    as_json: bool,
) -> None:
    """List the documents whose last ingest failed. Exit 1 if there are some.

    --dismiss is for what never became a document; a run that meets it again tries it again.

    A source that the latest ingest could not read at all, as a mistyped path, is told on stderr.
    """
    if retry and dismiss:
        raise click.UsageError("--retry and --dismiss: give one of them")
    if dismiss:
        from chunkprep_flows.dismissing import dismiss_failures

        with opened(store) as target:
            for gone in dismiss_failures(target, collection, dismiss):
                talk(f"dismissed: {gone.document}: {gone.code}: {gone.message}")
    if retry:
        from chunkprep_flows.progress import shown_progress
        from chunkprep_flows.retrying import retry_failures

        with shown_progress() as progress:
            for report in retry_failures(store, collection, progress):
                talk(report.headline)
    with opened(store) as source:
        records = [failure_record(failure) for failure in source.failures(collection)]
        sources = sources_of_latest(source, collection)
    if records or as_json:
        print_records(records, COLUMNS, as_json=as_json, right=("attempts",))
    if not records:
        talk("no document failed" if sources else "no failures")
    for line in sources:
        talk(f"the latest ingest could not read the source {line}")
    ctx.exit(1 if records else 0)


def sources_of_latest(store: Store, collection: str) -> list[str]:
    """What the latest ingest that ended could not read, and is no document."""
    for run in store.runs(collection):
        if run.kind == "ingest" and run.summary is not None:
            return list(run.summary.get("sources_failed", ()))
    return []
