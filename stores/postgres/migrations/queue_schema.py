"""Keeping procrastinate's tables at the version of the library that is installed.

A fresh database gets the library's schema whole; one that is there gets the library's own migrations behind the last it
has. Which that is stands in `queue_schema`, so that an upgrade of the library alone needs no revision of ours.
"""

from pathlib import Path
from typing import Any

from procrastinate.schema import SchemaManager

from stores.postgres.roles import SERVING_ROLE

# By name, so that what a later version of the library adds is granted as well.
_GRANT = f"""
DO $$
DECLARE
    statement text;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{SERVING_ROLE}') THEN
        RETURN;
    END IF;
    FOR statement IN
        SELECT format(CASE relkind WHEN 'S' THEN 'GRANT USAGE ON SEQUENCE %I TO {SERVING_ROLE}'
                                   ELSE 'GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO {SERVING_ROLE}' END, relname)
        FROM pg_class
        WHERE relnamespace = current_schema()::regnamespace AND relname ^@ 'procrastinate_' AND relkind IN ('r', 'S')
        UNION ALL
        SELECT format('GRANT EXECUTE ON FUNCTION %s TO {SERVING_ROLE}', oid::regprocedure)
        FROM pg_proc WHERE pronamespace = current_schema()::regnamespace AND proname ^@ 'procrastinate_'
        UNION ALL
        SELECT format('GRANT USAGE ON TYPE %I TO {SERVING_ROLE}', typname)
        FROM pg_type LEFT JOIN pg_class c ON c.oid = typrelid
        WHERE typnamespace = current_schema()::regnamespace AND typname ^@ 'procrastinate_'
          AND (typtype = 'e' OR c.relkind = 'c')
    LOOP
        EXECUTE statement;
    END LOOP;
END $$
"""


def create(connection: Any) -> None:
    """The schema of the installed library, in the connection's transaction."""
    connection.execute(SchemaManager.get_schema())
    connection.execute("CREATE TABLE queue_schema (last_migration text NOT NULL)")
    connection.execute("INSERT INTO queue_schema VALUES (%s)", (_migrations()[-1].name,))
    connection.execute(_GRANT)


def upgrade(connection: Any) -> None:
    """Applies what the installed library brings beyond the database's schema, a transaction a file. The caller keeps
    other processes from doing the same; the connection is in autocommit mode."""
    [last] = connection.execute("SELECT last_migration FROM queue_schema").fetchone()
    for path in _migrations():
        if path.name > last:
            with connection.transaction():
                connection.execute(path.read_text(encoding="utf-8"))
                connection.execute("UPDATE queue_schema SET last_migration = %s", (path.name,))
                connection.execute(_GRANT)


def _migrations() -> list[Path]:
    """The library's migrations in order: their names begin with the version."""
    return sorted(Path(SchemaManager.get_migrations_path()).glob("*.sql"), key=lambda path: path.name)
