"""What the embedded server is told, and that it remembers."""

import tempfile
from pathlib import Path

import psycopg

from stores.postgres.embedded import EmbeddedPostgres


def shown(dsn: str) -> list[str]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        rows = [
            connection.execute(f"SHOW {name}").fetchone()
            for name in ("jit", "max_parallel_maintenance_workers", "maintenance_work_mem")
        ]
    return [str(row[0]) for row in rows if row is not None]


def test_the_embedded_server_compiles_nothing_and_builds_indexes_by_one_process_in_memory() -> None:
    with tempfile.TemporaryDirectory(prefix="tributary-test-") as folder:
        postgres = EmbeddedPostgres(Path(folder) / "pg")
        try:
            jit, workers, memory = shown(postgres.start())
        finally:
            postgres.stop()
    assert (jit, workers) == ("off", "0")
    assert memory != "64MB"
