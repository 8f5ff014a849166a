"""What a turn is measured against: the least that answers a question at all, and the least that does it with LangGraph.

    python -m bench.floors bare|langserve --dsn DSN --provider URL

Both embed the question, find the five nearest of a table of chunks, and call the chat model, over the clients that
Tributary uses. `bare` is one FastAPI handler, with another beside it that only calls the model. `langserve` is a graph
of three nodes with a PostgreSQL checkpointer, as LangServe serves it. Neither knows organisations, words, graphs, maps,
citations, or a conversation that two messages reach at once.
"""

import argparse
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

from fastapi import FastAPI, Request
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.graph import END, START, StateGraph
from langserve import add_routes
from pgvector.psycopg import register_vector_async
from psycopg import AsyncConnection
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool
from pydantic import BaseModel
from typing_extensions import TypedDict

from bench.instant import MODEL, serve
from stores.postgres.vector_values import half_vector
from tributary.models.embeddings import TextEmbedders
from tributary.models.protocols import TextEmbedder
from tributary.settings import Settings

_NEAREST = "SELECT id, content FROM floor_chunks ORDER BY embedding <=> %b LIMIT 5"


class Question(BaseModel):
    """What is asked."""

    message: str


class Turn(TypedDict, total=False):
    """State of the graph of three nodes."""

    message: str
    vector: list[float]
    chunks: list[str]
    answer: str


class Clients:
    """What both floors call."""

    def __init__(self, dsn: str, provider: str) -> None:
        os.environ["OPENAI_BASE_URL"] = provider
        os.environ["OPENAI_API_KEY"] = "instant"
        sizes: dict[str, Any] = {"open": False, "min_size": 4, "max_size": 16}
        self.pool = AsyncConnectionPool(dsn, configure=register_vector_async, kwargs={"autocommit": True}, **sizes)
        self.checkpoints: AsyncConnectionPool[AsyncConnection[DictRow]] = AsyncConnectionPool(
            dsn, kwargs={"autocommit": True, "row_factory": dict_row}, **sizes
        )
        self.model = ChatOpenAI(model=MODEL)
        self._embedders = TextEmbedders(Settings.load())
        self.embedder: TextEmbedder | None = None

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        self.embedder = await self._embedders.prepare(f"openai/{MODEL}")
        async with self.pool, self.checkpoints:
            yield
        await self._embedders.aclose()

    async def embed(self, text: str) -> Any:
        assert self.embedder is not None
        return await self.embedder.embed_query(text)

    async def nearest(self, vector: Any) -> list[str]:
        async with self.pool.connection() as connection:
            rows = await (await connection.execute(_NEAREST, [half_vector(vector)])).fetchall()
        return [content for _, content in rows]

    async def answer(self, message: str, chunks: list[str]) -> str:
        numbered = "\n\n".join(f"[{number}] {chunk}" for number, chunk in enumerate(chunks, 1))
        reply = await self.model.ainvoke([("system", f"Answer from these.\n\n{numbered}"), ("human", message)])
        return str(reply.content)


def bare(clients: Clients) -> FastAPI:
    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with clients.opened():
            yield

    application = FastAPI(lifespan=lifespan)

    @application.post("/chat")
    async def chat(question: Question) -> dict[str, Any]:
        chunks = await clients.nearest(await clients.embed(question.message))
        return {"message": await clients.answer(question.message, chunks), "sources": chunks}

    @application.post("/answer")
    async def answer(question: Question) -> dict[str, Any]:
        return {"message": await clients.answer(question.message, [])}

    return application


def langserve(clients: Clients) -> FastAPI:
    import numpy as np

    async def embed(state: Turn) -> Turn:
        return {"vector": (await clients.embed(state["message"])).tolist()}

    async def search(state: Turn) -> Turn:
        return {"chunks": await clients.nearest(np.asarray(state["vector"], np.float32))}

    async def respond(state: Turn) -> Turn:
        return {"answer": await clients.answer(state["message"], state["chunks"])}

    builder = StateGraph(Turn)
    for name, node in (("embed", embed), ("search", search), ("respond", respond)):
        builder.add_node(name, node)
    builder.add_edge(START, "embed")
    builder.add_edge("embed", "search")
    builder.add_edge("search", "respond")
    builder.add_edge("respond", END)

    def with_thread(config: dict[str, Any], _: Request) -> dict[str, Any]:
        return {**config, "configurable": {"thread_id": str(uuid4())}}

    @asynccontextmanager
    async def lifespan(application: FastAPI) -> AsyncIterator[None]:
        async with clients.opened():
            # It belongs to the event loop that it is made on.
            saver = AsyncPostgresSaver(clients.checkpoints)
            await saver.setup()
            graph = builder.compile(checkpointer=saver).with_types(input_type=Turn)
            add_routes(application, graph, path="/graph", per_req_config_modifier=with_thread)
            yield

    return FastAPI(lifespan=lifespan)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("floor", choices=("bare", "langserve"))
    parser.add_argument("--dsn", required=True)
    parser.add_argument("--provider", required=True, help="base address of an OpenAI-compatible server")
    options = parser.parse_args()
    clients = Clients(options.dsn, options.provider)
    serve(bare(clients) if options.floor == "bare" else langserve(clients), 0)


if __name__ == "__main__":
    main()
