"""The first schema: every table, and each database's own text search.

Tables come from `alembic revision --autogenerate`; the text index is by hand.
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

SQLITE_SEARCH = (
    """CREATE VIRTUAL TABLE chunk_search USING fts5(
        header, text, content='chunks', content_rowid='id',
        tokenize='porter unicode61 remove_diacritics 2')""",
    """CREATE TRIGGER chunk_search_insert AFTER INSERT ON chunks BEGIN
        INSERT INTO chunk_search(rowid, header, text) VALUES (new.id, new.header, new.text);
    END""",
    """CREATE TRIGGER chunk_search_delete AFTER DELETE ON chunks BEGIN
        INSERT INTO chunk_search(chunk_search, rowid, header, text)
        VALUES ('delete', old.id, old.header, old.text);
    END""",
)
"""External content: the index holds no second copy of the texts. Texts are never updated."""

POSTGRES_SEARCH = (
    """CREATE TABLE chunk_search (
        id BIGINT CONSTRAINT pk_chunk_search PRIMARY KEY
            CONSTRAINT fk_chunk_search_id_chunks REFERENCES chunks(id) ON DELETE CASCADE,
        terms TSVECTOR NOT NULL)""",
    "CREATE INDEX ix_chunk_search_terms ON chunk_search USING gin (terms)",
    """CREATE FUNCTION chunk_search_insert() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO chunk_search(id, terms) VALUES (NEW.id,
            setweight(to_tsvector('english', left(NEW.header, 100000)), 'A') ||
            setweight(to_tsvector('english', left(NEW.text, 300000)), 'D'));
        RETURN NULL;
    END $$""",
    """CREATE TRIGGER chunk_search_insert AFTER INSERT ON chunks
        FOR EACH ROW EXECUTE FUNCTION chunk_search_insert()""",
)
"""A table of its own, so that the row the packer reads stays small."""

POSTGRES_STORAGE = "ALTER TABLE chunks SET (toast_tuple_target = 8160)"
"""Keep a chunk's text in its row, uncompressed: a lookup is then one page per chunk."""


def upgrade() -> None:
    op.create_table(
        "collections",
        sa.Column("id", KEY, autoincrement=True, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("policy", sa.Text(), nullable=True),
        sa.Column("profile", sa.Text(), nullable=True),
        sa.Column("change_cursor", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_collections")),
        sa.UniqueConstraint("name", name=op.f("uq_collections_name")),
    )
    op.create_table(
        "policies",
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("settings", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("fingerprint", name=op.f("pk_policies")),
    )
    op.create_table(
        "profiles",
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("encoding", sa.Text(), nullable=False),
        sa.Column("template", sa.Text(), nullable=False),
        sa.Column("ordinal_tokens", sa.Integer(), nullable=False),
        sa.Column("exact", sa.Boolean(), nullable=False),
        sa.Column("margin", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("fingerprint", name=op.f("pk_profiles")),
    )
    op.create_table(
        "changes",
        sa.Column("collection_id", KEY, autoincrement=False, nullable=False),
        sa.Column("cursor", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("chunk_id", sa.Text(), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["collection_id"],
            ["collections.id"],
            name=op.f("fk_changes_collection_id_collections"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("collection_id", "cursor", name=op.f("pk_changes")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "documents",
        sa.Column("id", KEY, autoincrement=True, nullable=False),
        sa.Column("collection_id", KEY, nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("last_version", sa.Integer(), server_default="0", nullable=False),
        sa.Column("current_version", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("erased_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["collection_id"],
            ["collections.id"],
            name=op.f("fk_documents_collection_id_collections"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_documents")),
        sa.UniqueConstraint(
            "collection_id", "document", name=op.f("uq_documents_collection_id_document")
        ),
    )
    op.create_table(
        "failures",
        sa.Column("id", KEY, autoincrement=True, nullable=False),
        sa.Column("collection_id", KEY, nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("uri", sa.Text(), nullable=False),
        sa.Column("code", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("remedy", sa.Text(), nullable=False),
        sa.Column("bytes_hash", sa.Text(), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("first_at", sa.BigInteger(), nullable=False),
        sa.Column("last_at", sa.BigInteger(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["collection_id"],
            ["collections.id"],
            name=op.f("fk_failures_collection_id_collections"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_failures")),
        sa.UniqueConstraint(
            "collection_id", "document", name=op.f("uq_failures_collection_id_document")
        ),
    )
    op.create_table(
        "packs",
        sa.Column("id", KEY, autoincrement=True, nullable=False),
        sa.Column("collection_id", KEY, nullable=False),
        sa.Column("request_id", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("as_of", sa.BigInteger(), nullable=False),
        sa.Column("encoding", sa.Text(), nullable=False),
        sa.Column("slot", sa.Integer(), nullable=False),
        sa.Column("used_tokens", sa.Integer(), nullable=False),
        sa.Column("request", sa.Text(), nullable=False),
        sa.Column("result", sa.Text(), nullable=False),
        sa.Column("warnings", sa.Text(), server_default="[]", nullable=False),
        sa.ForeignKeyConstraint(
            ["collection_id"],
            ["collections.id"],
            name=op.f("fk_packs_collection_id_collections"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_packs")),
        sa.UniqueConstraint(
            "collection_id", "request_id", name=op.f("uq_packs_collection_id_request_id")
        ),
    )
    op.create_index("ix_packs_collection_id_at", "packs", ["collection_id", "at"], unique=False)
    op.create_table(
        "runs",
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("collection_id", KEY, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("finished_at", sa.BigInteger(), nullable=True),
        sa.Column("settings", sa.Text(), server_default="{}", nullable=False),
        sa.Column("summary", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["collection_id"],
            ["collections.id"],
            name=op.f("fk_runs_collection_id_collections"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("run_id", name=op.f("pk_runs")),
    )
    op.create_index(
        "ix_runs_collection_id_started_at", "runs", ["collection_id", "started_at"], unique=False
    )
    op.create_table(
        "links",
        sa.Column("id", KEY, autoincrement=True, nullable=False),
        sa.Column("old_id", KEY, nullable=False),
        sa.Column("new_id", KEY, nullable=False),
        sa.Column("effective_from", sa.BigInteger(), nullable=False),
        sa.Column("decided_at", sa.BigInteger(), nullable=False),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["new_id"], ["documents.id"], name=op.f("fk_links_new_id_documents"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["old_id"], ["documents.id"], name=op.f("fk_links_old_id_documents"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_links")),
        sa.UniqueConstraint("old_id", "new_id", name=op.f("uq_links_old_id_new_id")),
    )
    op.create_index("ix_links_new_id", "links", ["new_id"], unique=False)
    op.create_table(
        "pack_chunks",
        sa.Column("pack_id", KEY, autoincrement=False, nullable=False),
        sa.Column("position", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("chunk_id", sa.Text(), nullable=False),
        sa.Column("cut_offset", sa.Integer(), nullable=True),
        sa.Column("version_id", KEY, nullable=True),
        sa.ForeignKeyConstraint(
            ["pack_id"], ["packs.id"], name=op.f("fk_pack_chunks_pack_id_packs"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("pack_id", "position", name=op.f("pk_pack_chunks")),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_pack_chunks_chunk_id", "pack_chunks", ["chunk_id"], unique=False)
    op.create_index("ix_pack_chunks_version_id", "pack_chunks", ["version_id"], unique=False)
    op.create_table(
        "versions",
        sa.Column("id", KEY, autoincrement=True, nullable=False),
        sa.Column("document_id", KEY, nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("origin", sa.Text(), server_default="ingest", nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("uri", sa.Text(), nullable=False),
        sa.Column("etag", sa.Text(), nullable=True),
        sa.Column("bytes_hash", sa.Text(), nullable=False),
        sa.Column("content_hash", sa.Text(), nullable=False),
        sa.Column("rendered", sa.Text(), nullable=False),
        sa.Column("inputs", sa.Text(), nullable=False),
        sa.Column("reader", sa.Text(), nullable=False),
        sa.Column("policy", sa.Text(), nullable=False),
        sa.Column("profile", sa.Text(), nullable=False),
        sa.Column("source_metadata", sa.Text(), nullable=False),
        sa.Column("overrides", sa.Text(), server_default="{}", nullable=False),
        sa.Column("metadata", sa.Text(), nullable=False),
        sa.Column("authority", sa.Integer(), server_default="0", nullable=False),
        sa.Column("access", sa.Text(), server_default="[]", nullable=False),
        sa.Column("tags", sa.Text(), server_default="[]", nullable=False),
        sa.Column("source", sa.Text(), nullable=True),
        sa.Column("edition", sa.Text(), nullable=True),
        sa.Column("valid_from", sa.BigInteger(), nullable=True),
        sa.Column("valid_to", sa.BigInteger(), nullable=True),
        sa.Column("review_by", sa.BigInteger(), nullable=True),
        sa.Column("stored_at", sa.BigInteger(), nullable=False),
        sa.Column("released_at", sa.BigInteger(), nullable=True),
        sa.Column("closes_at", sa.BigInteger(), nullable=True),
        sa.Column("closed_by", sa.Text(), nullable=True),
        sa.Column("effective_from", sa.BigInteger(), nullable=True),
        sa.Column("effective_to", sa.BigInteger(), nullable=True),
        sa.Column("superseded_at", sa.BigInteger(), nullable=True),
        sa.Column("withdrawn_at", sa.BigInteger(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("changed_at", sa.BigInteger(), nullable=False),
        sa.Column("pruned_at", sa.BigInteger(), nullable=True),
        sa.Column("coverage", sa.Float(), nullable=False),
        sa.Column("missing", sa.Text(), server_default="[]", nullable=False),
        sa.Column("warnings", sa.Text(), server_default="[]", nullable=False),
        sa.Column("chunks", sa.Integer(), nullable=False),
        sa.Column("tokens", sa.BigInteger(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=True),
        sa.CheckConstraint(
            "status IN ('draft', 'active', 'superseded', 'withdrawn')",
            name=op.f("ck_versions_status"),
        ),
        sa.ForeignKeyConstraint(
            ["document_id"],
            ["documents.id"],
            name=op.f("fk_versions_document_id_documents"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_versions")),
        sa.UniqueConstraint("document_id", "version", name=op.f("uq_versions_document_id_version")),
    )
    op.create_index(
        "uq_versions_one_active",
        "versions",
        ["document_id"],
        unique=True,
        sqlite_where=sa.text("status = 'active'"),
        postgresql_where=sa.text("status = 'active'"),
    )
    op.create_table(
        "chunks",
        sa.Column("id", KEY, autoincrement=True, nullable=False),
        sa.Column("collection_id", KEY, nullable=False),
        sa.Column("version_id", KEY, nullable=False),
        sa.Column("chunk_id", sa.Text(), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("header", sa.Text(), nullable=False),
        sa.Column("block_tokens", sa.Integer(), nullable=False),
        sa.Column("header_tokens", sa.Integer(), nullable=False),
        sa.Column("delimiter_tokens", sa.Integer(), nullable=False),
        sa.Column("boundaries", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("truncatable", sa.Boolean(), nullable=False),
        sa.Column("heading_path", sa.Text(), nullable=False),
        sa.Column("page", sa.Integer(), nullable=True),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("superseded_by", sa.Text(), nullable=True),
        sa.Column("effective_from", sa.BigInteger(), nullable=True),
        sa.Column("effective_to", sa.BigInteger(), nullable=True),
        sa.Column("authority", sa.Integer(), nullable=False),
        sa.Column("access", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=True),
        sa.Column("tags", sa.Text(), nullable=False),
        sa.Column("content_hash", sa.Text(), nullable=False),
        sa.Column("signature", sa.LargeBinary(), nullable=False),
        sa.Column("policy", sa.Text(), nullable=False),
        sa.Column("profile", sa.Text(), nullable=False),
        sa.Column("stored_at", sa.BigInteger(), nullable=False),
        sa.Column("span_start", sa.Integer(), nullable=False),
        sa.Column("span_end", sa.Integer(), nullable=False),
        sa.Column("additions", sa.Text(), server_default="[]", nullable=False),
        sa.Column("substitutions", sa.Text(), server_default="[]", nullable=False),
        sa.Column("rendering", sa.Text(), server_default="verbatim", nullable=False),
        sa.CheckConstraint(
            "status IN ('draft', 'active', 'superseded', 'withdrawn')",
            name=op.f("ck_chunks_status"),
        ),
        sa.ForeignKeyConstraint(
            ["collection_id"],
            ["collections.id"],
            name=op.f("fk_chunks_collection_id_collections"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["version_id"],
            ["versions.id"],
            name=op.f("fk_chunks_version_id_versions"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_chunks")),
        sa.UniqueConstraint("chunk_id", name=op.f("uq_chunks_chunk_id")),
        sa.UniqueConstraint("version_id", "ordinal", name=op.f("uq_chunks_version_id_ordinal")),
    )
    op.create_table(
        "elements",
        sa.Column("version_id", KEY, autoincrement=False, nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["version_id"],
            ["versions.id"],
            name=op.f("fk_elements_version_id_versions"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("version_id", name=op.f("pk_elements")),
    )
    op.create_table(
        "metadata_history",
        sa.Column("id", KEY, autoincrement=True, nullable=False),
        sa.Column("version_id", KEY, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("field", sa.Text(), nullable=False),
        sa.Column("old", sa.Text(), nullable=True),
        sa.Column("new", sa.Text(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["version_id"],
            ["versions.id"],
            name=op.f("fk_metadata_history_version_id_versions"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_metadata_history")),
    )
    op.create_index(
        "ix_metadata_history_version_id", "metadata_history", ["version_id"], unique=False
    )
    op.create_table(
        "chunk_prices",
        sa.Column("chunk_row", KEY, autoincrement=False, nullable=False),
        sa.Column("encoding", sa.Text(), nullable=False),
        sa.Column("profile", sa.Text(), nullable=False),
        sa.Column("header", sa.Text(), nullable=True),
        sa.Column("block_tokens", sa.Integer(), nullable=False),
        sa.Column("header_tokens", sa.Integer(), nullable=False),
        sa.Column("delimiter_tokens", sa.Integer(), nullable=False),
        sa.Column("boundaries", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["chunk_row"],
            ["chunks.id"],
            name=op.f("fk_chunk_prices_chunk_row_chunks"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("chunk_row", "encoding", name=op.f("pk_chunk_prices")),
        sqlite_with_rowid=False,
    )

    if op.get_context().dialect.name == "sqlite":
        statements = SQLITE_SEARCH
    else:
        statements = (*POSTGRES_SEARCH, POSTGRES_STORAGE)
    for statement in statements:
        op.execute(statement)
