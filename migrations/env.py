"""Runs the migrations on the connection that chunkprep_store.schema hands over."""

from alembic import context

from chunkprep_store import tables

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=tables.metadata,
    transactional_ddl=True,
    render_as_batch=False,
)
with context.begin_transaction():
    context.run_migrations()
