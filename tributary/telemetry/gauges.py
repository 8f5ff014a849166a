"""Figures that are looked up when somebody asks for them: connections of pools, tasks, and the queue of documents."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping

from prometheus_client import REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily
from prometheus_client.registry import Collector

from tributary.domain.errors import DependencyError

#: Sizes of a pool by its name: `in_use`, `idle`, `waiting`.
PoolSizes = Mapping[str, Mapping[str, int]]

#: Seconds that the length of the queue is good for, and that asking for it may take.
FRESH = 10.0
LIMIT = 2.0


class Gauges(Collector):
    """Beside the figures that count themselves. `pools` answers from memory; `queue` asks the database, and its answer
    is kept for a while, so that no scraper is a load."""

    def __init__(
        self, pools: Callable[[], PoolSizes], queue: Callable[[], Awaitable[Mapping[str, int]]], *, fresh: float = FRESH
    ) -> None:
        self._pools = pools
        self._queue = queue
        self._fresh = fresh
        self._depth: Mapping[str, int] = {}
        self._asked = -fresh
        self._tasks = 0
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(self)

    async def exposition(self) -> bytes:
        """All figures of this process in Prometheus' text format. Without the database those of the queue are left
        out: an old length would look like a new one."""
        self._tasks = len(asyncio.all_tasks())
        if time.monotonic() - self._asked >= self._fresh:
            self._asked = time.monotonic()
            self._depth = await self._ask()
        return await asyncio.to_thread(lambda: generate_latest(REGISTRY) + generate_latest(self._registry))

    async def _ask(self) -> Mapping[str, int]:
        try:
            async with asyncio.timeout(LIMIT):
                return await self._queue()
        except (DependencyError, TimeoutError):
            return {}

    def collect(self) -> Iterator[GaugeMetricFamily]:
        connections = GaugeMetricFamily(
            "tributary_pool_connections", "Connections to PostgreSQL by pool", labels=("pool", "state")
        )
        waiting = GaugeMetricFamily(
            "tributary_pool_waiting", "Requests that wait for a connection of the pool", labels=("pool",)
        )
        for name, sizes in self._pools().items():
            connections.add_metric((name, "in_use"), sizes["in_use"])
            connections.add_metric((name, "idle"), sizes["idle"])
            waiting.add_metric((name,), sizes["waiting"])
        yield connections
        yield waiting
        tasks = GaugeMetricFamily("tributary_event_loop_tasks", "Tasks of the event loop that have not ended")
        tasks.add_metric((), self._tasks)
        yield tasks
        if self._depth:
            queue = GaugeMetricFamily("tributary_ingestion_queue", "Documents in the queue", labels=("state",))
            for state, count in self._depth.items():
                queue.add_metric((state,), count)
            yield queue
