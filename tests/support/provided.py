"""Short ways to talk to a running server whose every model provider is the stub."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from tests.support.provider import Provider

Event = tuple[str, Any]


@dataclass(frozen=True)
class Chatting:
    """A client of an organisation of its own, and the provider that its bots ask."""

    client: httpx.Client
    provider: Provider

    def bot(self, model: str = "openrouter/stub/all", **fields: Any) -> str:
        made = self.client.post("/api/bots", json={"name": "b", "model": model, **fields})
        assert made.status_code == 201, made.text
        return str(made.json()["id"])

    def upload(self, *files: tuple[str, bytes]) -> list[dict[str, str]]:
        """The claims of the files, in order."""
        sent = self.client.post("/api/bot/attachments/upload", files=[("files", each) for each in files])
        assert sent.status_code == 201, sent.text
        return [{"id": each["id"], "accessToken": each["accessToken"]} for each in sent.json()["files"]]

    def post(self, bot: str, message: str = "Why?", **fields: Any) -> httpx.Response:
        return self.client.post(f"/api/bots/{bot}/chat", json={"message": message, **fields})

    def ask(self, bot: str, message: str = "Why?", **fields: Any) -> dict[str, Any]:
        response = self.post(bot, message, **fields)
        assert response.status_code == 200, response.text
        answer: dict[str, Any] = response.json()
        return answer

    def stream(self, bot: str, message: str = "Why?", **fields: Any) -> list[Event]:
        """The events of a turn to their end."""
        with self.streaming(bot, message, **fields) as response:
            assert response.status_code == 200, response.read()
            return list(events_of(response))

    def streaming(self, bot: str, message: str = "Why?", **fields: Any) -> Any:
        return self.client.stream(
            "POST",
            f"/api/bots/{bot}/chat",
            json={"message": message, **fields},
            headers={"Accept": "text/event-stream"},
        )

    def conversation(self) -> str:
        """The only one of the organisation."""
        [found] = self.client.get("/api/conversations").json()["items"]
        return str(found["id"])

    def messages(self, conversation: str) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = self.client.get(f"/api/conversations/{conversation}/messages").json()["items"]
        return items

    @property
    def last_call(self) -> dict[str, Any]:
        return self.provider.chats[-1].body

    @property
    def last_question(self) -> Any:
        """What the model was asked last, as it went over the wire."""
        body = self.last_call
        return body["messages"][-1]["content"] if "messages" in body else body["contents"][-1]["parts"]


def events_of(response: httpx.Response) -> Iterator[Event]:
    name = ""
    for line in response.iter_lines():
        if line.startswith("event:"):
            name = line.removeprefix("event:").strip()
        elif line.startswith("data:"):
            yield name, json.loads(line.removeprefix("data:"))


def told(events: Sequence[Event]) -> str:
    """The text of the tokens."""
    return "".join(data["text"] for name, data in events if name == "token")
