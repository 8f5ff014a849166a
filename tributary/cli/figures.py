"""Figures of one process at an address of its own, for Prometheus: of a worker, which serves nothing else, and of
each of several servers behind one port."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import uvicorn
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tributary.domain.errors import Conflict, InvalidRequest
from tributary.services import Services

#: Ports that are tried, from the one of the address on.
SIDE_BY_SIDE = 64
LAST_PORT = 65_535


class _Quiet(uvicorn.Server):
    """Leaves signals to the command that it serves beside."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def figures_of(services: Services) -> AsyncIterator[None]:
    """`/metrics` and `/healthz` at the address of the settings, for as long as the block runs; nothing without one.

    Raises:
        InvalidRequest: the address is none.
        Conflict: it can't be listened on.
    """
    address = services.settings.metrics_address
    if not address:
        yield
        return
    listener = _listen(address)
    config = uvicorn.Config(_app(services), log_config=None, log_level="warning", access_log=False, lifespan="off")
    server = _Quiet(config)
    serving = asyncio.create_task(server.serve(sockets=[listener]), name="figures")
    try:
        yield
    finally:
        server.should_exit = True
        await asyncio.wait({serving})


def _listen(address: str) -> socket.socket:
    """On the first port that is free, so that processes started alike stand side by side."""
    host, _, first = address.rpartition(":")
    if not host or not first.isdigit() or not 0 < int(first) <= LAST_PORT:
        raise InvalidRequest(f"TRIBUTARY_METRICS_ADDRESS is {address!r}, and has to be HOST:PORT")
    problem = OSError()
    for port in range(int(first), min(int(first) + SIDE_BY_SIDE, LAST_PORT + 1)):
        try:
            return socket.create_server((host.strip("[]"), port), family=_family(host))
        except OSError as error:
            problem = error
    raise Conflict(f"{address} can't be listened on: {problem.strerror}") from problem


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def _app(services: Services) -> Starlette:
    async def metrics(_: Request) -> Response:
        return Response(await services.gauges.exposition(), headers={"Content-Type": CONTENT_TYPE_LATEST})

    async def healthz(_: Request) -> Response:
        return JSONResponse({"status": "ok"})

    return Starlette(routes=[Route("/metrics", metrics), Route("/healthz", healthz)])
