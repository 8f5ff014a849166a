"""Text embeddings that a provider computes."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from tributary.domain.errors import InvalidRequest, MessageTooLarge, ProviderError, ProviderTimeout
from tributary.models.calibration import Calibration
from tributary.models.faults import cause, provider_failures, translate
from tributary.models.protocols import Vectors
from tributary.models.retry import RetryPolicy, retrying
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


EmbedCall = Callable[[list[str], Purpose], Awaitable[Sequence[Sequence[float]]]]


@dataclass(frozen=True, slots=True)
class Limits:
    """What one request may hold: texts, and tokens of all of them together."""

    texts: int
    tokens: int


@dataclass(slots=True)
class RemoteEmbedder:
    """A `TextEmbedder` over the call that `open` makes, which sends one batch and returns its vectors as they came.
    `open` runs in a thread, before the first call and outside its timeout: it imports a provider's package.

    Tokens are estimated, since no tokenizer of a remote model is at hand. `dimension` is 0 until it is known, which
    it is from the first answer at the latest; whatever has another one afterwards is refused.
    """

    name: str
    open: Callable[[], EmbedCall]
    max_tokens: int
    limits: Limits
    calibration: Calibration
    timeout: float
    dimension: int = 0
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    _call: EmbedCall | None = None
    _opening: asyncio.Lock = field(default_factory=asyncio.Lock)
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
            return await self._tried(texts, purpose)
        except MessageTooLarge as error:
            if len(texts) == 1:
                half = cut(texts[0], len(texts[0].encode()) // 2)
                if not halvings or not half.strip():
                    raise ProviderError(f"{self.name} calls every text too long") from error
                return await self._embed([half], purpose, halvings - 1)
        middle = len(texts) // 2
        parts = [await self._embed(part, purpose, halvings) for part in (texts[:middle], texts[middle:])]
        return np.concatenate(parts)

    async def _tried(self, texts: list[str], purpose: Purpose) -> Vectors:
        return await retrying(
            lambda: self._once(texts, purpose), name=self.name, policy=self.retry, within=self.timeout
        )

    async def _opened(self) -> EmbedCall:
        async with self._opening:
            if self._call is None:
                self._call = await asyncio.to_thread(self.open)
            return self._call

    async def _once(self, texts: list[str], purpose: Purpose) -> Vectors:
        call = await self._opened()
        try:
            async with asyncio.timeout(self.timeout):
                rows = await call(texts, purpose)
        except TimeoutError as error:
            raise ProviderTimeout(f"{self.name} did not answer within {self.timeout:g} s") from error
        except provider_failures() as error:
            raise translate(error, self.name) from cause(error)
        return self._checked(rows, len(texts))

    def _checked(self, rows: Sequence[Sequence[float]], count: int) -> Vectors:
        """The rows as unit vectors, or an error: a vector that belongs to another text or space is never kept."""
        if len(rows) != count:
            raise ProviderError(f"{self.name} returned {len(rows)} vectors for {count} texts", transient=True)
        dimension = self.dimension or len(rows[0])
        if not dimension or any(len(row) != dimension for row in rows):
            found = ", ".join(str(size) for size in sorted({len(row) for row in rows}))
            raise ProviderError(f"{self.name} returned vectors of {found} dimensions instead of {dimension}")
        vectors = np.asarray(rows, dtype=np.float64)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or not lengths.all():
            raise ProviderError(f"{self.name} returned a vector that points nowhere", transient=True)
        self.dimension = dimension
        units: Vectors = (vectors / lengths).astype(np.float32)
        return units


def cut(text: str, size: int) -> str:
    """The text's beginning in at most `size` bytes of UTF-8, no character halved."""
    encoded = text.encode("utf-8", "replace")
    return text if len(encoded) <= size else encoded[:size].decode("utf-8", "ignore")
