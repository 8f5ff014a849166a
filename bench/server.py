"""A real server for benchmarks: `tributary serve` in a process of its own, and what it uses of the processor."""

import asyncio
import os
import re
import sys
import tempfile
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil

from stores.postgres.database import Database
from stores.postgres.identity import PostgresIdentity
from tributary.domain.identity import Organisation, Scope
from tributary.services import open_database
from tributary.settings import Settings

_READY = re.compile(r"Tributary ready at (http://\S+)")


@dataclass(frozen=True)
class Server:
    """A running server, an organisation of it, and the way into its database."""

    client: httpx.AsyncClient
    database: Database
    organisation: Organisation
    process: Process

    def processor_seconds(self) -> dict[str, float]:
        """What the server's processes have used so far: the server itself, its children that read files, and
        PostgreSQL as a whole."""
        server = psutil.Process(self.process.pid)
        whole = _used([server, *server.children(recursive=True)], own=False)
        own = _used([server], own=True)
        return {"server": own, "readers": whole - own, "postgresql": _used(_postgres(self.database.dsn), own=False)}


@asynccontextmanager
async def serving(**environment: str) -> AsyncIterator[Server]:
    """A server on the embedded default with the demo left out. Its log is shown where it does not start."""
    with tempfile.TemporaryDirectory(prefix="tributary-bench-") as folder:
        data = Path(folder) / "data"
        data.mkdir()
        async with _started(data, environment) as (process, url), open_database(Settings.load(data=data)) as database:
            identity = PostgresIdentity(database)
            organisation = await identity.ensure_organisation("bench")
            _, key = await identity.create_key(organisation.id, scope=Scope.FULL)
            headers = {"Authorization": f"Bearer {key}"}
            async with httpx.AsyncClient(base_url=url, headers=headers, timeout=600.0) as client:
                yield Server(client, database, organisation, process)


@asynccontextmanager
async def _started(data: Path, environment: dict[str, str]) -> AsyncIterator[tuple[Process, str]]:
    log = data.parent / "server.log"
    with log.open("wb") as errors:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tributary.cli.main", "serve", "--port", "0", "--no-demo", "--data", str(data)),
            env={**os.environ, **environment},
            stdout=PIPE,
            stderr=errors,
        )
    assert process.stdout is not None
    try:
        async for line in process.stdout:
            if found := _READY.search(line.decode()):
                yield process, found[1]
                return
        raise RuntimeError(f"the server did not start: {log.read_text()}")
    finally:
        with suppress(ProcessLookupError):
            process.terminate()
        await process.wait()


def _postgres(dsn: str) -> list[psutil.Process]:
    """The postmaster whose socket or port the connection string names, with its backends."""
    folders = re.findall(r"host=([^&\s]+)", dsn)
    found = []
    for process in psutil.process_iter(["name", "cmdline"]):
        command = " ".join(process.info["cmdline"] or ())
        if process.info["name"] == "postgres" and " -D " in command and any(each in command for each in folders):
            found += [process, *process.children(recursive=True)]
    return found


def _used(processes: Sequence[psutil.Process], *, own: bool) -> float:
    """Seconds of processor; unless only their `own`, with those of their children that have ended."""
    total = 0.0
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            total += times.user + times.system
            total += 0.0 if own else times.children_user + times.children_system
    return total
