"""`tributary serve --processes N`: several servers on one port, started again when one dies."""

import asyncio
import logging
import os
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field

import typer

from tributary.domain.errors import DependencyUnavailable
from tributary.services import open_database
from tributary.settings import Settings

logger = logging.getLogger(__name__)

#: Begins the line that a server prints when it serves.
READY = "Tributary ready at "
#: Seconds before a server that died is started again; each further death in a row doubles them.
_FIRST_PAUSE = 1.0
_LONGEST_PAUSE = 30.0


@dataclass
class _Flock:
    """The servers, all on one listening socket: it outlives each of them, so that no connection is refused while one is
    started again."""

    settings: Settings
    listener: socket.socket
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    alive: set[asyncio.subprocess.Process] = field(default_factory=set)

    async def serve(self, demo: bool, workers: int, ready: "asyncio.Future[None]") -> None:
        """One place of a server until the flock stops. `ready` is done when it serves for the first time."""
        pause = _FIRST_PAUSE
        while not self.stopping.is_set():
            server = await self._start(demo, workers)
            self.alive.add(server)
            if self.stopping.is_set():  # told while it was being started
                self.stop()
            served = await self._listen(server, ready)
            code = await server.wait()
            self.alive.discard(server)
            if self.stopping.is_set():
                break
            if not ready.done():
                raise DependencyUnavailable("A server did not start; the lines above say why")
            pause = _FIRST_PAUSE if served else min(2 * pause, _LONGEST_PAUSE)
            logger.error("a server ended with code %d and is started again in %.0f s", code, pause)
            with suppress(TimeoutError):
                await asyncio.wait_for(self.stopping.wait(), pause)

    def stop(self) -> None:
        """Tells all servers to let their turns finish."""
        self.stopping.set()
        for server in self.alive:
            with suppress(ProcessLookupError):
                server.terminate()

    async def _start(self, demo: bool, workers: int) -> asyncio.subprocess.Process:
        descriptor = self.listener.fileno()
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tributary.cli.main", "serve", "--listener", str(descriptor)),
            *("--data", str(self.settings.data), "--demo" if demo else "--no-demo"),
            env={**os.environ, "TRIBUTARY_WORKERS": str(workers)},
            pass_fds=(descriptor,),
            # Its end is how a server hears that nobody would stop it any more.
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            # A Ctrl-C reaches them by us alone, once.
            start_new_session=True,
        )

    async def _listen(self, server: asyncio.subprocess.Process, ready: "asyncio.Future[None]") -> bool:
        """Passes on what it prints, to its end, and says whether it has served."""
        assert server.stdout is not None
        served = False
        async for line in server.stdout:
            text = line.decode().rstrip("\n")
            if not text.startswith(READY):
                typer.echo(text)
                continue
            served = True
            if not ready.done():
                ready.set_result(None)
        return served


async def serve_together(settings: Settings, listener: socket.socket, address: str, *, demo: bool, count: int) -> None:
    """Serves with `count` processes until told to stop. The database is opened here first, so that it is migrated once
    and an embedded one outlives every server.

    Raises:
        Conflict: a newer version wrote the database.
        DependencyUnavailable: it can't be opened, or a server did not start.
    """
    async with open_database(settings):
        flock = _Flock(settings, listener)
        loop = asyncio.get_running_loop()
        for stop in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(stop, flock.stop)
        first, *others = shares(settings.workers, count)
        ready: list[asyncio.Future[None]] = [loop.create_future() for _ in range(count)]
        servers = [asyncio.create_task(flock.serve(demo, first, ready[0]))]
        # The first one makes the demo; the others find it made.
        await asyncio.wait((ready[0], servers[0]), return_when=asyncio.FIRST_COMPLETED)
        servers += [
            asyncio.create_task(flock.serve(False, workers, each))
            for workers, each in zip(others, ready[1:], strict=True)
        ]
        everybody = asyncio.ensure_future(asyncio.wait(ready))
        try:
            await asyncio.wait((everybody, *servers), return_when=asyncio.FIRST_COMPLETED)
            if everybody.done():
                typer.echo(f"{READY}{address}")
            await asyncio.gather(*servers)
        finally:
            everybody.cancel()
            flock.stop()
            await asyncio.gather(*servers, return_exceptions=True)


def shares(workers: int, count: int) -> Iterator[int]:
    """How many documents each server ingests at a time, so that together they ingest as many as were asked for."""
    for place in range(count):
        yield workers // count + (place < workers % count)
