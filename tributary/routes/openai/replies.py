"""Answers of turns in the form of OpenAI's chat completions, with their sources."""

import time
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from pydantic import BaseModel, Field

from nodes.chat.citations import citation_spans
from nodes.chat.state import ChatResponse
from tributary.domain.bots import Bot
from tributary.domain.conversations import Usage
from tributary.domain.retrieval import Source
from tributary.routes.described import DegradationDict, NotSentDict, SourceDict

#: The reasons that OpenAI's clients know; a provider's own word, and a stop, read as the usual end.
_REASONS = ("stop", "length", "content_filter")


class ModelShape(BaseModel):
    """A bot."""

    id: UUID
    object: str = "model"
    created: int = Field(description="Seconds since 1970")
    owned_by: str = "tributary"
    name: str = Field(description="The bot's")


class ModelsShape(BaseModel):
    object: str = "list"
    data: list[ModelShape]


class UrlCitation(BaseModel):
    start_index: int = Field(description="Of the mark's first character")
    end_index: int = Field(description="Behind its last")
    title: str
    url: str = Field(description="The passage; it opens with the same key")


class Annotation(BaseModel):
    type: str = "url_citation"
    url_citation: UrlCitation


class ReplyShape(BaseModel):
    role: str
    content: str
    refusal: str | None
    annotations: list[Annotation]


class ChoiceShape(BaseModel):
    index: int
    message: ReplyShape
    logprobs: None
    finish_reason: str


class UsageShape(BaseModel):
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class CompletionShape(BaseModel):
    """An answer. `sources`, `degraded` and `notSent` are those of `POST /api/bots/{botId}/chat`."""

    id: str
    object: str = "chat.completion"
    created: int = Field(description="Seconds since 1970")
    model: str
    choices: list[ChoiceShape]
    usage: UsageShape
    sources: list[SourceDict]
    degraded: list[DegradationDict]
    notSent: list[NotSentDict]  # noqa: N815 # our own field, named as everywhere


def model_of(bot: Bot) -> dict[str, Any]:
    return {
        "id": str(bot.id),
        "object": "model",
        "created": int(bot.created_at.timestamp()),
        "owned_by": "tributary",
        "name": bot.name,
    }


class Replies:
    """The answer to one request, whole or in chunks. `base_url` is how the client reaches us, without a slash."""

    def __init__(self, *, identifier: str, model: str, base_url: str, tells_usage: bool = False) -> None:
        self._head: dict[str, Any] = {"id": identifier, "created": int(time.time()), "model": model}
        self._base_url = base_url
        self._tells_usage = tells_usage

    def whole(self, response: ChatResponse) -> dict[str, Any]:
        message = {
            "role": "assistant",
            "content": response["message"],
            "refusal": None,
            "annotations": self._annotations(response),
        }
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _reason(response)}
        return {
            **self._head,
            "object": "chat.completion",
            "choices": [choice],
            "usage": _usage(response["usage"]),
            **_extras(response),
        }

    def opening(self) -> dict[str, Any]:
        return self._chunk({"role": "assistant", "content": ""})

    def token(self, text: str) -> dict[str, Any]:
        return self._chunk({"content": text})

    def closing(self, response: ChatResponse) -> Iterator[dict[str, Any]]:
        """The last chunk, with the annotations and sources, and the usage where it was asked for."""
        annotations = self._annotations(response)
        delta = {"annotations": annotations} if annotations else {}
        yield {**self._chunk(delta, _reason(response)), **_extras(response)}
        if self._tells_usage:
            usage = _usage(response["usage"])
            yield {**self._head, "object": "chat.completion.chunk", "choices": [], "usage": usage}

    def _chunk(self, delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        told = {"usage": None} if self._tells_usage else {}
        return {**self._head, "object": "chat.completion.chunk", "choices": [choice], **told}

    def _annotations(self, response: ChatResponse) -> list[dict[str, Any]]:
        by_number = {source["number"]: source for source in response["sources"]}
        return [
            {
                "type": "url_citation",
                "url_citation": {
                    "start_index": span.start,
                    "end_index": span.end,
                    "title": by_number[span.number]["source"],
                    "url": self._url(by_number[span.number]),
                },
            }
            for span in citation_spans(response["message"], len(by_number))
            if span.number in by_number
        ]

    def _url(self, source: Source) -> str:
        return (
            f"{self._base_url}/knowledge/kb/{source['knowledgeBaseId']}/documents/{source['documentId']}"
            f"/chunks/{source['chunkId']}"
        )


def _reason(response: ChatResponse) -> str:
    return response["finishReason"] if response["finishReason"] in _REASONS else "stop"


def _usage(usage: Usage) -> dict[str, int]:
    return {
        "prompt_tokens": usage["inputTokens"],
        "completion_tokens": usage["outputTokens"],
        "total_tokens": usage["totalTokens"],
    }


def _extras(response: ChatResponse) -> dict[str, Any]:
    return {"sources": response["sources"], "degraded": response["degraded"], "notSent": response["notSent"]}
