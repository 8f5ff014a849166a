"""What the timed benchmarks share: rounds in turn, medians and spread, and a client that costs little."""

import asyncio
import itertools
import statistics
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpcore
import orjson


@dataclass
class Timings:
    """What the rounds of one system gave. Times in seconds."""

    alone: list[list[float]] = field(default_factory=list)
    beside: list[list[float]] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)

    @property
    def p50(self) -> float:
        return statistics.median(percentile(times, 50) for times in self.alone)

    @property
    def apart(self) -> float:
        """The largest distance of a round's median from that of all."""
        return spread([percentile(times, 50) for times in self.alone])

    @property
    def p95(self) -> float:
        return statistics.median(percentile(times, 95) for times in self.alone)

    @property
    def beside_p95(self) -> float:
        return statistics.median(percentile(times, 95) for times in self.beside)

    @property
    def rate(self) -> float:
        """Requests a second in parallel."""
        return statistics.median(self.rates)


def percentile(times: Sequence[float], share: int) -> float:
    if len(times) == 1:
        return times[0]
    return statistics.quantiles(times, n=100, method="inclusive")[share - 1]


def spread(values: Sequence[float]) -> float:
    """The largest distance from the median, as a share of it."""
    middle = statistics.median(values)
    return max(abs(value - middle) for value in values) / middle


class Client:
    """JSON over HTTP/1.1 on connections that are kept: what is measured is not the client."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        self._pool = httpcore.AsyncConnectionPool(max_connections=64)
        self._headers = [(b"content-type", b"application/json")]
        self._headers += [(name.encode(), value.encode()) for name, value in headers.items()]

    async def post(self, url: str, body: Mapping[str, Any]) -> Any:
        """Raises `RuntimeError` for anything but a 2xx."""
        answer = await self._pool.request("POST", url, headers=self._headers, content=orjson.dumps(body))
        if answer.status >= 300:
            raise RuntimeError(f"{url}: {answer.status} {answer.content[:500]!r}")
        return orjson.loads(answer.content)

    async def first(self, url: str, body: Mapping[str, Any], mark: bytes) -> float:
        """Seconds until `mark` arrives in a stream, which is then read to its end."""
        began, seen, tail = time.perf_counter(), 0.0, b""
        headers = [*self._headers, (b"accept", b"text/event-stream")]
        async with self._pool.stream("POST", url, headers=headers, content=orjson.dumps(body)) as answer:
            async for part in answer.aiter_stream():
                tail = (tail + part)[-4096:]
                if not seen and mark in tail:
                    seen = time.perf_counter() - began
        if not seen:
            raise RuntimeError(f"{url}: no {mark!r} in the stream, which ended with {tail!r}")
        return seen

    async def aclose(self) -> None:
        await self._pool.aclose()


Call = Callable[[], Awaitable[object]]


async def one_by_one(call: Call, count: int) -> list[float]:
    """Seconds of each call."""
    return [await _timed(call) for _ in range(count)]


async def side_by_side(call: Call, count: int, parallel: int) -> tuple[list[float], float]:
    """Seconds of each call, and calls a second, with `parallel` of them under way all the time."""
    numbers = itertools.count()
    times: list[float] = []

    async def work() -> None:
        while next(numbers) < count:
            times.append(await _timed(call))

    began = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for _ in range(parallel):
            group.create_task(work())
    return times, len(times) / (time.perf_counter() - began)


async def _timed(call: Call) -> float:
    began = time.perf_counter()
    await call()
    return time.perf_counter() - began


@asynccontextmanager
async def running(*arguments: str, environment: Mapping[str, str] | None = None) -> AsyncIterator[tuple[str, int]]:
    """A module of ours in a process of its own: the address that its last word of `ready at …` names, and its id."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", *arguments),
        env=dict(environment) if environment else None,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        line = (await process.stdout.readline()).decode()
        if not line.startswith("ready at "):
            raise RuntimeError(f"{arguments[0]} did not start: {line!r}")
        yield line.split()[-1], process.pid
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()
