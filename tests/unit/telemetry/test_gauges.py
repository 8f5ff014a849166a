import asyncio
import contextlib
import socket
from collections.abc import Mapping
from types import SimpleNamespace
from typing import cast

import httpx
import pytest

from tributary.cli.figures import figures_of
from tributary.domain.errors import Conflict, DependencyUnavailable, InvalidRequest
from tributary.services import Services
from tributary.telemetry.gauges import Gauges


class Queue:
    """A queue that counts how often it is asked."""

    def __init__(self) -> None:
        self.asked = 0
        self.away = False

    async def depth(self) -> Mapping[str, int]:
        self.asked += 1
        if self.away:
            raise DependencyUnavailable("away")
        return {"waiting": 7, "working": 1}


def gauges_of(queue: Queue, *, fresh: float = 60) -> Gauges:
    return Gauges(lambda: {"stores": {"in_use": 2, "idle": 1, "waiting": 3}}, queue.depth, fresh=fresh)


async def test_pools_and_the_queue_are_told() -> None:
    text = (await gauges_of(Queue()).exposition()).decode()
    assert 'tributary_pool_connections{pool="stores",state="in_use"} 2.0' in text
    assert 'tributary_pool_waiting{pool="stores"} 3.0' in text
    assert 'tributary_ingestion_queue{state="waiting"} 7.0' in text
    assert text.count("# TYPE tributary_turns_total") == 1


async def test_the_tasks_of_the_event_loop_are_counted() -> None:
    waiting = asyncio.create_task(asyncio.Event().wait())
    gauges = gauges_of(Queue())
    with_it = (await gauges.exposition()).decode()
    waiting.cancel()
    await asyncio.wait({waiting})
    without = (await gauges.exposition()).decode()
    assert _tasks(with_it) == _tasks(without) + 1


def _tasks(text: str) -> int:
    [line] = [each for each in text.splitlines() if each.startswith("tributary_event_loop_tasks ")]
    return int(float(line.split()[1]))


async def test_however_often_it_is_scraped_the_database_is_asked_now_and_then() -> None:
    queue = Queue()
    gauges = gauges_of(queue)
    for _ in range(20):
        await gauges.exposition()
    assert queue.asked == 1


async def test_without_the_database_the_rest_is_told_and_no_old_length() -> None:
    queue = Queue()
    gauges = gauges_of(queue, fresh=0)
    await gauges.exposition()
    queue.away = True
    text = (await gauges.exposition()).decode()
    assert "tributary_pool_connections" in text
    assert "tributary_ingestion_queue" not in text


def _services(address: str | None) -> Services:
    settings = SimpleNamespace(metrics_address=address)
    return cast("Services", SimpleNamespace(settings=settings, gauges=gauges_of(Queue())))


async def test_a_worker_gives_its_figures_at_an_address_of_its_own() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    async with figures_of(_services(address)), httpx.AsyncClient(base_url=f"http://{address}") as client:
        assert "tributary_ingestion_queue" in (await client.get("/metrics")).text
        assert (await client.get("/healthz")).json() == {"status": "ok"}


async def test_processes_that_are_started_alike_stand_side_by_side() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        async with figures_of(_services(f"127.0.0.1:{port}")), httpx.AsyncClient() as client:
            for each in range(port + 1, port + 64):
                with contextlib.suppress(httpx.HTTPError):
                    found = await client.get(f"http://127.0.0.1:{each}/metrics")
                    break
            assert "tributary_ingestion_queue" in found.text


@pytest.mark.parametrize("address", ["9100", "localhost", "127.0.0.1:0", "127.0.0.1:99999", ":x"])
async def test_an_address_that_is_none_is_said(address: str) -> None:
    with pytest.raises(InvalidRequest, match="HOST:PORT"):
        async with figures_of(_services(address)):
            pass


async def test_an_address_of_another_machine_is_said() -> None:
    with pytest.raises(Conflict, match="can't be listened on"):
        async with figures_of(_services("192.0.2.1:9100")):
            pass
