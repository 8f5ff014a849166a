"""A PostgreSQL server for tests, and clones of its migrated template."""

from dataclasses import dataclass
from uuid import uuid4

import psycopg


@dataclass(frozen=True)
class Server:
    """A running PostgreSQL, with a migrated database to clone."""

    admin: str
    template: str

    def dsn(self, name: str) -> str:
        return psycopg.conninfo.make_conninfo(self.admin, dbname=name)

    def clone(self) -> str:
        """The connection string of a new database that has the schema and no rows."""
        name = f"test_{uuid4().hex}"
        with psycopg.connect(self.admin, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE {self.template} STRATEGY FILE_COPY")
        return self.dsn(name)

    def drop(self, dsn: str) -> None:
        name = psycopg.conninfo.conninfo_to_dict(dsn)["dbname"]
        with psycopg.connect(self.admin, autocommit=True) as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
