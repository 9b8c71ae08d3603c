"""audit, impact: what is wrong in the store, and what it reached."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from chunkprep_flows.audit_settings import Level
from chunkprep_flows.console import print_records, talk
from chunkprep_flows.named_sources import NamedSources, refuse_missing
from chunkprep_flows.opened import now, opened
from chunkprep_flows.options import command, json_option, mirror_option, option, store_options
from chunkprep_ingest.errors import ChunkprepError, NotFoundError

if TYPE_CHECKING:
    from chunkprep_flows.audit_report import AuditReport
    from chunkprep_store import Store

FINDING_COLUMNS = ("severity", "check", "document", "version", "message", "remedy")
IMPACT_COLUMNS = ("at", "request_id", "document", "version", "chunk_id", "as_of")
LEVELS = ("error", "warning", "info", "never")


@command(example="chunkprep audit --sources docs/ --recount 1000")
@option(
    "--sources",
    multiple=True,
    metavar="SOURCE",
    help="Compare with these files, folders, globs or URLs; repeatable.",
)
@option("--include", multiple=True, metavar="GLOB", help="Only files that match; repeatable.")
@option("--exclude", multiple=True, metavar="GLOB", help="No files that match; repeatable.")
@mirror_option
@option(
    "--index-ids",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Chunk ids in a vector index, one a line.",
)
@option("--recount", metavar="all|N", help="Count all blocks again, or a sample of N.")
@option("--check", "checks", multiple=True, metavar="NAME", help="Only this check; repeatable.")
@option(
    "--fail-on",
    type=click.Choice(LEVELS),
    default="error",
    help="Exit 1 from this severity on.",
)
@option(
    "--html",
    type=click.Path(path_type=Path, dir_okay=False, writable=True),
    help="Write one self-contained HTML page.",
)
@store_options
@json_option
@click.pass_context
def audit(
    ctx: click.Context,
    /,
    sources: tuple[str, ...],
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    mirror: str | None,
    index_ids: Path | None,
    recount: str | None,
    checks: tuple[str, ...],
    fail_on: Level,
    html: Path | None,
    store: str,
    collection: str,
    as_json: bool,
) -> None:
    """Check that what is stored still holds: versions, dates, prices, sources, packs.

    Failure signatures of the log of packs are named once it holds some tens of packs, or with
    `--check signatures`.
    """
    from chunkprep_flows.audit_report import collect
    from chunkprep_flows.auditing import AUDITED, findings, sources_listed
    from chunkprep_flows.interrupt import breakable, graceful_stop

    if sources:
        refuse_missing(sources)
    with graceful_stop():
        listing = sources_listed(NamedSources(sources, include, exclude, mirror))
    moment = now()
    with graceful_stop(), breakable(AUDITED), opened(store) as source:
        found = findings(
            source,
            collection,
            now=moment,
            listing=listing,
            index_ids=index_ids,
            recount=_sample(recount),
            checks=checks,
        )
        report = collect(found, collection=collection, at=moment)
    if html is not None:
        _write_page(html, report)
    if as_json or (report.findings and html is None):
        records = [finding._asdict() for finding in report.findings]
        print_records(records, FINDING_COLUMNS, as_json=as_json, right=("version",))
    talk(f"audit: {report.headline}")
    ctx.exit(1 if report.fails(fail_on) else 0)


def _write_page(path: Path, report: AuditReport) -> None:
    """Write the HTML page, and say so."""
    from chunkprep_flows.audit_page import audit_page

    try:
        path.write_text(audit_page(report), encoding="utf-8")
    except OSError as error:
        raise click.FileError(
            str(path), f"{error.strerror}; name a file in a folder that exists"
        ) from error
    talk(f"wrote {path}")


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
    from chunkprep_packer.stored_json import impact_record

    key, version = _reference(document)
    with opened(store) as source:
        found = source.impact(collection, key, version)
        if not found:
            require_document(source, collection, key, version)
        records = [impact_record(use) for use in found]
    print_records(records, IMPACT_COLUMNS, as_json=as_json, right=("version",))


def require_document(store: Store, collection: str, key: str, version: int | None) -> None:
    """Raises NotFoundError where the document, or a version of this number, was never stored."""
    known = store.known(collection, [key]).get(key)
    if known is None or not (known.version or known.erased):
        raise NotFoundError(
            f"document {key!r} is not in this collection; `chunkprep docs` lists what is"
        )
    if version is not None and not known.erased and not 1 <= version <= (known.version or 0):
        raise NotFoundError(
            f"document {key!r} has no version {version}; `chunkprep versions` lists what it has"
        )


def _reference(text: str) -> tuple[str, int | None]:
    """Key and version of DOC[@VERSION]; an @ that no number follows belongs to the key."""
    key, at_sign, number = text.rpartition("@")
    if at_sign and number.isdigit():
        if not key:
            raise ChunkprepError(f"{text!r} names no document; write DOC or DOC@VERSION")
        return key, int(number)
    return text, None
