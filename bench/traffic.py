"""People who use a server in all ways at once, as `bench.load` lets them."""

import random
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

from bench.synthetic import question, words

#: Conversations and documents that a person keeps before old ones go.
KEPT = 6


@dataclass
class Tally:
    """What all people together did, and what went wrong."""

    done: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)

    @property
    def count(self) -> int:
        return self.done.total()


class Unexpected(Exception):
    """An answer that is none of those that may come."""


class Person:
    """Does one thing after the other, each chosen by its weight. What it has made is its own, so that every answer is
    known: nobody else deletes it."""

    def __init__(self, client: httpx.AsyncClient, bot: str, base: str, tally: Tally, chance: random.Random) -> None:
        self._client = client
        self._chat = f"/api/bots/{bot}/chat"
        self._documents_path = f"/knowledge/kb/{base}/documents"
        self._base = f"/knowledge/kb/{base}"
        self._tally = tally
        self._chance = chance
        self._conversations: list[str] = []
        self._documents: list[str] = []
        self._actions: dict[Callable[[], Awaitable[None]], int] = {
            self.chat: 20,
            self.go_on: 20,
            self.chat_with_file: 15,
            self.stream: 15,
            self.leave: 5,
            self.stop: 8,
            self.search: 12,
            self.look_around: 12,
            self.add_document: 4,
            self.delete_document: 4,
            self.delete_conversation: 10,
            self.drop_file: 3,
        }

    async def act(self) -> None:
        """One thing. What goes wrong is noted."""
        [action] = self._chance.choices(list(self._actions), list(self._actions.values()))
        name = getattr(action, "__name__", "")
        try:
            await action()
        except (Unexpected, httpx.HTTPError) as error:
            self._tally.errors.append(f"{name}: {type(error).__name__} {error}"[:500])
        self._tally.done[name] += 1

    async def clear(self) -> None:
        """Deletes what it has made."""
        while self._conversations:
            await self.delete_conversation()
        while self._documents:
            await self.delete_document()

    async def chat(self) -> None:
        self._conversations.append(await self._ask())

    async def go_on(self) -> None:
        if self._conversations:
            await self._ask(conversationId=self._chance.choice(self._conversations))
        else:
            await self.chat()

    async def chat_with_file(self) -> None:
        known = self._chance.choice(self._conversations) if self._conversations else None
        made = await self._ask(attachments=[await self._upload()], **({"conversationId": known} if known else {}))
        if not known:
            self._conversations.append(made)

    async def stream(self) -> None:
        """To its end."""
        async with self._streaming() as (conversation, events):
            self._conversations.append(conversation)
            await _read_to_done(events)

    async def leave(self) -> None:
        """A stream that nobody reads to its end; the turn goes on."""
        async with self._streaming() as (conversation, events):
            self._conversations.append(conversation)
            async for event in events:
                if event == "token":
                    return

    async def stop(self) -> None:
        if not self._conversations:
            await self.chat()
        chosen = self._chance.choice(self._conversations)
        async with self._streaming(conversationId=chosen) as (_, events):
            await self._request("POST", f"/api/conversations/{chosen}/stop", 202)
            await _read_to_done(events)

    async def search(self) -> None:
        await self._request("POST", f"{self._base}/search", 200, json={"query": question()})
        await self._request("POST", f"{self._base}/graph/search", 200, json={"query": question()})

    async def look_around(self) -> None:
        for path in ("/api/bots", "/api/conversations", self._documents_path, f"{self._base}/map", "/api/usage"):
            await self._request("GET", path, 200)
        if self._conversations:
            await self._request("GET", f"/api/conversations/{self._conversations[-1]}/messages", 200)

    async def add_document(self) -> None:
        text = f"# {words(self._chance, 3)}\n\n{words(self._chance, 400)}.".encode()
        files = [("files", ("paper.md", text, "text/markdown"))]
        answer = await self._request("POST", self._documents_path, 202, files=files)
        self._documents += [each["id"] for each in answer["documents"]]

    async def delete_document(self) -> None:
        if self._documents:
            await self._request("DELETE", f"{self._documents_path}/{self._documents.pop(0)}", 204)

    async def delete_conversation(self) -> None:
        """The oldest; busy ones wait."""
        if self._conversations:
            await self._request("DELETE", f"/api/conversations/{self._conversations.pop(0)}", 204)

    async def drop_file(self) -> None:
        claim = await self._upload()
        await self._request("DELETE", f"/api/bot/attachments/{claim['id']}?token={claim['accessToken']}", 204)

    @asynccontextmanager
    async def _streaming(self, **extra: Any) -> AsyncIterator[tuple[str, AsyncIterator[str]]]:
        """The conversation's id, and the names of the stream's events as they come."""
        body, headers = {"message": question(), **extra}, {"Accept": "text/event-stream"}
        async with self._client.stream("POST", self._chat, json=body, headers=headers) as answer:
            if answer.status_code != 200:
                raise Unexpected(f"stream: {answer.status_code} {(await answer.aread())[:300]!r}")
            yield answer.headers["X-Conversation-Id"], _events(answer)

    async def _ask(self, **extra: Any) -> str:
        answer = await self._request("POST", self._chat, 200, json={"message": question(), **extra})
        if answer["degraded"]:
            raise Unexpected(f"degraded: {answer['degraded']}")
        return str(answer["conversationId"])

    async def _upload(self) -> dict[str, str]:
        files = [("files", ("note.txt", words(self._chance, 200).encode(), "text/plain"))]
        stored = await self._request("POST", "/api/bot/attachments/upload", 201, files=files)
        return {"id": stored["id"], "accessToken": stored["accessToken"]}

    async def _request(self, method: str, path: str, status: int, **content: Any) -> Any:
        answer = await self._client.request(method, path, **content)
        if answer.status_code != status:
            raise Unexpected(f"{method} {path}: {answer.status_code} {answer.text[:300]}")
        return answer.json() if answer.content else None


async def _events(answer: httpx.Response) -> AsyncIterator[str]:
    async for line in answer.aiter_lines():
        if line.startswith("event: "):
            yield line.removeprefix("event: ")


async def _read_to_done(events: AsyncIterator[str]) -> None:
    told = [event async for event in events]
    if told[-1:] != ["done"]:
        raise Unexpected(f"a stream ended with {told[-3:]}")
