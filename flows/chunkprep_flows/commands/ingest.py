"""ingest: from files to chunks in the store."""

from __future__ import annotations

from typing import Any

import click

from chunkprep_flows.commands.split_options import split_options
from chunkprep_flows.console import print_json, print_table, talk
from chunkprep_flows.ingest_report import IngestReport
from chunkprep_flows.ingest_settings import IngestSettings
from chunkprep_flows.options import (
    command,
    json_option,
    mirror_option,
    option,
    stacked,
    store_options,
)
from chunkprep_flows.wording import counted

COLUMNS = ("document", "outcome", "version", "chunks", "coverage", "note")
NUMBERS = ("version", "chunks", "coverage")


def known_encoding(ctx: click.Context, option: click.Parameter, name: str | None) -> str | None:
    """The encoding's name. Refuses one that Python does not know, before anything starts."""
    del ctx, option
    if name is not None:
        from chunkprep_ingest.readers import check_encoding

        check_encoding(name)
    return name


source_options = stacked(
    split_options,
    option("--encoding", metavar="NAME", help="The tokenizer (new collection: o200k_base)."),
    option("--template", metavar="NAME|FILE",
           help="Header and delimiter (new collection: markdown): xml, plain, or a JSON file."),
    option("--include", multiple=True, metavar="GLOB", help="Only files that match; repeatable."),
    option("--exclude", multiple=True, metavar="GLOB", help="No files that match; repeatable."),
    option("--metadata", type=click.Path(exists=True, dir_okay=False),
           help="Rules for all sources, as in chunkprep.yaml."),
    option("--fallback-encoding", metavar="NAME", callback=known_encoding,
           help="For text files that are not UTF-8."),
    option("--drop-boilerplate", is_flag=True,
           help="Leave navigation and repeated page headers and footers out of the chunks."),
    option("--read-seconds", type=click.FloatRange(0, min_open=True), default=120.0,
           metavar="SECONDS", help="Time to read one file."),
    option("--read-memory", type=click.IntRange(1), default=1536, metavar="MIB",
           help="Memory to read one file."),
    mirror_option,
    option("--sync", is_flag=True, help="Also withdraw documents gone from the folders named."),
    option("--allow-mass-withdraw", is_flag=True, help="Let --sync withdraw past its guard."),
    option("--workers", type=click.IntRange(1, 256), default=1, metavar="N",
           help="Batches at a time."),
    option("--runner", type=click.Choice(["thread", "process", "dask"]), default="thread",
           help="What the workers are."),
    option("--dask-address", metavar="ADDR", help="A running Dask scheduler."),
)  # fmt: skip
"""What `ingest` and `schedule` have in common."""


@command(example='chunkprep ingest docs/ --exclude "drafts/**" --cap 400')
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@source_options
@option("--dry-run", is_flag=True, help="Only say what would change.")
@option("--retry", is_flag=True, help="Try again what failed three times.")
@option("--direct", is_flag=True, help="Without Prefect.")
@store_options
@json_option
@click.pass_context
def ingest(
    ctx: click.Context, /, sources: tuple[str, ...], direct: bool, as_json: bool, **options: Any
) -> None:
    """Ingest files, folders, globs and URLs (s3://, https:// …): read, split, price, store.

    What has not changed is left alone; a changed document gets a new version. Exit 1 when a
    document failed: the others are ingested, and `chunkprep failures` lists it until it is fixed.

    A document's key is its path below the SOURCE folder that you name, or the name of a file that
    you name itself. Two sources whose files have the same key clash: `ingest x` and then `ingest y`
    make x/a.md and y/a.md versions of one document, and warn; in one run both fail (key_clash).
    Name the folder above both, or give each a --collection.

    --sync withdraws nothing, and exits 1, where a folder could not be listed; and without
    --allow-mass-withdraw where no document was found in one of the folders named, or more than 10
    documents that are more than 15 % of those from there are gone.
    """
    settings = IngestSettings(sources=sources, **options)
    report = run(settings, direct=direct, verbose=ctx.obj["verbose"])
    if as_json:
        print_json(report)
    else:
        show(report)
    ctx.exit(1 if report.trouble else 0)


def run(settings: IngestSettings, *, direct: bool, verbose: bool) -> IngestReport:
    """The run, by Prefect or without."""
    from chunkprep_flows.runner import run_directly, run_flow

    return run_directly(settings) if direct else run_flow(settings, verbose=verbose)


def show(report: IngestReport) -> None:
    """What changed as a table on stdout, the sum and each failure's remedy on stderr."""
    told = [o for o in report.documents if o.outcome != "unchanged"]
    rows = [
        (o.document, o.outcome, o.version, o.chunks or None, o.coverage,
         "; ".join([*([o.error["code"]] if o.error else []), *o.warnings]))
        for o in told
    ]  # fmt: skip
    if rows:
        print_table(COLUMNS, rows, right=NUMBERS)
    for outcome in told:
        if outcome.error is not None:
            error = outcome.error
            message = error["message"].removeprefix(f"{outcome.document}: ")
            talk(f"{outcome.document}: {error['code']}: {message}; {error['remedy']}")
    for warning in report.warnings:
        talk(f"warning: {warning}")
    verb = "would write" if report.dry_run else "wrote"
    talk(
        f"{report.headline}; {verb} {counted(report.chunks_written, 'chunk')}, "
        f"{counted(report.tokens_written, 'token')}, in {report.seconds:.1f} s"
    )
    if report.boilerplate_words:
        talk(f"left out {counted(report.boilerplate_words, 'word')} of boilerplate")
    if report.stopped:
        talk(f"{report.how_stopped}; run the same command again to continue")
