"""Alembic's entry: runs the revisions on the connection that `stores.postgres.migrate` hands over."""

from alembic import context

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=None, transactional_ddl=True, transaction_per_migration=True)
with context.begin_transaction():
    context.run_migrations()
