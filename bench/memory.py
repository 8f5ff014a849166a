"""Memory of processes as it adds up: what several share counts once among them (PSS, on Linux)."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

import psutil

#: Seconds between two looks.
PACE = 0.05


def megabytes(processes: Sequence[psutil.Process]) -> float:
    """Of all together; those that have ended count nothing."""
    return sum(_bytes(process) for process in processes) / 2**20


def family(process_id: int) -> list[psutil.Process]:
    """A process with all that it started."""
    try:
        process = psutil.Process(process_id)
        return [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def _bytes(process: psutil.Process) -> int:
    with suppress(psutil.NoSuchProcess):
        found = process.memory_full_info()
        return int(getattr(found, "pss", found.rss))
    return 0


@dataclass
class Growth:
    """In MB, by part. `before` is what there was when the watch began."""

    before: dict[str, float]
    most: dict[str, float]

    def of(self, part: str) -> float:
        return self.most[part] - self.before[part]


@asynccontextmanager
async def watched(look: Callable[[], dict[str, float]]) -> AsyncIterator[Growth]:
    """The most that `look` gives of each part while the block runs. It is asked in a thread."""
    before = await asyncio.to_thread(look)
    growth = Growth(before, dict(before))

    async def watch() -> None:
        while True:
            for part, size in (await asyncio.to_thread(look)).items():
                growth.most[part] = max(growth.most[part], size)
            await asyncio.sleep(PACE)

    watching = asyncio.create_task(watch())
    try:
        yield growth
    finally:
        watching.cancel()
        await asyncio.wait({watching})
