"""docs, versions, chunks: what is stored."""

from __future__ import annotations

import click

from chunkprep_flows.console import print_records
from chunkprep_flows.opened import opened
from chunkprep_flows.options import as_of_option, command, json_option, option, store_options
from chunkprep_ingest.lifecycle import moment

DOCUMENT_COLUMNS = (
    "document", "title", "version", "status", "effective_from", "effective_to", "valid_from",
    "chunks", "tokens", "coverage",
)  # fmt: skip
VERSION_COLUMNS = (
    "version", "status", "effective_from", "effective_to", "valid_from", "chunks", "tokens",
    "ingested_at", "reason",
)  # fmt: skip
CHUNK_COLUMNS = (
    "ordinal", "block_tokens", "kind", "status", "page", "heading_path", "chunk_id",
)  # fmt: skip
NUMBERS = ("version", "chunks", "tokens", "coverage", "ordinal", "block_tokens", "page")


@command(example="chunkprep docs --as-of 2025-06-30")
@store_options
@as_of_option
@json_option
def docs(store: str, collection: str, as_of: str | None, as_json: bool) -> None:
    """List the documents, withdrawn ones included."""
    from chunkprep_packer.stored_json import document_record

    with opened(store) as source:
        moment_asked = None if as_of is None else moment(as_of)
        found = source.documents(collection, at=moment_asked)
        records = map(document_record, found)
        print_records(records, DOCUMENT_COLUMNS, as_json=as_json, right=NUMBERS)


@command(example="chunkprep versions policies/refund.md")
@click.argument("document")
@store_options
@json_option
def versions(document: str, store: str, collection: str, as_json: bool) -> None:
    """List the versions of a document, with their history."""
    from chunkprep_packer.stored_json import version_record

    with opened(store) as source:
        found = source.versions(collection, document)
        records = map(version_record, found)
        print_records(records, VERSION_COLUMNS, as_json=as_json, right=NUMBERS)


@command(example="chunkprep chunks policies/refund.md --json")
@click.argument("document")
@option("--version", "version", type=click.IntRange(1), metavar="N", help="Which version.")
@as_of_option
@store_options
@json_option
def chunks(
    document: str,
    version: int | None,
    as_of: str | None,
    store: str,
    collection: str,
    as_json: bool,
) -> None:
    """List the chunks of a document: of the active version unless told otherwise."""
    from chunkprep_packer.stored_json import chunk_record

    if version is not None and as_of is not None:
        raise click.UsageError("--version and --as-of exclude each other")
    with opened(store) as source:
        moment_asked = None if as_of is None else moment(as_of)
        found = source.chunks(collection, document, version=version, at=moment_asked)
        encoding = source.profile(collection).encoding
        records = (chunk_record(row, encoding) for row in found)
        print_records(records, CHUNK_COLUMNS, as_json=as_json, right=NUMBERS)
