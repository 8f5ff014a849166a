"""HTTP assembly: the lifespan, the routes, and how errors become responses."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager

from fastapi import FastAPI
from sse_starlette.sse import AppStatus
from starlette.middleware.cors import CORSMiddleware

from tributary import __version__
from tributary.background import running
from tributary.domain.errors import TributaryError
from tributary.routes import (
    attachments,
    bots,
    chat,
    conversations,
    description,
    documents,
    events,
    graphs,
    health,
    knowledge,
    page,
    pages,
    problems,
    session,
    sign_in,
    sign_in_link,
    usage,
)
from tributary.routes.limits import BodyLimit
from tributary.routes.mcp import endpoint as mcp
from tributary.routes.observing import Observing
from tributary.routes.openai import routes as openai
from tributary.routes.served import router as served
from tributary.routes.served.runs import TEXT_HEADER
from tributary.services import Services, open_services
from tributary.settings import Settings

ROUTERS = (
    attachments.router,
    bots.router,
    chat.router,
    conversations.router,
    events.router,
    knowledge.router,
    graphs.router,
    documents.router,
    pages.router,
    usage.router,
    sign_in.router,
    sign_in_link.router,
    session.router,
    page.router,
    served.router,
    health.router,
    description.router,
    openai.router,
)

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]
#: Whoever embeds the application may share its services.
Opening = Callable[[Settings], AbstractAsyncContextManager[Services]]


def create_app(settings: Settings | None = None, *, opening: Opening = open_services) -> FastAPI:
    """The application. It opens its services when it starts, and lets running turns finish when it stops."""
    chosen = settings or Settings.load()
    app = FastAPI(
        title="Tributary",
        version=__version__,
        summary="Chat with your files and your knowledge bases, answered with citations.",
        openapi_url=None,  # see `routes.description`
        # Its own would put queries, and with them tokens of attachments, into spans.
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
        lifespan=_lifespan(chosen, opening),
    )
    if chosen.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=chosen.cors_origins,
            allow_methods=["*"],
            allow_headers=[
                *("Authorization", "Content-Type", "Idempotency-Key", "Prefer", problems.REQUEST_ID, "traceparent"),
                TEXT_HEADER,
                *mcp.HEADERS,
            ],
            expose_headers=["Retry-After", chat.CONVERSATION, problems.REQUEST_ID],
        )
    app.add_middleware(BodyLimit)
    problems.install(app)
    app.state.stopping = asyncio.Event()
    app.state.description = description.Description(app)
    # A stop lets running turns finish, and with them the streams that tell of them.
    AppStatus.disable_automatic_graceful_drain()  # type: ignore[no-untyped-call] # of sse-starlette
    for router in ROUTERS:
        app.include_router(router)
    app.state.mcp = mcp.McpEndpoint()
    app.add_route(mcp.PATH, app.state.mcp, include_in_schema=False)
    # The last one added is the outermost.
    app.add_middleware(Observing)
    return app


def _lifespan(settings: Settings, opening: Opening) -> Lifespan:
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            try:
                services = await stack.enter_async_context(opening(settings))
            except TributaryError as error:
                app.state.refusal = error  # uvicorn ends the process with a number; whoever started it wants the reason
                raise
            await stack.enter_async_context(app.state.mcp.serving())
            app.state.services = services
            await services.upkeep.round()
            async with running(_background(services)):
                yield
                await drain(app)

    return lifespan


async def drain(app: FastAPI) -> None:
    """Refuses what is new and lets running turns finish, for the grace of the settings; then the rest is interrupted.
    Whoever serves calls it as soon as a stop is asked for: a server that waits for its streams first would cut them."""
    app.state.stopping.set()
    services: Services = app.state.services
    grace = services.settings.shutdown_grace
    await asyncio.gather(services.turns.drain(grace), services.completions.drain(grace))


def _background(services: Services) -> dict[str, Callable[[], Awaitable[None]]]:
    """What runs beside the requests: upkeep, and the ingestion worker."""
    tasks: dict[str, Callable[[], Awaitable[None]]] = {"upkeep": services.upkeep.run}
    if services.settings.workers:
        tasks |= {"ingestion worker": services.worker.run, "indexing": services.indexing.run}
    return tasks
