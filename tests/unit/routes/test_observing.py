import asyncio
import logging
from collections.abc import AsyncIterator

import httpx
import pytest
from fastapi import APIRouter, FastAPI
from prometheus_client import REGISTRY
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from tributary.routes import problems
from tributary.routes.observing import Observing

router = APIRouter(prefix="/things")


@router.get("/{thing}")
async def see(thing: str) -> str:
    return thing


@router.get("/{thing}/bug")
async def fail(thing: str) -> str:
    raise ValueError(thing)


async def mounted(_: Request) -> PlainTextResponse:
    return PlainTextResponse("mounted")


@pytest.fixture
def app() -> FastAPI:
    app = FastAPI()
    app.state.stopping = asyncio.Event()
    problems.install(app)
    app.include_router(router)
    app.mount("/inner", Starlette(routes=[Route("/{name}", mounted)]))
    app.add_middleware(Observing)
    return app


@pytest.fixture
async def client(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        yield client


def counted(route: str, status: int, method: str = "GET") -> float:
    labels = {"route": route, "method": method, "status": str(status)}
    return REGISTRY.get_sample_value("tributary_http_requests_total", labels) or 0.0


@pytest.mark.parametrize(
    ("path", "route", "status"),
    [
        ("/things/secret", "/things/{thing}", 200),
        ("/things/secret/bug", "/things/{thing}/bug", 500),
        ("/inner/secret", "/inner/{name}", 200),
        ("/inner/a/b/secret", "/inner", 404),
        ("/secret", "unknown", 404),
    ],
)
async def test_requests_are_told_by_the_template_of_their_path(
    client: httpx.AsyncClient, caplog: pytest.LogCaptureFixture, path: str, route: str, status: int
) -> None:
    before = counted(route, status)
    with caplog.at_level(logging.DEBUG, logger="tributary.access"):
        assert (await client.get(path, params={"token": "secret"})).status_code == status
    assert counted(route, status) == before + 1
    access = [record for record in caplog.records if record.name == "tributary.access"]
    assert [record.getMessage().partition(" in ")[0] for record in access] == [f"GET {route} {status}"]
    assert "secret" not in str(access[0].__dict__)


async def test_the_answer_to_a_bug_names_the_request(client: httpx.AsyncClient) -> None:
    response = await client.get("/things/a/bug", headers={"X-Request-ID": "mine"})
    assert (response.status_code, response.headers["X-Request-ID"]) == (500, "mine")


async def test_a_server_that_stops_sends_new_requests_elsewhere(app: FastAPI, client: httpx.AsyncClient) -> None:
    app.state.stopping.set()
    response = await client.get("/things/a")
    assert (response.status_code, response.json()["code"]) == (503, "dependency_unavailable")
    assert response.headers["Retry-After"] == "2"
    assert response.headers["Connection"] == "close"
