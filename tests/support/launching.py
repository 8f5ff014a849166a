"""Real servers in processes of their own, as a newcomer starts them, and clients of them."""

import asyncio
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import httpx

from stores.postgres.database import Database
from stores.postgres.identity import PostgresIdentity
from stores.postgres.migrate import migrate
from tests.support.postgres import Server
from tributary.domain.identity import Scope

#: Prefixes of our settings: what a developer has set must not reach a test.
OURS = ("TRIBUTARY_", "OTEL_", "S3_", "NEO4J_", "OPENAI_", "OPENROUTER_", "GOOGLE_", "DATABASE_")
READY = re.compile(r"Tributary ready at (http://\S+)")


@dataclass
class Running:
    """A server process. `lines` is what it has printed up to its ready line."""

    url: str
    process: subprocess.Popen[str]
    lines: list[str]

    def client(self, key: str, *, timeout: float = 120.0) -> httpx.Client:
        return httpx.Client(base_url=self.url, headers={"Authorization": f"Bearer {key}"}, timeout=timeout)

    def kill(self) -> None:
        """As a power cut would."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        """As an operator would; the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=60)


class Launcher:
    """Starts servers on one data folder and one database (`""` for the embedded one), with a clean environment."""

    def __init__(self, data: Path, database: str, **environment: str) -> None:
        self.data = data
        self._environment = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
        if "TRIBUTARY_MODEL_CACHE" in os.environ:
            self._environment["TRIBUTARY_MODEL_CACHE"] = os.environ["TRIBUTARY_MODEL_CACHE"]
        self._environment.pop("PYTHONDONTWRITEBYTECODE", None)
        self._environment |= {"TRIBUTARY_DATA": str(data), **environment}
        if database:
            self._environment["DATABASE_URL"] = database
        self._running: list[Running] = []

    @property
    def environment(self) -> dict[str, str]:
        """That of its servers and commands, for other programs beside them."""
        return dict(self._environment)

    def command(self, *arguments: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
        """Runs a command of the command line to its end."""
        return subprocess.run(
            [sys.executable, "-m", "tributary.cli.main", *arguments],
            env=self._environment,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=170,
            check=False,
        )

    def key(self, organisation: str = "acme", scope: str = "full") -> str:
        """A new key, as `tributary keys create` makes it, without the second that a process takes to start."""
        return asyncio.run(_new_key(self._environment["DATABASE_URL"], organisation, Scope(scope)))

    def start(self, *arguments: str, demo: bool = False, environment: Mapping[str, str] | None = None) -> Running:
        path = self.data / f"server-{len(self._running)}.log"
        with path.open("w") as log:
            process = self._spawn(log, arguments, demo, environment or {})
        lines: list[str] = []
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line.rstrip("\n"))
            if found := READY.match(line):
                running = Running(found[1], process, lines)
                self._running.append(running)
                return running
        process.stdout.close()
        process.wait()
        raise AssertionError(f"the server ended before it was ready: {path.read_text()}")

    def _spawn(
        self, log: IO[str], arguments: Sequence[str], demo: bool, environment: Mapping[str, str]
    ) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [
                *(sys.executable, "-m", "tributary.cli.main", "serve", "--port", "0"),
                "--demo" if demo else "--no-demo",
                *arguments,
            ],
            env={**self._environment, **environment},
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )

    def beside(self, descriptor: int) -> subprocess.Popen[str]:
        """A server on a socket that somebody listens on, as `--processes` starts them; its stdin is its lifeline."""
        command = [sys.executable, "-m", "tributary.cli.main", "serve", "--no-demo", "--listener", str(descriptor)]
        pipe = subprocess.PIPE
        return subprocess.Popen(
            command, env=self._environment, pass_fds=[descriptor], stdin=pipe, stdout=pipe, text=True
        )

    def close(self) -> None:
        for running in self._running:
            if running.process.poll() is None:
                running.kill()
            if running.process.stdout is not None:
                running.process.stdout.close()


@dataclass(frozen=True)
class Shared:
    """A server that tests share which don't disturb each other: each uses an organisation of its own."""

    launcher: Launcher
    running: Running
    dsn: str


@contextmanager
def run_server(postgres: Server, data: Path, **environment: str) -> Iterator[Shared]:
    """A server on a database of its own, which goes with it."""
    dsn = postgres.clone()
    launcher = Launcher(data, dsn, **environment)
    try:
        yield Shared(launcher, launcher.start(), dsn)
    finally:
        launcher.close()
        postgres.drop(dsn)


async def _new_key(dsn: str, organisation: str, scope: Scope) -> str:
    database = Database(dsn, role=(await migrate(dsn, dsn)).role, pool_size=2)
    await database.open()
    try:
        identity = PostgresIdentity(database)
        owner = await identity.ensure_organisation(organisation)
        _, secret = await identity.create_key(owner.id, scope=scope)
        return secret
    finally:
        await database.close()
