"""What the stub provider was asked, and what it shall do next."""

import json
import re
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.provider_faults import Fault
from tests.support.provider_models import MODELS
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


@dataclass
class Provider:
    """The running stub: its addresses, what it was asked, and what it shall do next."""

    base_url: str = ""
    key: str = KEY
    answer: str | Callable[[dict[str, Any]], str] = "The stub answers."
    #: What OpenRouter says a call cost, in US dollars; None: nothing.
    cost: float | None = None
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

    def wait_for_requests(self, count: int, timeout: float = 30.0) -> bool:
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
        self.cost = None

    def pieces(self, body: dict[str, Any]) -> tuple[str, ...]:
        """The answer to a request, cut before each word as a model streams it."""
        text = self.answer(body) if callable(self.answer) else self.answer
        return tuple(re.findall(r"\s*\S+|\s+$", text))

    def record(self, recorded: Recorded) -> None:
        with self._changed:
            self.requests.append(recorded)
            self._changed.notify_all()

    def fault_of(self, kind: str) -> Fault | None:
        queue = {"chat": self._chat, "embeddings": self._embeddings, "models": self._models}[kind]
        return queue.popleft() if queue else None
