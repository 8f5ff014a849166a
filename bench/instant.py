"""An OpenAI-compatible server that answers at once, so that what is measured is ours.

    python -m bench.instant --port 0 [--chat-ms 0] [--embedding-ms 0] [--tokens 40]

Prints `ready at http://HOST:PORT/v1`. A vector depends on nothing but its text; an answer cites the first two sources.
`--chat-ms` and `--embedding-ms` are waited before each answer, whatever else is under way.
"""

import argparse
import asyncio
import base64
import socket
import zlib
from collections.abc import Awaitable, Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import orjson
import uvicorn

from tributary.models.protocols import Vectors

DIMENSION = 384
MODEL = "instant"
Send = Callable[[dict[str, Any]], Awaitable[None]]
Receive = Callable[[], Awaitable[dict[str, Any]]]


@lru_cache(maxsize=20_000)
def vector_of(text: str) -> Vectors:
    """A unit vector, `(DIMENSION,)`."""
    vector = np.random.default_rng(zlib.crc32(text.encode())).standard_normal(DIMENSION).astype("<f4")
    return np.asarray(vector / np.linalg.norm(vector), dtype="<f4")


class Instant:
    """The server as a bare ASGI application: a framework's time would count as the measured server's waiting."""

    def __init__(self, *, chat: float = 0.0, embedding: float = 0.0, tokens: int = 40) -> None:
        self._chat = chat
        self._embedding = embedding
        self._words = [
            "The",
            "answer",
            "[1]",
            "stands",
            "in",
            "both",
            "[2]",
            *(f"word{each}" for each in range(tokens)),
        ]

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        path = scope["path"]
        if path.endswith("/models"):
            await _json(send, {"object": "list", "data": [{"id": MODEL, "object": "model"}]})
            return
        body = orjson.loads(await _whole(receive))
        if path.endswith("/embeddings"):
            await asyncio.sleep(self._embedding)
            await _json(send, _embeddings(body))
        elif body.get("stream"):
            await asyncio.sleep(self._chat)
            await self._stream(send)
        else:
            await asyncio.sleep(self._chat)
            await _json(send, self._completion())

    def _completion(self) -> dict[str, Any]:
        message = {"role": "assistant", "content": " ".join(self._words)}
        return _chunk("chat.completion", {"index": 0, "message": message, "finish_reason": "stop"}, usage=True)

    async def _stream(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]})
        for first in range(0, len(self._words), 8):
            text = " ".join(self._words[first : first + 8]) + " "
            choice = {"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": None}
            await _event(send, _chunk("chat.completion.chunk", choice))
        await _event(
            send, _chunk("chat.completion.chunk", {"index": 0, "delta": {}, "finish_reason": "stop"}, usage=True)
        )
        await send({"type": "http.response.body", "body": b"data: [DONE]\n\n"})


def _chunk(kind: str, choice: Mapping[str, Any], *, usage: bool = False) -> dict[str, Any]:
    made: dict[str, Any] = {"id": "instant", "object": kind, "created": 0, "model": MODEL, "choices": [choice]}
    if usage:
        made["usage"] = {"prompt_tokens": 1000, "completion_tokens": 40, "total_tokens": 1040}
    return made


def _embeddings(body: Mapping[str, Any]) -> dict[str, Any]:
    texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
    coded = body.get("encoding_format") == "base64"
    rows = [vector_of(text) for text in texts]
    data = [
        {
            "object": "embedding",
            "index": index,
            "embedding": base64.b64encode(row.tobytes()).decode() if coded else row.tolist(),
        }
        for index, row in enumerate(rows)
    ]
    tokens = sum(len(text) // 4 for text in texts)
    return {
        "object": "list",
        "model": MODEL,
        "data": data,
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    }


async def _whole(receive: Receive) -> bytes:
    parts = []
    while True:
        message = await receive()
        parts.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(parts)


async def _json(send: Send, content: Mapping[str, Any]) -> None:
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": orjson.dumps(content)})


async def _event(send: Send, content: Mapping[str, Any]) -> None:
    await send({"type": "http.response.body", "body": b"data: " + orjson.dumps(content) + b"\n\n", "more_body": True})


def serve(application: Any, port: int, path: str = "") -> None:
    """Runs an application on the loopback interface, and prints where once it listens."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        print(f"ready at http://127.0.0.1:{listener.getsockname()[1]}{path}", flush=True)
        uvicorn.Server(uvicorn.Config(application, log_level="warning", access_log=False)).run([listener])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--chat-ms", type=float, default=0.0)
    parser.add_argument("--embedding-ms", type=float, default=0.0)
    parser.add_argument("--tokens", type=int, default=40, help="words of an answer, about")
    options = parser.parse_args()
    instant = Instant(chat=options.chat_ms / 1000, embedding=options.embedding_ms / 1000, tokens=options.tokens)
    serve(instant, options.port, "/v1")


if __name__ == "__main__":
    main()
