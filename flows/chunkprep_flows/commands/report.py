"""report: sizes, fill, skips, truncations, stale documents and failures; the pages in one file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from chunkprep_flows.console import print_json, print_table, talk
from chunkprep_flows.named_sources import NamedSources
from chunkprep_flows.opened import now, opened
from chunkprep_flows.options import command, json_option, mirror_option, option, store_options
from chunkprep_ingest.lifecycle import moment
from chunkprep_ingest.model import Moment

if TYPE_CHECKING:
    from chunkprep_flows.report_sections import Section
    from chunkprep_store import Store

NUMBERS = (
    "blocks", "packs", "count", "cuts", "value", "tokens", "version", "ordinal", "share",
    "attempts",
)  # fmt: skip


@command(example="chunkprep report --out report.html")
@option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False, writable=True),
    help="Write the inspector's pages as one file that opens offline (extra `report`).",
)
@option("--since", metavar="TIME", help="Packs from then on (default: all that are logged).")
@option("--sources", multiple=True, metavar="SOURCE", help="Compare with these; repeatable.")
@mirror_option
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
        named = NamedSources(sources, mirror=mirror)
        if out is not None:
            write_file(out, source, collection, since=start, sources=named)
            if not as_json:
                return
        found = gather(source, collection, now=now(), since=start, sources=named)
    if as_json:
        print_json(report_record(found))
    else:
        show(sections(found))


def write_file(
    out: Path, store: Store, collection: str, *, since: Moment | None, sources: NamedSources
) -> None:
    """Write the pages as one file, and say so and what was left out. Raises ModuleNotFoundError,
    which names the extra, where what makes the pages is not installed.
    """
    from chunkprep_flows.auditing import findings, sources_listed
    from chunkprep_packer.pages.report import report_facts, report_html
    from chunkprep_store import CHECKS

    at = now()
    facts = report_facts(
        store,
        collection,
        at=at,
        since=since,
        findings=findings(
            store, collection, now=at, listing=sources_listed(sources), checks=CHECKS
        ),
    )
    try:
        out.write_text(report_html(facts), encoding="utf-8")
    except OSError as error:
        raise click.FileError(
            str(out), f"{error.strerror}; name a file in a folder that exists"
        ) from error
    talk(f"wrote {out}{left_out(facts['left_out'])}")


def left_out(counts: Mapping[str, int]) -> str:
    """What the file does not show in full, so that it stays small."""
    if not (counts["documents"] or counts["packs"]):
        return ""
    return (
        f"; left out to keep it small: {counts['documents']:,} of {counts['documents_known']:,} "
        f"documents, {counts['packs']:,} of {counts['packs_logged']:,} packs"
    )


def show(found: list[Section]) -> None:
    """Print every section as a table."""
    for section in found:
        click.echo(f"{section.title}: {section.lead}")
        if section.rows:
            print_table(section.columns, section.rows, right=NUMBERS)
        click.echo()
