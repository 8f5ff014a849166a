"""`tributary serve`: the server on one socket, with the demo on a first start."""

import asyncio
import gc
import json
import math
import signal
import socket
import sys

import typer
import uvicorn
from fastapi import FastAPI

from server import create_app, drain
from tributary.cli.figures import figures_of
from tributary.cli.options import console
from tributary.cli.processes import READY, serve_together
from tributary.demo.setup import Demo, set_up_demo
from tributary.domain.errors import Conflict, DependencyUnavailable, NotFound, TributaryError
from tributary.services import Services
from tributary.settings import Settings

#: Seconds beyond the grace in which those who listen hear how their turns ended.
LAST_WORDS = 5
#: Objects that are new before the garbage collector looks through them.
YOUNG = 10_000


class _Server(uvicorn.Server):
    """Lets turns finish while it waits for the connections that hear of them."""

    def __init__(self, app: FastAPI, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._app = app

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        try:
            await super().startup(sockets)
        except SystemExit as error:
            refusal: TributaryError | None = getattr(self._app.state, "refusal", None)
            raise refusal or DependencyUnavailable("The server did not start; the lines above say why") from error

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        draining = asyncio.ensure_future(drain(self._app))
        await super().shutdown(sockets)
        if self.force_exit:  # a second Ctrl-C
            draining.cancel()
        await asyncio.wait({draining})


async def serve(settings: Settings, *, host: str, port: int, demo: bool, processes: int = 1) -> None:
    """Serves until it is told to stop, with as many processes.

    Raises:
        Conflict: the port is taken, or a newer version wrote the database.
        DependencyUnavailable: the services could not be opened.
    """
    listener = _listen(host, port)
    if processes > 1:
        await serve_together(settings, listener, _address(listener), demo=demo, count=processes)
    else:
        await _serve(settings, listener, demo=demo)


async def serve_beside(settings: Settings, descriptor: int, *, demo: bool) -> None:
    """Serves as one of several, on a socket that it was started with, until the process that started it ends."""
    parent = asyncio.create_task(_parent_gone())
    serving = asyncio.create_task(_serve(settings, socket.socket(fileno=descriptor), demo=demo))
    await asyncio.wait((parent, serving), return_when=asyncio.FIRST_COMPLETED)
    if not serving.done():
        signal.raise_signal(signal.SIGTERM)
    parent.cancel()
    await serving


async def _parent_gone() -> None:
    gone = asyncio.Event()
    asyncio.get_running_loop().add_reader(sys.stdin.fileno(), gone.set)
    await gone.wait()
    asyncio.get_running_loop().remove_reader(sys.stdin.fileno())


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def reachable(address: str) -> str:
    """An address that a browser on this machine can open, of a server that listens on all."""
    return address.replace("://0.0.0.0:", "://127.0.0.1:").replace("://[::]:", "://[::1]:")


async def _serve(settings: Settings, listener: socket.socket, *, demo: bool) -> None:
    address = _address(listener)
    app = create_app(settings)
    # uvicorn stops in good order and then raises the signal once more, for whoever stood here before it: nobody.
    for stop in (signal.SIGTERM, signal.SIGINT):
        signal.signal(stop, lambda *_: None)
    server = _Server(
        app,
        uvicorn.Config(
            app,
            # Its own access log holds queries, and with them tokens; its handlers know nothing of what to strike.
            log_config=None,
            log_level="warning",
            access_log=False,
            timeout_graceful_shutdown=math.ceil(settings.shutdown_grace) + LAST_WORDS,
        ),
    )
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        await _started(server, serving)
        if demo:
            await _show_demo(app, address)
            await _show_link(app, address)
        _spare_what_stays()
        async with figures_of(app.state.services):
            typer.echo(f"{READY}{address}")
            await serving
    finally:
        server.should_exit = True
        await asyncio.wait((serving,))


def _spare_what_stays() -> None:
    """Takes what starting has made, which lives as long as the process, out of the rounds of the garbage collector:
    looking through all of it once more stopped every turn for up to a fifth of a second, once in some seventy turns.
    A turn makes some thousand objects, most of which are gone when it ends: with the usual threshold of 700 they were
    looked through three times meanwhile."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG)


def _listen(host: str, port: int) -> socket.socket:
    """The socket before anything else is opened: a port that is taken is told at once."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise Conflict(f"{host}:{port} can't be listened on: {error.strerror}; try --port 0") from error
    return listener


async def _started(server: uvicorn.Server, serving: "asyncio.Task[None]") -> None:
    while not server.started:
        if serving.done():
            serving.result()
            raise DependencyUnavailable("The server did not start; the lines above say why")
        await asyncio.sleep(0.02)


async def _show_demo(app: FastAPI, address: str) -> None:
    services: Services = app.state.services
    with console.status("Making the demo: a knowledge base of our own texts, and a bot that knows it"):
        demo = await set_up_demo(services)
    if demo is not None:
        _introduce(demo, address)


async def _show_link(app: FastAPI, address: str) -> None:
    """The way into the page, where there is somebody to sign in as."""
    services: Services = app.state.services
    try:
        organisation = await services.identity.organisation_named(services.settings.organisation)
    except NotFound:
        return
    if link := await services.sign_in.offer(organisation.id):
        typer.echo(f"Open it in a browser, once, within the hour:\n\n  {reachable(address)}{link}\n")


def _introduce(demo: Demo, address: str) -> None:
    """A first answer, the key, and a request to paste."""
    console.print(f"\nAsked: {demo.question}\n", style="bold")
    console.print(demo.answer["message"])
    for source in demo.answer["sources"]:
        if source["cited"]:
            page = f", page {source['page']}" if source["page"] else ""
            console.print(f"  [{source['number']}] {source['source']}{page}")
    body = json.dumps({"message": "Which formats can I put into a knowledge base?"})
    typer.echo(
        f"\nAPI key of the organisation demo, shown this once:\n  {demo.key}\n\n"
        f"Ask the demo bot yourself:\n\n"
        f"  curl -s {address}/api/bots/{demo.bot_id}/chat \\\n"
        f"    -H 'Authorization: Bearer {demo.key}' \\\n"
        f"    -H 'Content-Type: application/json' \\\n"
        f"    -d '{body}'\n"
    )
