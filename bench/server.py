"""A real server for benchmarks: `tributary serve` in a process of its own, and what it uses of the machine."""

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

from bench.harness import running
from bench.memory import family, megabytes
from stores.postgres.database import Database
from stores.postgres.identity import PostgresIdentity
from tributary.domain.identity import Organisation, Scope
from tributary.services import open_database
from tributary.settings import Settings

#: The chat model and the embedding of `bench.instant`.
INSTANT = "openai/instant"
COMMAND = "tributary.cli.main"
_READY = re.compile(r"Tributary ready at (http://\S+)")


@dataclass(frozen=True)
class Server:
    """A running server, an organisation of it, and the way into its database."""

    client: httpx.AsyncClient
    database: Database
    organisation: Organisation
    process: Process
    data: Path

    @property
    def url(self) -> str:
        return str(self.client.base_url).rstrip("/")

    @property
    def authorization(self) -> dict[str, str]:
        """The header of the organisation's key."""
        return {"authorization": self.client.headers["authorization"]}

    def processor_seconds(self) -> dict[str, float]:
        """What the server's processes have used so far: the server itself, its children that read files, and
        PostgreSQL as a whole."""
        server = psutil.Process(self.process.pid)
        whole = _used([server, *server.children(recursive=True)], own=False)
        own = _used([server], own=True)
        return {"server": own, "readers": whole - own, "postgresql": _used(postgres_of(self.data), own=False)}

    def memory(self) -> dict[str, float]:
        """MB of the same parts."""
        return memory_of(self.process.pid, self.data)

    async def new_bot(self, bases: Sequence[str], *, model: str = INSTANT) -> str:
        """The id of a bot that knows these knowledge bases."""
        body = {"name": "bench", "knowledgeBaseIds": list(bases), "model": model}
        made = await self.client.post("/api/bots", json=body)
        return str(made.raise_for_status().json()["id"])


@dataclass(frozen=True)
class Started:
    """A server that serves, what it has printed until then, and where it listens."""

    process: Process
    url: str
    printed: str


@asynccontextmanager
async def serving(*, command: Sequence[str] = (COMMAND,), **environment: str) -> AsyncIterator[Server]:
    """A server on the embedded default with the demo left out. Its log is shown where it does not start. `command` is
    the module that serves, with what stands before its own arguments."""
    with tempfile.TemporaryDirectory(prefix="tributary-bench-") as folder:
        data = Path(folder) / "data"
        async with (
            started(data, environment, command=command) as server,
            open_database(Settings.load(data=data)) as database,
        ):
            identity = PostgresIdentity(database)
            organisation = await identity.ensure_organisation("bench")
            _, key = await identity.create_key(organisation.id, scope=Scope.FULL)
            headers = {"Authorization": f"Bearer {key}"}
            async with httpx.AsyncClient(base_url=server.url, headers=headers, timeout=600.0) as client:
                yield Server(client, database, organisation, server.process, data)


@asynccontextmanager
async def serving_on_instant(
    *, command: Sequence[str] = (COMMAND,), chat_ms: float = 0, embedding_ms: float = 0, **environment: str
) -> AsyncIterator[tuple[Server, str]]:
    """The same, whose models are those of `bench.instant`, and the address of that."""
    latencies = "--chat-ms", str(chat_ms), "--embedding-ms", str(embedding_ms)
    async with running("bench.instant", *latencies) as (provider, _):
        environment |= {
            "OPENAI_BASE_URL": provider,
            "OPENAI_API_KEY": "instant",
            "TRIBUTARY_CHAT_MODEL": INSTANT,
            "TRIBUTARY_EMBEDDING": INSTANT,
        }
        async with serving(command=command, **environment) as server:
            yield server, provider


@asynccontextmanager
async def started(
    data: Path, environment: dict[str, str], *, command: Sequence[str] = (COMMAND,), demo: bool = False
) -> AsyncIterator[Started]:
    """`serve` on a data folder, which is made where it is new."""
    data.mkdir(exist_ok=True)
    log = data.parent / "server.log"
    arguments = "serve", "--port", "0", "--demo" if demo else "--no-demo", "--data", str(data)
    with log.open("wb") as errors:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", *command, *arguments), env=os.environ | environment, stdout=PIPE, stderr=errors
        )
    assert process.stdout is not None
    printed = ""
    try:
        async for line in process.stdout:
            printed += line.decode()
            if found := _READY.search(printed):
                yield Started(process, found[1], printed)
                return
        raise RuntimeError(f"the server did not start: {log.read_text()}")
    finally:
        with suppress(ProcessLookupError):
            process.terminate()
        await process.wait()


def postgres_of(data: Path) -> list[psutil.Process]:
    """The postmaster of the embedded PostgreSQL of a data folder, with its backends."""
    folder = str(data / "postgres")
    found = []
    for process in psutil.process_iter(["name", "cmdline"]):
        command = process.info["cmdline"] or ()
        if process.info["name"] == "postgres" and "-D" in command and folder in command:
            found += [process, *process.children(recursive=True)]
    return found


def memory_of(process_id: int, data: Path) -> dict[str, float]:
    """MB of a server, of its children that read files, and of its PostgreSQL; what they share counts once."""
    server, *others = family(process_id)
    database = postgres_of(data)
    readers = [each for each in others if each not in database]
    return {"server": megabytes([server]), "readers": megabytes(readers), "postgresql": megabytes(database)}


def _used(processes: Sequence[psutil.Process], *, own: bool) -> float:
    """Seconds of processor; unless only their `own`, with those of their children that have ended."""
    total = 0.0
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            total += times.user + times.system
            total += 0.0 if own else times.children_user + times.children_system
    return total
