"""report: sizes, fill, skips, truncations, stale documents and failures on one page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from chunkprep_flows.console import print_json, print_table, talk
from chunkprep_flows.named_sources import NamedSources
from chunkprep_flows.opened import now, opened
from chunkprep_flows.options import command, json_option, option, store_options
from chunkprep_ingest.lifecycle import iso, moment

if TYPE_CHECKING:
    from chunkprep_flows.report import Report
    from chunkprep_flows.report_sections import Section

NUMBERS = (
    "blocks", "packs", "count", "cuts", "value", "tokens", "version", "ordinal", "share",
    "attempts",
)  # fmt: skip


@command(example="chunkprep report --out report.html")
@option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False, writable=True),
    help="Write one self-contained HTML page.",
)
@option("--since", metavar="TIME", help="Packs from then on (default: all that are logged).")
@option("--sources", multiple=True, metavar="SOURCE", help="Compare with these; repeatable.")
@option(
    "--mirror",
    type=click.Path(file_okay=False),
    metavar="DIR",
    help="Where what URLs name is downloaded to (default: the user's cache).",
)
@store_options
@json_option
def report(
    out: Path | None,
    since: str | None,
    sources: tuple[str, ...],
    mirror: str | None,
    store: str,
    collection: str,
    as_json: bool,
) -> None:
    """Show sizes against the cap, fill, skips, truncations, failure signatures, stale documents
    and failures.
    """
    from chunkprep_flows.report import gather, report_record
    from chunkprep_flows.report_sections import sections

    start = None if since is None else moment(since)
    with opened(store) as source:
        found = gather(
            source, collection, now=now(), since=start, sources=NamedSources(sources, mirror=mirror)
        )
    if out is not None:
        write_page(out, found)
    if as_json:
        print_json(report_record(found))
    elif out is None:
        show(sections(found))


def write_page(out: Path, report: Report) -> None:
    """Write the HTML page, and say so."""
    from chunkprep_flows.report_page import page
    from chunkprep_flows.report_sections import sections

    title = f"chunkprep report: {report.collection}"
    lead = f"As of {iso(report.at)}"
    if report.since is not None:
        lead += f", packs since {iso(report.since)}"
    try:
        out.write_text(page(title, lead, sections(report)), encoding="utf-8")
    except OSError as error:
        raise click.FileError(
            str(out), f"{error.strerror}; name a file in a folder that exists"
        ) from error
    talk(f"wrote {out}")


def show(found: list[Section]) -> None:
    """Print every section as a table."""
    for section in found:
        click.echo(f"{section.title}: {section.lead}")
        if section.rows:
            print_table(section.columns, section.rows, right=NUMBERS)
        click.echo()
