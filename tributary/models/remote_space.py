"""A space of vectors that a provider computes: one call and what is asked of its answer, for texts and images alike."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np

from tributary.domain.errors import ProviderError, ProviderTimeout
from tributary.domain.usage import UsageKind
from tributary.models.faults import cause, provider_failures, translate
from tributary.models.metering import ModelCall, admit, note
from tributary.models.protocols import Vectors
from tributary.models.retry import RetryPolicy, retrying
from tributary.telemetry.calls import model_call

Call = TypeVar("Call")


@dataclass(frozen=True, slots=True)
class Embedded:
    """What a provider answered: rows as they came, and the tokens that it counted (None: it did not)."""

    rows: Sequence[Sequence[float]]
    tokens: int | None = None


@dataclass(slots=True, kw_only=True)
class RemoteSpace(Generic[Call]):
    """Embeds over the call that `open` makes. `open` runs in a thread, before the first call and outside its timeout:
    it imports a provider's package.

    `dimension` is 0 until it is known, which it is from the first answer at the latest; whatever has another one
    afterwards is refused. `timeout` is in seconds.
    """

    name: str
    open: Callable[[], Call]
    timeout: float
    dimension: int = 0
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    _call: Call | None = None
    _opening: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def vectors(self, send: Callable[[Call], Awaitable[Embedded]], *, count: int, tokens: int) -> Vectors:
        """`count` unit rows. What is transient is tried again. Every answer is counted as used, also one that is
        refused here: by the provider's tokens, else by `tokens`.

        Raises:
            ProviderError, ProviderTimeout: see the domain's tree.
            BudgetExceeded: whoever meters this does not allow it.
        """
        return await retrying(
            lambda: self._once(send, count, tokens), name=self.name, policy=self.retry, within=self.timeout
        )

    async def _once(self, send: Callable[[Call], Awaitable[Embedded]], count: int, tokens: int) -> Vectors:
        call = await self._opened()
        await admit(self.name)
        with model_call(self.name, "embedding"):
            answer = await self._answer(send, call)
        counted = tokens if answer.tokens is None else answer.tokens
        note(ModelCall(self.name, UsageKind.EMBEDDING, counted, estimated=answer.tokens is None))
        return self._checked(answer.rows, count)

    async def _answer(self, send: Callable[[Call], Awaitable[Embedded]], call: Call) -> Embedded:
        try:
            async with asyncio.timeout(self.timeout):
                return await send(call)
        except TimeoutError as error:
            raise ProviderTimeout(f"{self.name} did not answer within {self.timeout:g} s") from error
        except provider_failures() as error:
            raise translate(error, self.name) from cause(error)

    async def _opened(self) -> Call:
        async with self._opening:
            if self._call is None:
                self._call = await asyncio.to_thread(self.open)
            return self._call

    def _checked(self, rows: Sequence[Sequence[float]], count: int) -> Vectors:
        """The rows as unit vectors, or an error: a vector that belongs to something else or another space is never
        kept."""
        if len(rows) != count:
            raise ProviderError(f"{self.name} returned {len(rows)} vectors instead of {count}", transient=True)
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
