"""The Prefect flow run behind a run; a failure's attempt key by its name."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("runs", sa.Column("flow_run_id", sa.Text(), nullable=True))
    op.alter_column("failures", "bytes_hash", new_column_name="attempt_key")
