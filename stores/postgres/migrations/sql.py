"""What the revisions share: running plain SQL, and putting a table under its organisation's policy."""

from alembic import op

from stores.postgres.roles import SERVING_ROLE


def run(sql: str) -> None:
    """Runs statements as they stand. Through the driver and without parameters, so that `%`, `:name` and several
    statements in one string mean what PostgreSQL says they mean."""
    driver = op.get_bind().connection.driver_connection
    assert driver is not None
    driver.execute(sql)


def isolate(*tables: str, key: str = "organisation_id") -> None:
    """Row-level security for each table, for its owner too; and the serving role's rights on it."""
    for table in tables:
        run(
            f"""
            ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;
            ALTER TABLE {table} FORCE ROW LEVEL SECURITY;
            CREATE POLICY of_organisation ON {table}
                USING ({key} = NULLIF(current_setting('app.organisation', true), '')::uuid);
            """
        )
        grant(table)


def grant(*tables: str) -> None:
    """The serving role's rights. Left out where the migrating role may not create roles: then the tables' owner
    serves, and the policies hold for it because they are forced."""
    for table in tables:
        run(
            f"""
            DO $$ BEGIN
                IF EXISTS (SELECT FROM pg_roles WHERE rolname = '{SERVING_ROLE}') THEN
                    GRANT SELECT, INSERT, UPDATE, DELETE ON {table} TO {SERVING_ROLE};
                END IF;
            END $$;
            """
        )
