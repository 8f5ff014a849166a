"""The endpoints of the stub provider."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from tests.support import provider_gemini as gemini
from tests.support.provider_faults import ErrorInside200, Fault, Garbage, Hold, Pause, Plan, Refuse
from tests.support.provider_gemini_rules import check_embed, check_generate
from tests.support.provider_openai import OpenAIDialect
from tests.support.provider_openai_rules import check_chat, check_embeddings
from tests.support.provider_rejection import Rejection
from tests.support.provider_state import Provider, Recorded


class ConnectionBroken(Exception):
    """Raised inside a response so that the server cuts the connection in the middle of it."""


@dataclass(frozen=True)
class Routes:
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

    async def _record(self, request: Request) -> Recorded:
        recorded = Recorded(request.method, request.url.path, dict(request.headers), await request.body())
        self.provider.record(recorded)
        return recorded

    def _key_of(self, recorded: Recorded) -> str:
        return recorded.headers.get("authorization", "").removeprefix("Bearer ")

    async def chat(self, dialect: OpenAIDialect, request: Request) -> Response:
        dialect = replace(dialect, cost=self.provider.cost)
        recorded = await self._record(request)
        key = self._key_of(recorded)
        if key != self.provider.key:
            return dialect.refuses_key(key)
        try:
            body = recorded.body
            check_chat(body, openrouter=dialect.openrouter)
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
        # A comment and the role come before the first piece.
        return self._streaming(request, planned, events, heading=1 + dialect.openrouter)

    async def embeddings(self, dialect: OpenAIDialect, request: Request) -> Response:
        recorded = await self._record(request)
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
        await self._record(request)
        fault = await self._due("models")
        if isinstance(fault, Refuse):
            return dialect.fails(fault, "")
        if isinstance(fault, Garbage):
            return Response(fault.body, media_type=fault.content_type)
        return JSONResponse({"data": self.provider.models})

    async def gemini(self, request: Request) -> Response:
        recorded = await self._record(request)
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

    async def _paused(self, request: Request, pause: Pause) -> None:
        while not (pause.event.is_set() or self.provider.closing or await request.is_disconnected()):
            await asyncio.sleep(0.005)

    def _streaming(self, request: Request, planned: Plan, events: Iterator[str], heading: int = 0) -> Response:
        async def body() -> AsyncIterator[str]:
            self.provider.count_stream(+1)
            try:
                for number, event in enumerate(events):
                    if planned.pause and number == planned.pause.after + heading:
                        await self._paused(request, planned.pause)
                    yield event
                if planned.abrupt:
                    raise ConnectionBroken
                while planned.stall and not self.provider.closing and not await request.is_disconnected():
                    await asyncio.sleep(0.005)
            finally:
                self.provider.count_stream(-1)

        return StreamingResponse(body(), media_type="text/event-stream")
