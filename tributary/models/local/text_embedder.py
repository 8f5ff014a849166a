"""What the local embedders share: the promises of `TextEmbedder`, kept by a model in a thread of its own."""

import asyncio
from collections.abc import Callable, Sequence

import numpy as np

from tributary.models.calibration import Calibration
from tributary.models.local.model_thread import ModelThread
from tributary.models.local.text_model import TextModel, Tokenizer
from tributary.models.protocols import Vectors
from tributary.telemetry.calls import model_call


class LocalTextEmbedder:
    """A `TextEmbedder` that runs here. Making one costs nothing: files are opened and libraries imported by the first
    call that needs them. One object serves any number of event loops.

    `tokenizer` and `model` load them; `tokenizer` is called for every count, and from any thread.
    All calls raise `DependencyUnavailable` where the model's package is not installed or its files can't be made, and
    after `aclose`.
    """

    dimension = 384

    def __init__(
        self,
        name: str,
        max_tokens: int,
        calibration: Calibration,
        *,
        tokenizer: Callable[[], Tokenizer],
        model: Callable[[], TextModel],
    ) -> None:
        self.name = name
        self.max_tokens = max_tokens
        self._calibration = calibration
        self._tokenizer = tokenizer
        self._thread = ModelThread(name, model)

    async def prepare(self) -> None:
        """Makes and loads now what the first call would make and load. Safe to call again."""
        await asyncio.wrap_future(self._thread.load())

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """As the protocol says. A caller that is cancelled costs no more than the batch under way."""
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        with model_call(self.name, "embedding"):
            return await asyncio.wrap_future(self._thread.embed(tuple(texts), self.dimension))

    async def embed_query(self, text: str) -> Vectors:
        """As the protocol says: it waits for one batch of documents at most."""
        with model_call(self.name, "embedding"):
            return await asyncio.wrap_future(self._thread.ask(text))

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """As the protocol says. The first call loads the tokenizer, which takes a second where it is prepared."""
        return self._tokenizer().count(texts) if texts else []

    def similarity(self, cosine: Vectors) -> Vectors:
        """As the protocol says."""
        return self._calibration.similarity(cosine)

    def close(self) -> None:
        """Ends the thread, once the batch under way is done; callers that wait get `DependencyUnavailable`."""
        self._thread.close()

    async def aclose(self) -> None:
        """`close`, without blocking the event loop."""
        await asyncio.to_thread(self.close)
