"""The tables (DESIGN.md section 4), declared once; migrations/ builds the same (tested).

Moments are microseconds since 1970 UTC, lists and settings JSON texts. The columns of `chunks`
stand in the order of `ChunkRow`, so that a lookup's row needs no rearranging.
"""

from __future__ import annotations

import sqlalchemy as sa

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}
metadata = sa.MetaData(naming_convention=NAMING)

Moment = sa.BigInteger
Key = sa.BigInteger().with_variant(sa.Integer, "sqlite")
"""A row number; SQLite counts up only in a column of type INTEGER."""

STATUS_VALUES = "status IN ('draft', 'active', 'superseded', 'withdrawn')"


def _row_number() -> sa.Column[int]:
    return sa.Column("id", Key, primary_key=True, autoincrement=True)


def _refers(
    name: str, target: str, *, nullable: bool = False, ondelete: str | None = "CASCADE"
) -> sa.Column[int]:
    return sa.Column(name, Key, sa.ForeignKey(target, ondelete=ondelete), nullable=nullable)


def _text(name: str, default: str | None = None) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=False, server_default=default)


profiles = sa.Table(
    "profiles",
    metadata,
    sa.Column("fingerprint", sa.Text, primary_key=True),
    _text("encoding"),
    _text("template"),
    sa.Column("ordinal_tokens", sa.Integer, nullable=False),
    sa.Column("exact", sa.Boolean, nullable=False),
    sa.Column("margin", sa.Integer, nullable=False),
)

policies = sa.Table(
    "policies",
    metadata,
    sa.Column("fingerprint", sa.Text, primary_key=True),
    _text("settings"),
)

collections = sa.Table(
    "collections",
    metadata,
    _row_number(),
    _text("name"),
    sa.Column("policy", sa.Text),
    sa.Column("profile", sa.Text),
    sa.Column("change_cursor", sa.BigInteger, nullable=False, server_default="0"),
    sa.Column("created_at", Moment, nullable=False),
    sa.UniqueConstraint("name"),
)

documents = sa.Table(
    "documents",
    metadata,
    _row_number(),
    _refers("collection_id", "collections.id"),
    _text("document"),
    sa.Column("last_version", sa.Integer, nullable=False, server_default="0"),
    # 0: named by another document's `supersedes`, not yet here
    sa.Column("current_version", sa.Integer),
    sa.Column("created_at", Moment, nullable=False),
    sa.Column("erased_at", Moment),
    sa.UniqueConstraint("collection_id", "document"),
)

versions = sa.Table(
    "versions",
    metadata,
    _row_number(),
    _refers("document_id", "documents.id"),
    sa.Column("version", sa.Integer, nullable=False),
    _text("status"),
    _text("origin", "ingest"),  # or 'restore'
    _text("title"),
    _text("uri"),
    sa.Column("etag", sa.Text),
    _text("bytes_hash"),
    _text("content_hash"),
    _text("rendered"),
    _text("inputs"),  # digest of all that the chunk ids depend on, but for the repeat
    _text("reader"),
    _text("policy"),
    _text("profile"),
    _text("source_metadata"),  # as the source gives it
    _text("overrides", "{}"),  # fields set by hand
    _text("metadata"),  # both together
    sa.Column("authority", sa.Integer, nullable=False, server_default="0"),
    _text("access", "[]"),
    _text("tags", "[]"),
    sa.Column("source", sa.Text),
    sa.Column("edition", sa.Text),
    sa.Column("valid_from", Moment),
    sa.Column("valid_to", Moment),
    sa.Column("review_by", Moment),
    sa.Column("stored_at", Moment, nullable=False),
    sa.Column("released_at", Moment),  # when it stopped being a draft
    sa.Column("closes_at", Moment),  # end set by a withdrawal or by another document
    sa.Column("closed_by", sa.Text),  # 'hand', 'sync', 'metadata', or 'document:' + its key
    sa.Column("effective_from", Moment),
    sa.Column("effective_to", Moment),
    sa.Column("superseded_at", Moment),
    sa.Column("withdrawn_at", Moment),
    sa.Column("reason", sa.Text),
    sa.Column("changed_at", Moment, nullable=False),  # when status or range last changed
    sa.Column("pruned_at", Moment),
    sa.Column("coverage", sa.Float, nullable=False),
    _text("missing", "[]"),
    _text("warnings", "[]"),
    sa.Column("chunks", sa.Integer, nullable=False),
    sa.Column("tokens", sa.BigInteger, nullable=False),
    sa.Column("run_id", sa.Text),
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

metadata_history = sa.Table(
    "metadata_history",
    metadata,
    _row_number(),
    _refers("version_id", "versions.id"),
    sa.Column("at", Moment, nullable=False),
    _text("field"),
    sa.Column("old", sa.Text),
    sa.Column("new", sa.Text),
    sa.Column("reason", sa.Text),
    sa.Index("ix_metadata_history_version_id", "version_id"),
)

elements = sa.Table(
    "elements",
    metadata,
    sa.Column(
        "version_id",
        Key,
        sa.ForeignKey("versions.id", ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
    ),
    sa.Column("payload", sa.LargeBinary, nullable=False),  # zlib of JSON, see elements.py
)

chunks = sa.Table(
    "chunks",
    metadata,
    _row_number(),
    _refers("collection_id", "collections.id"),
    _refers("version_id", "versions.id"),
    _text("chunk_id"),
    _text("document"),
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("ordinal", sa.Integer, nullable=False),
    _text("text"),
    _text("header"),
    sa.Column("block_tokens", sa.Integer, nullable=False),
    sa.Column("header_tokens", sa.Integer, nullable=False),
    sa.Column("delimiter_tokens", sa.Integer, nullable=False),
    _text("boundaries"),
    _text("kind"),
    sa.Column("truncatable", sa.Boolean, nullable=False),
    _text("heading_path"),
    sa.Column("page", sa.Integer),
    _text("status"),
    sa.Column("superseded_by", sa.Text),
    sa.Column("effective_from", Moment),
    sa.Column("effective_to", Moment),
    sa.Column("authority", sa.Integer, nullable=False),
    _text("access"),
    sa.Column("source", sa.Text),
    _text("tags"),
    _text("content_hash"),
    sa.Column("signature", sa.LargeBinary, nullable=False),
    _text("policy"),
    _text("profile"),
    sa.Column("stored_at", Moment, nullable=False),
    # where the text comes from: version text [span_start:span_end], see audit/wholeness
    sa.Column("span_start", sa.Integer, nullable=False),
    sa.Column("span_end", sa.Integer, nullable=False),
    _text("additions", "[]"),
    _text("substitutions", "[]"),
    _text("rendering", "verbatim"),
    sa.Column("held_from", Moment),  # of a text cut again: since when it holds
    sa.UniqueConstraint("chunk_id"),
    sa.UniqueConstraint("version_id", "ordinal"),
    sa.CheckConstraint(STATUS_VALUES, name="status"),
)

chunk_prices = sa.Table(
    "chunk_prices",
    metadata,
    sa.Column(
        "chunk_row",
        Key,
        sa.ForeignKey("chunks.id", ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
    ),
    sa.Column("encoding", sa.Text, primary_key=True),
    _text("profile"),
    sa.Column("header", sa.Text),  # where the profile's template is another one
    sa.Column("block_tokens", sa.Integer, nullable=False),
    sa.Column("header_tokens", sa.Integer, nullable=False),
    sa.Column("delimiter_tokens", sa.Integer, nullable=False),
    _text("boundaries"),
    sqlite_with_rowid=False,
)

links = sa.Table(
    "links",
    metadata,
    _row_number(),
    _refers("old_id", "documents.id"),
    _refers("new_id", "documents.id"),
    sa.Column("effective_from", Moment, nullable=False),
    sa.Column("decided_at", Moment, nullable=False),
    _text("origin"),  # 'hand' or 'metadata'
    sa.Column("reason", sa.Text),
    sa.UniqueConstraint("old_id", "new_id"),
    sa.Index("ix_links_new_id", "new_id"),
)

runs = sa.Table(
    "runs",
    metadata,
    sa.Column("run_id", sa.Text, primary_key=True),
    _refers("collection_id", "collections.id"),
    _text("kind"),
    sa.Column("started_at", Moment, nullable=False),
    sa.Column("finished_at", Moment),
    _text("settings", "{}"),
    sa.Column("summary", sa.Text),
    sa.Column("flow_run_id", sa.Text),  # Prefect's
    sa.Index("ix_runs_collection_id_started_at", "collection_id", "started_at"),
)

failures = sa.Table(
    "failures",
    metadata,
    _row_number(),
    _refers("collection_id", "collections.id"),
    _text("document"),
    _text("uri"),
    _text("code"),
    _text("message"),
    _text("remedy"),
    sa.Column("attempt_key", sa.Text),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("first_at", Moment, nullable=False),
    sa.Column("last_at", Moment, nullable=False),
    sa.Column("run_id", sa.Text),
    sa.UniqueConstraint("collection_id", "document"),
)

changes = sa.Table(
    "changes",
    metadata,
    sa.Column(
        "collection_id",
        Key,
        sa.ForeignKey("collections.id", ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
    ),
    sa.Column("cursor", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("at", Moment, nullable=False),
    _text("action"),  # 'upsert' or 'remove'
    _text("chunk_id"),
    _text("document"),
    sa.Column("version", sa.Integer, nullable=False),
    sqlite_with_rowid=False,
)

packs = sa.Table(
    "packs",
    metadata,
    _row_number(),
    _refers("collection_id", "collections.id"),
    _text("request_id"),
    sa.Column("at", Moment, nullable=False),
    sa.Column("as_of", Moment, nullable=False),
    _text("encoding"),
    sa.Column("slot", sa.Integer, nullable=False),
    sa.Column("used_tokens", sa.Integer, nullable=False),
    _text("request"),
    _text("result"),
    _text("warnings", "[]"),
    sa.UniqueConstraint("collection_id", "request_id"),
    sa.Index("ix_packs_collection_id_at", "collection_id", "at"),
)

pack_chunks = sa.Table(
    "pack_chunks",
    metadata,
    sa.Column(
        "pack_id",
        Key,
        sa.ForeignKey("packs.id", ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
    ),
    sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
    _text("chunk_id"),
    sa.Column("cut_offset", sa.Integer),
    # kept though the chunk is pruned; no foreign key, so that erasing a version is one delete
    sa.Column("version_id", Key),
    sa.Index("ix_pack_chunks_version_id", "version_id"),
    sqlite_with_rowid=False,
)

api_keys = sa.Table(
    "api_keys",
    metadata,
    sa.Column("key_id", sa.Text, primary_key=True),
    _text("name"),
    _text("secret_hash"),
    _text("role"),
    _text("collections"),  # JSON: names, or null for all
    _text("access"),  # JSON: labels, or null for all
    sa.Column("created_at", Moment, nullable=False),
    sa.Column("revoked_at", Moment),
    sa.CheckConstraint("role IN ('read', 'admin')", name="role"),
)
