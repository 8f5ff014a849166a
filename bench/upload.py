"""How fast do large files come in, beside what the disk takes, and what do they cost in memory?

    python -m bench.upload [--rounds 3] [--megabytes 50] [--parallel 20]

Files go to `tributary serve` over HTTP, one alone and many at once, and are recordings (WAV), whose bytes are looked at
quickly: what is measured is receiving, hashing, and putting on the disk. In each round the same bytes are written to
the same disk, by as many threads, each file synced (`fsync`) and nothing else done.
"""

import argparse
import asyncio
import io
import os
import statistics
import time
import wave
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

import orjson

from bench.figures import Bound, Figure, Report
from bench.harness import spread
from bench.memory import family, megabytes, watched
from bench.server import Server, serving
from bench.steps import Steps, bench_parser, run

PIECE = 2**20
#: MB by which one upload may make the server grow, however large it is.
MEMORY_BOUND = Bound(8.0)
_BOUNDARY = b"tributary-bench"
_HEAD = (
    b"--" + _BOUNDARY + b'\r\nContent-Disposition: form-data; name="files"; filename="recording.wav"\r\n'
    b"Content-Type: audio/wav\r\n\r\n"
)
_TAIL = b"\r\n--" + _BOUNDARY + b"--\r\n"


@dataclass
class Rates:
    """MB a second of the rounds, and MB by which the server and its readers grew in each."""

    server: list[float] = field(default_factory=list)
    disk: list[float] = field(default_factory=list)
    growth: list[float] = field(default_factory=list)
    readers: list[float] = field(default_factory=list)


def recording(size: int) -> bytes:
    """A WAV of so many bytes that don't compress."""
    content = io.BytesIO()
    with wave.open(content, "wb") as sound:
        sound.setparams((1, 2, 44_100, 0, "NONE", ""))
        sound.writeframes(os.urandom(size - 44 - size % 2))
    return content.getvalue()


async def upload(server: Server, content: bytes) -> dict[str, str]:
    """The stored file's claim. Over a bare socket: a client that parses and copies would take the server's share of
    the processor."""
    host, _, port = server.url.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(
        b"POST /api/bot/attachments/upload HTTP/1.1\r\nHost: bench\r\nConnection: close\r\n"
        b"Authorization: " + server.authorization["authorization"].encode() + b"\r\n"
        b"Content-Type: multipart/form-data; boundary=" + _BOUNDARY + b"\r\n"
        b"Content-Length: " + str(len(_HEAD) + len(content) + len(_TAIL)).encode() + b"\r\n\r\n" + _HEAD
    )
    view = memoryview(content)
    for start in range(0, len(content), PIECE):
        writer.write(view[start : start + PIECE])
        await writer.drain()
    writer.write(_TAIL)
    head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    writer.close()
    if b" 201 " not in head[:20]:
        raise RuntimeError(f"an upload was refused: {head[:200]!r} {body[:500]!r}")
    stored = orjson.loads(body)
    return {"id": stored["id"], "accessToken": stored["accessToken"]}


async def send(server: Server, content: bytes, count: int) -> float:
    """Seconds of so many uploads side by side. The files are removed again."""
    began = time.perf_counter()
    claims = await asyncio.gather(*(upload(server, content) for _ in range(count)))
    seconds = time.perf_counter() - began
    for claim in claims:
        path = f"/api/bot/attachments/{claim['id']}?token={claim['accessToken']}"
        (await server.client.delete(path)).raise_for_status()
    return seconds


def write(folder: Path, content: bytes, count: int) -> float:
    """Seconds of writing so many files side by side, each synced."""
    paths = [folder / uuid4().hex for _ in range(count)]

    def write_one(path: Path) -> None:
        view = memoryview(content)
        with path.open("xb") as file:
            for start in range(0, len(content), PIECE):
                file.write(view[start : start + PIECE])
            file.flush()
            os.fsync(file.fileno())

    with ThreadPoolExecutor(count) as pool:
        began = time.perf_counter()
        list(pool.map(write_one, paths))
        seconds = time.perf_counter() - began
    for path in paths:
        path.unlink()
    return seconds


async def measure(options: argparse.Namespace, steps: Steps) -> Report:
    steps.expect(1 + 4 * options.rounds)
    content = recording(options.megabytes * 2**20)
    alone, together = Rates(), Rates()
    async with serving() as server:
        steps.begin("warming")
        await send(server, content, 2)
        await asyncio.to_thread(write, server.data, content, 1)
        steps.advance()
        for number in range(options.rounds):
            for rates, count in ((alone, 1), (together, options.parallel)):
                steps.begin(f"round {number + 1}, {count} at once")
                await one_round(server, content, count, rates)
                steps.advance(2)
    return report(alone, together, options)


async def one_round(server: Server, content: bytes, count: int, rates: Rates) -> None:
    size = count * len(content) / 2**20
    rates.disk.append(size / await asyncio.to_thread(write, server.data, content, count))
    async with watched(lambda: _memory(server)) as growth:
        rates.server.append(size / await send(server, content, count))
    rates.growth.append(growth.of("server"))
    rates.readers.append(growth.of("readers"))


def _memory(server: Server) -> dict[str, float]:
    own, *readers = family(server.process.pid)
    return {"server": megabytes([own]), "readers": megabytes(readers)}


def report(alone: Rates, together: Rates, options: argparse.Namespace) -> Report:
    size, many = f"{options.megabytes} MB", f"{options.parallel} × {options.megabytes} MB at once"
    figures: list[Figure] = []
    for name, rates, bound in ((f"{size} alone", alone, MEMORY_BOUND), (many, together, None)):
        ratios = [mine / disk for mine, disk in zip(rates.server, rates.disk, strict=True)]
        figures += [
            _median(f"upload: {name}", rates.server, "MB/s"),
            _median(f"upload: {name} ÷ the same bytes written and synced", ratios, "×"),
            Figure(f"upload: {name}, growth of the server at its peak", max(rates.growth), "MB", bound),
        ]
    details = {"alone": vars(alone), "together": vars(together)}
    return Report("upload", figures, details)


def _median(name: str, values: Sequence[float], unit: str) -> Figure:
    return Figure(name, statistics.median(values), unit, None, spread(values))


def main() -> None:
    parser = bench_parser("upload", __doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--megabytes", type=int, default=50)
    parser.add_argument("--parallel", type=int, default=20)
    run(parser, measure)


if __name__ == "__main__":
    main()
