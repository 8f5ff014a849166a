"""A stub of the model providers that keeps to their protocols: OpenAI, OpenRouter and the Gemini API over HTTP.

It refuses what the real ones refuse, in their error shapes; records every request as it came; and fails on command:

    with run_provider() as provider:
        settings = provider.settings(tmp_path)
        provider.answer = "Paris is the capital [1]."
        provider.next_chat(Refuse(429, retry_after="0"), None)   # first a refusal, then a normal answer
        ...
        assert provider.chats[-1].body["messages"][0]["role"] == "system"
"""

import asyncio
import json
import re
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from tests.support import provider_gemini as gemini
from tests.support.provider_faults import ErrorInside200, Fault, Garbage, Hold, Plan, Refuse
from tests.support.provider_gemini_rules import check_embed, check_generate
from tests.support.provider_models import MODELS
from tests.support.provider_openai import OpenAIDialect
from tests.support.provider_openai_rules import check_chat, check_embeddings
from tests.support.provider_rejection import Rejection
from tributary.settings import Settings

KEY = "sk-stub-0123456789abcdef"


@dataclass(frozen=True)
class Recorded:
    """A request as it came. Header names are in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    raw: bytes

    @property
    def body(self) -> dict[str, Any]:
        parsed: dict[str, Any] = json.loads(self.raw)
        return parsed


class ConnectionBroken(Exception):
    """Raised inside a response so that the server cuts the connection in the middle of it."""


@dataclass
class Provider:
    """The running stub: its addresses, what it was asked, and what it shall do next."""

    base_url: str = ""
    key: str = KEY
    answer: str | Callable[[dict[str, Any]], str] = "The stub answers."
    models: list[Any] = field(default_factory=lambda: list(MODELS))
    requests: list[Recorded] = field(default_factory=list)
    _chat: deque[Fault | None] = field(default_factory=deque)
    _embeddings: deque[Fault | None] = field(default_factory=deque)
    _models: deque[Fault | None] = field(default_factory=deque)
    _changed: threading.Condition = field(default_factory=threading.Condition)
    closing: bool = False
    #: Streams that are being sent right now.
    open_streams: int = 0

    @property
    def openrouter_url(self) -> str:
        return f"{self.base_url}/api/v1"

    @property
    def openai_url(self) -> str:
        return f"{self.base_url}/v1"

    def settings(self, data: Path, **overrides: Any) -> Settings:
        """Settings whose every provider is this stub, with keys; `overrides` by field name win."""
        fields: dict[str, Any] = {
            "data": data,
            "openrouter_api_key": self.key,
            "openrouter_base_url": self.openrouter_url,
            "openai_api_key": self.key,
            "openai_base_url": self.openai_url,
            "google_api_key": self.key,
            "google_base_url": self.base_url,
            "provider_timeout": 10.0,
        }
        return Settings(**(fields | overrides))

    def environment(self) -> dict[str, str]:
        """The same as environment variables, for a server in a process of its own."""
        return {
            "OPENROUTER_API_KEY": self.key,
            "OPENROUTER_BASE_URL": self.openrouter_url,
            "OPENAI_API_KEY": self.key,
            "OPENAI_BASE_URL": self.openai_url,
            "GOOGLE_API_KEY": self.key,
            "GOOGLE_BASE_URL": self.base_url,
        }

    def next_chat(self, *faults: Fault | None) -> None:
        """What the next chat calls meet, one each; None is a normal answer, and so is all that follows."""
        self._chat.extend(faults)

    def next_embeddings(self, *faults: Fault | None) -> None:
        """The same for calls that embed."""
        self._embeddings.extend(faults)

    def next_models(self, *faults: Fault | None) -> None:
        """The same for calls of the model list."""
        self._models.extend(faults)

    @property
    def chats(self) -> list[Recorded]:
        return [r for r in self.requests if r.path.endswith("/chat/completions") or "enerateContent" in r.path]

    @property
    def embeds(self) -> list[Recorded]:
        return [r for r in self.requests if r.path.endswith(("/embeddings", ":batchEmbedContents"))]

    @property
    def listings(self) -> list[Recorded]:
        return [r for r in self.requests if r.path.endswith("/models")]

    def wait_for_requests(self, count: int, timeout: float = 10.0) -> bool:
        """Blocks until `count` requests came in all; False after `timeout` seconds. Call it in a thread."""
        with self._changed:
            return self._changed.wait_for(lambda: len(self.requests) >= count, timeout)

    def wait_for_streams(self, count: int, timeout: float = 10.0) -> bool:
        """Blocks until just `count` streams are open; False after `timeout` seconds. Call it in a thread."""
        with self._changed:
            return self._changed.wait_for(lambda: self.open_streams == count, timeout)

    def count_stream(self, change: int) -> None:
        with self._changed:
            self.open_streams += change
            self._changed.notify_all()

    def reset(self) -> None:
        """Forgets requests, faults and answers: what a test gets is as new."""
        self.requests.clear()
        for queue in (self._chat, self._embeddings, self._models):
            queue.clear()
        self.answer, self.models, self.key = "The stub answers.", list(MODELS), KEY

    def pieces(self, body: dict[str, Any]) -> tuple[str, ...]:
        """The answer to a request, cut before each word as a model streams it."""
        text = self.answer(body) if callable(self.answer) else self.answer
        return tuple(re.findall(r"\s*\S+|\s+$", text))

    async def record(self, request: Request) -> Recorded:
        recorded = Recorded(request.method, request.url.path, dict(request.headers), await request.body())
        with self._changed:
            self.requests.append(recorded)
            self._changed.notify_all()
        return recorded

    def fault_of(self, kind: str) -> Fault | None:
        queue = {"chat": self._chat, "embeddings": self._embeddings, "models": self._models}[kind]
        return queue.popleft() if queue else None


@dataclass(frozen=True)
class _Routes:
    """The endpoints of one stub."""

    provider: Provider

    def all(self) -> list[Route]:
        # Clients of the Gemini API speak v1beta or v1, as their version likes; both are served.
        routes = [
            Route(f"/{version}/models/{{call:path}}", self.gemini, methods=["POST"]) for version in ("v1beta", "v1")
        ]
        for prefix, dialect in (("/api/v1", OpenAIDialect(openrouter=True)), ("/v1", OpenAIDialect(openrouter=False))):
            routes += [
                Route(f"{prefix}/chat/completions", self._endpoint(dialect, self.chat), methods=["POST"]),
                Route(f"{prefix}/embeddings", self._endpoint(dialect, self.embeddings), methods=["POST"]),
                Route(f"{prefix}/models", self._endpoint(dialect, self.list_models), methods=["GET"]),
            ]
        return routes

    @staticmethod
    def _endpoint(dialect: OpenAIDialect, handler: Any) -> Callable[[Request], Any]:
        async def endpoint(request: Request) -> Response:
            response: Response = await handler(dialect, request)
            return response

        return endpoint

    def _key_of(self, recorded: Recorded) -> str:
        return recorded.headers.get("authorization", "").removeprefix("Bearer ")

    async def chat(self, dialect: OpenAIDialect, request: Request) -> Response:
        recorded = await self.provider.record(request)
        key = self._key_of(recorded)
        if key != self.provider.key:
            return dialect.refuses_key(key)
        try:
            body = recorded.body
            check_chat(body)
        except (ValueError, Rejection) as problem:
            return dialect.refuses(problem if isinstance(problem, Rejection) else Rejection("Invalid JSON body."))
        fault = await self._due("chat")
        if isinstance(fault, Refuse):
            return dialect.fails(fault, key)
        if isinstance(fault, ErrorInside200) and fault.whole_body:
            return dialect.whole_error(fault)
        if isinstance(fault, Garbage):
            return Response(fault.body, media_type=fault.content_type)
        if not body.get("stream"):
            return dialect.whole(body, fault, self.provider.pieces(body))
        planned, events = dialect.stream(body, fault, self.provider.pieces(body))
        return self._streaming(request, planned, events)

    async def embeddings(self, dialect: OpenAIDialect, request: Request) -> Response:
        recorded = await self.provider.record(request)
        key = self._key_of(recorded)
        if key != self.provider.key:
            return dialect.refuses_key(key)
        try:
            body = recorded.body
            texts = check_embeddings(body)
        except (ValueError, Rejection) as problem:
            return dialect.refuses(problem if isinstance(problem, Rejection) else Rejection("Invalid JSON body."))
        fault = await self._due("embeddings")
        if isinstance(fault, Refuse):
            return dialect.fails(fault, key)
        if isinstance(fault, ErrorInside200):
            return dialect.whole_error(fault)
        return dialect.embeddings(body, texts, fault)

    async def list_models(self, dialect: OpenAIDialect, request: Request) -> Response:
        await self.provider.record(request)
        fault = await self._due("models")
        if isinstance(fault, Refuse):
            return dialect.fails(fault, "")
        if isinstance(fault, Garbage):
            return Response(fault.body, media_type=fault.content_type)
        return JSONResponse({"data": self.provider.models})

    async def gemini(self, request: Request) -> Response:
        recorded = await self.provider.record(request)
        key = recorded.headers.get("x-goog-api-key", "")
        if key != self.provider.key:
            return gemini.refuses_key(key)
        model, _, method = request.path_params["call"].partition(":")
        try:
            return await self._gemini_call(request, recorded.body, model, method)
        except Rejection as rejection:
            return gemini.refuses(rejection)
        except ValueError:
            return gemini.refuses(Rejection("Invalid JSON payload received."))

    async def _gemini_call(self, request: Request, body: dict[str, Any], model: str, method: str) -> Response:
        if method == "batchEmbedContents":
            texts = check_embed(body, model)
            fault = await self._due("embeddings")
            return (
                gemini.fails(fault, self.provider.key) if isinstance(fault, Refuse) else gemini.embeddings(texts, fault)
            )
        if method not in ("generateContent", "streamGenerateContent"):
            return gemini.error(404, f"Unknown method {method}.")
        check_generate(body)
        fault = await self._due("chat")
        if isinstance(fault, Refuse):
            return gemini.fails(fault, self.provider.key)
        if isinstance(fault, Garbage):
            return Response(fault.body, media_type=fault.content_type)
        if method == "generateContent":
            return gemini.whole(model, fault, self.provider.pieces(body))
        planned, events = gemini.stream(model, fault, self.provider.pieces(body))
        return self._streaming(request, planned, events)

    async def _due(self, kind: str) -> Fault | None:
        fault = self.provider.fault_of(kind)
        if isinstance(fault, Hold):
            await asyncio.to_thread(fault.event.wait, 10.0)
        return fault

    def _streaming(self, request: Request, planned: Plan, events: Iterator[str]) -> Response:
        async def body() -> AsyncIterator[str]:
            self.provider.count_stream(+1)
            try:
                for event in events:
                    yield event
                if planned.abrupt:
                    raise ConnectionBroken
                while planned.stall and not self.provider.closing and not await request.is_disconnected():
                    await asyncio.sleep(0.005)
            finally:
                self.provider.count_stream(-1)

        return StreamingResponse(body(), media_type="text/event-stream")


@contextmanager
def run_provider() -> Iterator[Provider]:
    """A stub on a free port of 127.0.0.1, in a thread of its own, until the block ends."""
    provider = Provider()
    app = Starlette(routes=_Routes(provider).all())
    config = uvicorn.Config(
        app, host="127.0.0.1", port=0, log_config=None, log_level="critical", lifespan="off", ws="none"
    )
    server = uvicorn.Server(config)
    sockets = [config.bind_socket()]
    provider.base_url = f"http://127.0.0.1:{sockets[0].getsockname()[1]}"
    thread = threading.Thread(target=server.run, kwargs={"sockets": sockets}, name="stub-provider", daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        provider.closing = True
        server.should_exit = True
        server.force_exit = True
        thread.join(timeout=10)
        sockets[0].close()
