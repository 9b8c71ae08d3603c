"""No index of packed chunks by chunk id: nothing looks them up by it, every pack paid for it."""

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.drop_index("ix_pack_chunks_chunk_id", table_name="pack_chunks")
