"""The tables, declared once; migrations/ builds the same (tested).

Moments are microseconds since 1970 UTC, lists and settings JSON texts. The columns of `chunks`
stand in the order of `ChunkRow`, so that a lookup's row needs no rearranging.
"""

from __future__ import annotations

import sqlalchemy as sa

from chunkprep_store.columns import (
    counted_key,
    data,
    flag,
    large,
    loose_number,
    metadata,
    moment,
    part_of,
    row_number,
    share,
    table,
    text,
    text_key,
    whole,
)

__all__ = [
    "api_keys",
    "changes",
    "chunk_prices",
    "chunks",
    "collections",
    "documents",
    "elements",
    "failures",
    "links",
    "metadata",
    "metadata_history",
    "pack_chunks",
    "packs",
    "policies",
    "profiles",
    "runs",
    "versions",
]

STATUS_VALUES = "status IN ('draft', 'active', 'superseded', 'withdrawn')"

profiles = table(
    "profiles",
    "An encoding and a template: what prices depend on.",
    text_key("fingerprint", "Digest of all that prices depend on."),
    text("encoding", "The tokenizer's name."),
    text("template", "JSON: the strings of header, delimiter and cut marker."),
    whole("ordinal_tokens", "Tokens that a number from 1 to 999 adds to a header."),
    flag("exact", "Whether block costs add up to the token."),
    whole("margin", "Tokens in each price for junctions; 0 where counts are exact."),
)

policies = table(
    "policies",
    "A splitting policy: what chunks depend on.",
    text_key("fingerprint", "Digest of the settings and of the splitter's version."),
    text("settings", "JSON: cap, target, minimum and rules."),
)

collections = table(
    "collections",
    "A named set of documents.",
    row_number(),
    text("name", "Its name."),
    text("policy", "Fingerprint of the policy that it is split by.", optional=True),
    text("profile", "Fingerprint of the profile that it is priced under.", optional=True),
    large("change_cursor", "The newest entry of its change feed.", "0"),
    moment("created_at", "When it was made."),
    sa.UniqueConstraint("name"),
)

documents = table(
    "documents",
    "What a path or URL names, whatever its versions.",
    row_number(),
    part_of("collection_id", "collections.id", "Its collection."),
    text("document", "Its key, stable."),
    whole("last_version", "The newest version; 0: named by `supersedes`, not yet here.", "0"),
    whole("current_version", "The version that stands for it.", optional=True),
    moment("created_at", "When its name was first seen."),
    moment("erased_at", "When it was erased: a tombstone.", optional=True),
    sa.UniqueConstraint("collection_id", "document"),
)

versions = table(
    "versions",
    "One state of a document; text, headers, ids and prices never change once written.",
    row_number(),
    part_of("document_id", "documents.id", "Its document."),
    whole("version", "1, 2, 3 …"),
    text("status", "What was decided: draft, active, superseded, withdrawn."),
    text(
        "origin", "`ingest`, `restore`, or `recut:N`: the text of version N, cut again.", "ingest"
    ),
    text("title", "What headers show."),
    text("uri", "Where it was read from."),
    text("etag", "The remote object's mark of change.", optional=True),
    text("bytes_hash", "SHA-256 of the file: what has not changed is known by it."),
    text("content_hash", "Of the text and of what headers show."),
    text("rendered", "JSON: the metadata that headers show."),
    text("inputs", "Digest of all that chunk ids depend on, but for document and repeat."),
    text("reader", "Fingerprint of the reader."),
    text("policy", "Fingerprint of the policy."),
    text("profile", "Fingerprint of the profile."),
    text("source_metadata", "JSON: metadata as the source gives it."),
    text("overrides", "JSON: fields set by hand.", "{}"),
    text("metadata", "JSON: both together."),
    whole("authority", "0 to 100.", "0"),
    text("access", "JSON: labels; none: open to all.", "[]"),
    text("tags", "JSON: tags.", "[]"),
    text("source", "Where it comes from, for filters.", optional=True),
    text("edition", "What people call it.", optional=True),
    moment("valid_from", "In force from, as the metadata says.", optional=True),
    moment("valid_to", "First moment out of force, as the metadata says.", optional=True),
    moment("review_by", "When somebody should look at it.", optional=True),
    moment("stored_at", "When it was written."),
    moment("released_at", "When it stopped being a draft.", optional=True),
    moment("closes_at", "End set by a withdrawal or by another document.", optional=True),
    text(
        "closed_by",
        "By what: `hand`, `sync`, `metadata`, `draft`, or `document:` and its key.",
        optional=True,
    ),
    moment("effective_from", "Start of its range; null is open.", optional=True),
    moment("effective_to", "End of its range, excluded; null is open.", optional=True),
    moment("superseded_at", "When it was superseded.", optional=True),
    moment("withdrawn_at", "When it was withdrawn.", optional=True),
    text("reason", "Why, as a hand gave it.", optional=True),
    moment("changed_at", "When status or range last changed."),
    moment("pruned_at", "When its content was removed.", optional=True),
    share("coverage", "Share of the file's own words that reached its elements."),
    text("missing", "JSON: some words that did not.", "[]"),
    text("warnings", "JSON: what reading and splitting had to say.", "[]"),
    whole("chunks", "How many chunks."),
    large("tokens", "Sum of their block costs."),
    text("run_id", "The run that wrote it.", optional=True),
    sa.UniqueConstraint("document_id", "version"),
    sa.CheckConstraint(STATUS_VALUES, name="status"),
    sa.Index(
        "uq_versions_one_active",
        "document_id",
        unique=True,
        sqlite_where=sa.text("status = 'active'"),
        postgresql_where=sa.text("status = 'active'"),
    ),
)

metadata_history = table(
    "metadata_history",
    "One field of a version's metadata that changed in place.",
    row_number(),
    part_of("version_id", "versions.id", "The version."),
    moment("at", "When."),
    text("field", "Which field."),
    text("old", "JSON: its value before.", optional=True),
    text("new", "JSON: its value since.", optional=True),
    text("reason", "Why, as a hand gave it.", optional=True),
    sa.Index("ix_metadata_history_version_id", "version_id"),
)

elements = table(
    "elements",
    "The parsed form of a version, to split again from.",
    part_of("version_id", "versions.id", "The version.", key=True),
    data("payload", "The text and its elements: JSON, compressed with zlib."),
)

chunks = table(
    "chunks",
    "A chunk with all that packing needs.",
    row_number(),
    part_of("collection_id", "collections.id", "Its collection."),
    part_of("version_id", "versions.id", "Its version."),
    text("chunk_id", "Its id: opaque, never used twice."),
    text("document", "The document's key."),
    whole("version", "The version's number."),
    whole("ordinal", "Its place in the version, from 0."),
    text("text", "Its text, as the model sees it."),
    text("header", "What stands before the text."),
    whole("block_tokens", "Cost of the whole block: header, text and delimiter."),
    whole("header_tokens", "Cost of the header."),
    whole("delimiter_tokens", "Cost of the delimiter."),
    text("boundaries", "JSON: `[offset, kind, block_tokens]` of each place where it may be cut."),
    text("kind", "`prose`, `table` or `code`."),
    flag("truncatable", "Whether it may be cut unless the request says otherwise."),
    text("heading_path", "JSON: the headings that it stands under."),
    whole("page", "Its page, from 1, where the format has pages.", optional=True),
    text("status", "The version's."),
    text(
        "superseded_by",
        "Its successor: a chunk id of the version that replaced this one.",
        optional=True,
    ),
    moment("effective_from", "The version's; null is open.", optional=True),
    moment("effective_to", "The version's, excluded; null is open.", optional=True),
    whole("authority", "The version's."),
    text("access", "The version's."),
    text("source", "The version's.", optional=True),
    text("tags", "The version's."),
    text("content_hash", "Of the text alone: equal hash, equal embedding."),
    data("signature", "MinHash for near duplicates; empty for short texts."),
    text("policy", "Fingerprint of the policy that it was split by."),
    text("profile", "Fingerprint of the profile that it is priced under."),
    moment("stored_at", "When the version was written."),
    whole("span_start", "Start of its text in the version's text."),
    whole("span_end", "End of its text in the version's text."),
    text("additions", "JSON: `[offset, length]` of what the document does not have there.", "[]"),
    text("substitutions", "JSON: `[offset, original]` of characters that were neutralised.", "[]"),
    text("rendering", "`verbatim`, or `records`: rows of a wide table as lines.", "verbatim"),
    moment("held_from", "Of a text cut again: since when it has held.", optional=True),
    sa.UniqueConstraint("chunk_id"),
    sa.UniqueConstraint("version_id", "ordinal"),
    sa.CheckConstraint(STATUS_VALUES, name="status"),
)

chunk_prices = table(
    "chunk_prices",
    "What a chunk costs in a further encoding.",
    part_of("chunk_row", "chunks.id", "The chunk.", key=True),
    text_key("encoding", "The further encoding."),
    text("profile", "Fingerprint of its profile."),
    text("header", "The header there, where the template differs.", optional=True),
    whole("block_tokens", "Cost of the whole block."),
    whole("header_tokens", "Cost of the header."),
    whole("delimiter_tokens", "Cost of the delimiter."),
    text("boundaries", "As in `chunks`, at prices of this encoding."),
    sqlite_with_rowid=False,
)

links = table(
    "links",
    "One document that supersedes another.",
    row_number(),
    part_of("old_id", "documents.id", "The document that is replaced."),
    part_of("new_id", "documents.id", "The document that replaces it."),
    moment("effective_from", "From when."),
    moment("decided_at", "When that was said."),
    text("origin", "`hand` or `metadata`."),
    text("reason", "Why, as a hand gave it.", optional=True),
    sa.UniqueConstraint("old_id", "new_id"),
    sa.Index("ix_links_new_id", "new_id"),
)

runs = table(
    "runs",
    "A run of ingest, resplit, recount or prune, or what was done with failures.",
    text_key("run_id", "Its id."),
    part_of("collection_id", "collections.id", "Its collection."),
    text("kind", "`ingest`, `resplit`, `recount`, `prune`, `retry` or `dismiss`."),
    moment("started_at", "When it began."),
    moment("finished_at", "When it ended; null: under way, or broken off.", optional=True),
    text("settings", "JSON: what it was asked.", "{}"),
    text("summary", "JSON: what it did.", optional=True),
    text("flow_run_id", "Prefect's flow run, where there was one.", optional=True),
    sa.Index("ix_runs_collection_id_started_at", "collection_id", "started_at"),
)

failures = table(
    "failures",
    "A document whose last ingest failed.",
    row_number(),
    part_of("collection_id", "collections.id", "Its collection."),
    text("document", "Its key."),
    text("uri", "Where it was read from."),
    text("code", "Why, as a stable code."),
    text("message", "What is wrong."),
    text("remedy", "What to do."),
    text("attempt_key", "Of the attempt: file, metadata and options of reading.", optional=True),
    whole("attempts", "How often that was tried."),
    moment("first_at", "The first failure."),
    moment("last_at", "The latest failure."),
    text("run_id", "The latest run that tried.", optional=True),
    sa.UniqueConstraint("collection_id", "document"),
)

changes = table(
    "changes",
    "An entry of the change feed; its text is joined on read.",
    part_of("collection_id", "collections.id", "Its collection.", key=True),
    counted_key("cursor", sa.BigInteger, "Its place: no gap, in commit order."),
    moment("at", "When."),
    text("action", "`upsert` or `remove`."),
    text("chunk_id", "Which chunk."),
    text("document", "The document's key."),
    whole("version", "The version's number."),
    sqlite_with_rowid=False,
)

packs = table(
    "packs",
    "A logged pack.",
    row_number(),
    part_of("collection_id", "collections.id", "Its collection."),
    text("request_id", "Its id."),
    moment("at", "When it was packed."),
    moment("as_of", "The moment that it was packed for."),
    text("encoding", "The encoding of its prices."),
    whole("slot", "Its budget in tokens."),
    whole("used_tokens", "What it cost."),
    text("request", "JSON: the request, without vectors, and what its caller called it."),
    text("result", "JSON: the answer, with a digest in the place of its text."),
    text("warnings", "JSON: the answer's warnings.", "[]"),
    sa.UniqueConstraint("collection_id", "request_id"),
    sa.Index("ix_packs_collection_id_at", "collection_id", "at"),
)

pack_chunks = table(
    "pack_chunks",
    "A chunk in a logged pack.",
    part_of("pack_id", "packs.id", "The pack.", key=True),
    counted_key("position", sa.Integer, "Its place in the pack, from 0."),
    text("chunk_id", "Which chunk."),
    whole("cut_offset", "Where it was cut; null: whole.", optional=True),
    # no foreign key, so that erasing a version is one delete
    loose_number("version_id", "Its version, kept though the chunk is pruned."),
    sa.Index("ix_pack_chunks_version_id", "version_id"),
    sqlite_with_rowid=False,
)

api_keys = table(
    "api_keys",
    "A key of the HTTP service.",
    text_key("key_id", "Its id, which is no secret."),
    text("name", "Who it is for."),
    text("secret_hash", "SHA-256 of the key."),
    text("role", "`read` or `admin`."),
    text("collections", "JSON: the collections that it opens; null: all."),
    text("access", "JSON: the labels that its requests may claim; null: all."),
    moment("created_at", "When it was made."),
    moment("revoked_at", "When it was revoked.", optional=True),
    sa.CheckConstraint("role IN ('read', 'admin')", name="role"),
)
