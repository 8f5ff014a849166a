"""Text embeddings that a provider computes."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from tributary.domain.errors import InvalidRequest, MessageTooLarge, ProviderError
from tributary.models.calibration import Calibration
from tributary.models.protocols import Vectors
from tributary.models.remote_space import Embedded, RemoteSpace
from tributary.models.tokens import estimate_tokens

#: Fewer than a prompt's four: a text that is cut a little early loses less than one that is refused.
_BYTES_PER_TOKEN = 3
#: Calls for documents that are under way at once, of one model. Questions don't wait for them.
_PARALLEL = 4
#: How often texts are halved for a server whose window is smaller than it says.
_HALVINGS = 4


class Purpose(StrEnum):
    """What a text is embedded for; some models treat the two differently."""

    DOCUMENT = "document"
    QUERY = "query"


EmbedCall = Callable[[list[str], Purpose], Awaitable[Embedded]]


@dataclass(frozen=True, slots=True)
class Limits:
    """What one request may hold: texts, and tokens of all of them together."""

    texts: int
    tokens: int


@dataclass(slots=True, kw_only=True)
class RemoteEmbedder(RemoteSpace[EmbedCall]):
    """A `TextEmbedder` over a call that sends one batch. Tokens are estimated, since no tokenizer of a remote model is
    at hand."""

    max_tokens: int
    limits: Limits
    calibration: Calibration
    _documents: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_PARALLEL))

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """As the port says. Batches go out side by side; the first that fails for good ends the rest.

        Raises:
            InvalidRequest: a text is blank. No provider embeds nothing.
        """
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        fitting = [self._fitting(text) for text in texts]
        calls = [asyncio.create_task(self._in_turn(batch)) for batch in self._batches(fitting)]
        try:
            return np.concatenate(await asyncio.gather(*calls))
        finally:
            for call in calls:
                call.cancel()
            await asyncio.gather(*calls, return_exceptions=True)

    async def embed_query(self, text: str) -> Vectors:
        vectors = await self._embed([self._fitting(text)], Purpose.QUERY)
        query: Vectors = vectors[0]
        return query

    async def find_dimension(self) -> int:
        """The dimension, asked for by embedding a word where it is not known."""
        if not self.dimension:
            await self.embed_query("dimension")
        return self.dimension

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [estimate_tokens(text, bytes_per_token=_BYTES_PER_TOKEN) for text in texts]

    def similarity(self, cosine: Vectors) -> Vectors:
        return self.calibration.similarity(cosine)

    def _fitting(self, text: str) -> str:
        if not text.strip():
            raise InvalidRequest("A blank text has no embedding")
        return cut(text, self.max_tokens * _BYTES_PER_TOKEN)

    def _batches(self, texts: Sequence[str]) -> Iterator[list[str]]:
        batch: list[str] = []
        tokens = 0
        for text, count in zip(texts, self.count_tokens(texts), strict=True):
            if batch and (len(batch) == self.limits.texts or tokens + count > self.limits.tokens):
                yield batch
                batch, tokens = [], 0
            batch.append(text)
            tokens += count
        yield batch

    async def _in_turn(self, batch: list[str]) -> Vectors:
        async with self._documents:
            return await self._embed(batch, Purpose.DOCUMENT)

    async def _embed(self, texts: list[str], purpose: Purpose, halvings: int = _HALVINGS) -> Vectors:
        """One batch. What the server calls too long is sent again in two parts, and a single text by half: texts
        are cut by an estimate, and servers of small models don't tell their window."""
        try:
            tokens = sum(self.count_tokens(texts))
            return await self.vectors(lambda call: call(texts, purpose), count=len(texts), tokens=tokens)
        except MessageTooLarge as error:
            if len(texts) == 1:
                half = cut(texts[0], len(texts[0].encode()) // 2)
                if not halvings or not half.strip():
                    raise ProviderError(f"{self.name} calls every text too long") from error
                return await self._embed([half], purpose, halvings - 1)
        middle = len(texts) // 2
        parts = [await self._embed(part, purpose, halvings) for part in (texts[:middle], texts[middle:])]
        return np.concatenate(parts)


def cut(text: str, size: int) -> str:
    """The text's beginning in at most `size` bytes of UTF-8, no character halved."""
    encoded = text.encode("utf-8", "replace")
    return text if len(encoded) <= size else encoded[:size].decode("utf-8", "ignore")
