"""Since when a text holds that was cut again: its new chunks are younger than it is."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("chunks", sa.Column("held_from", sa.BigInteger(), nullable=True))
