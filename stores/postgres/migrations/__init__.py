"""The schema, as append-only Alembic revisions of plain SQL."""
