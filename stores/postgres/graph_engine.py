"""PostgreSQL as an engine of knowledge graphs: all that one does."""

from stores.postgres.graph import PostgresGraph
from stores.postgres.graph_archive import PostgresGraphArchive
from stores.postgres.graph_browsing import PostgresGraphBrowser


class PostgresGraphEngine(PostgresGraph, PostgresGraphArchive, PostgresGraphBrowser):
    """`GraphEngine` on PostgreSQL."""
