"""The embedding models by name, and the memory of embedded questions."""

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from tributary.models import embedding_calls as calls
from tributary.models.calibration import calibration_of, image_calibrations_of
from tributary.models.names import IMAGE_DESCRIPTOR, ModelName, image_embedding_of, parse_embedding
from tributary.models.protocols import ImageEmbedder, SharedSpaceEmbedder, TextEmbedder, Vectors
from tributary.models.remote_embeddings import EmbedCall, RemoteEmbedder
from tributary.models.remote_images import ImageCall, RemoteImageEmbedder
from tributary.models.transport import open_client
from tributary.settings import E5, Settings


class TextEmbedders:
    """The registry. Embedders of one name are one object, so that what waits for a model waits in one line.

    Provider packages and local models are loaded at the first call of an embedder of theirs, in a thread; a local
    one is best prepared before. The connections belong to the event loop that first used them.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._embedders: dict[str, TextEmbedder] = {}
        self._image_embedders: dict[str, RemoteImageEmbedder] = {}
        self._making = threading.Lock()
        self._client: Any = None
        self._closing: list[Callable[[], Any]] = []

    def validate(self, name: str) -> None:
        """Raises `InvalidRequest` for a name of no known model. A missing key is told by the first call."""
        parse_embedding(name)

    def embedder(self, name: str) -> TextEmbedder:
        """The embedder of that name. Raises `InvalidRequest` for a name of no known model."""
        parsed = parse_embedding(name)
        with self._making:
            if name not in self._embedders:
                self._embedders[name] = self._make(parsed)
            return self._embedders[name]

    async def prepare(self, name: str) -> TextEmbedder:
        """The embedder with everything in place that its first call would otherwise load or make, which takes half
        a minute where a local model's files are not made yet. A remote model is not called."""
        embedder = await asyncio.to_thread(self.embedder, name)
        if not isinstance(embedder, RemoteEmbedder):
            await embedder.embed_query("ready")
        return embedder

    async def dimension(self, name: str) -> int:
        """The dimension of a model's space, asked for by a call where only the provider knows it.

        Raises:
            InvalidRequest: no known model has that name.
            ProviderError, ProviderTimeout: the provider could not be asked.
        """
        embedder = await asyncio.to_thread(self.embedder, name)
        return await embedder.find_dimension() if isinstance(embedder, RemoteEmbedder) else embedder.dimension

    def _make(self, name: ModelName) -> TextEmbedder:
        if name.provider == "local":
            return self._local(str(name))
        return self._gemini(name) if name.provider == "gemini" else self._openai(name)

    def _local(self, name: str) -> TextEmbedder:
        threads = self._settings.model_threads
        if name == E5:
            from tributary.models.local.e5.embedder import E5Embedder

            return E5Embedder(self._settings.model_cache, threads=threads)
        from tributary.models.local.minilm.embedder import MiniLmEmbedder

        return MiniLmEmbedder(threads=threads)

    def _gemini(self, name: ModelName) -> RemoteEmbedder:
        def connect() -> EmbedCall:
            return calls.gemini_call(self._open_gemini(name))

        return RemoteEmbedder(
            name=str(name),
            open=connect,
            max_tokens=calls.GEMINI_WINDOW,
            limits=calls.GEMINI_LIMITS,
            calibration=calibration_of(str(name), self._settings.calibrations),
            timeout=self._settings.provider_timeout,
            dimension=calls.GEMINI_DIMENSION,
        )

    def gemini_images(self, name: str) -> RemoteImageEmbedder:
        """What sees pictures in the space of the texts that the Gemini model of that name embeds."""
        with self._making:
            if name not in self._image_embedders:
                self._image_embedders[name] = self._make_gemini_images(parse_embedding(name))
            return self._image_embedders[name]

    def _make_gemini_images(self, name: ModelName) -> RemoteImageEmbedder:
        def connect() -> ImageCall:
            return calls.gemini_image_call(self._open_gemini(name), name.name)

        pictures, described = image_calibrations_of(str(name))
        return RemoteImageEmbedder(
            name=str(name),
            open=connect,
            timeout=self._settings.provider_timeout,
            dimension=calls.GEMINI_DIMENSION,
            batch=calls.GEMINI_IMAGES,
            tokens_per_image=calls.GEMINI_IMAGE_TOKENS,
            calibration=pictures,
            text_calibration=described,
        )

    def _open_gemini(self, name: ModelName) -> Any:
        client = calls.gemini_client(self._settings, name.name)
        self._closing += [client.client.aio.aclose, client.client.close]
        return client

    def _openai(self, name: ModelName) -> RemoteEmbedder:
        def connect() -> EmbedCall:
            with self._making:
                if self._client is None:
                    self._client = open_client(self._settings.provider_timeout)
                    self._closing.append(self._client.aclose)
            return calls.openai_call(calls.openai_client(self._settings, name.name, self._client))

        return RemoteEmbedder(
            name=str(name),
            open=connect,
            max_tokens=calls.OPENAI_WINDOW,
            limits=calls.OPENAI_LIMITS,
            calibration=calibration_of(str(name), self._settings.calibrations),
            timeout=self._settings.provider_timeout,
            dimension=calls.OPENAI_DIMENSIONS.get(name.name, 0),
        )

    async def aclose(self) -> None:
        """Closes connections, on the event loop that used them."""
        self._embedders.clear()
        self._image_embedders.clear()
        for close in self._closing:
            pending = close()
            if asyncio.iscoroutine(pending):
                await pending
        self._closing.clear()
        self._client = None


class QueryCache:
    """Questions that were embedded. The branches of a turn ask for the same text at the same time, once for each
    knowledge base: one of them calls the model and all get its answer."""

    def __init__(self, embedders: TextEmbedders, *, size: int = 512) -> None:
        self._embedders = embedders
        self._size = size
        self._kept: OrderedDict[tuple[str, str], Vectors] = OrderedDict()
        self._under_way: dict[tuple[str, str], asyncio.Task[Vectors]] = {}

    def embedder(self, name: str) -> TextEmbedder:
        return self._embedders.embedder(name)

    async def embed_query(self, name: str, text: str) -> Vectors:
        """The vector of a question, read-only. Raises as the embedder does; failures are not kept."""
        key = (name, text)
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        task = self._under_way.get(key)
        if task is None:
            task = self._under_way[key] = asyncio.create_task(self._embed(key), name="embed a question")
            task.add_done_callback(lambda done: self._settle(key, done))
        # Shielded: a branch that runs out of time must not take the answer from the others.
        return await asyncio.shield(task)

    async def _embed(self, key: tuple[str, str]) -> Vectors:
        name, text = key
        vector = await self._embedders.embedder(name).embed_query(text)
        vector.setflags(write=False)
        return vector

    def _settle(self, key: tuple[str, str], done: asyncio.Task[Vectors]) -> None:
        del self._under_way[key]
        # Asking for the exception marks it as seen, where everybody who waited has gone.
        if done.cancelled() or done.exception() is not None:
            return
        self._kept[key] = done.result()
        while len(self._kept) > self._size:
            self._kept.popitem(last=False)


class ImageEmbedders:
    """`ImageSpaces`: the provider's own model where that sees pictures, the local descriptor everywhere else."""

    def __init__(self, texts: TextEmbedders) -> None:
        self._texts = texts
        self._making = threading.Lock()
        self._local: ImageEmbedder | None = None

    def image_embedder(self, embedding: str) -> ImageEmbedder:
        return self.shared_embedder(embedding) or self._descriptor()

    def shared_embedder(self, embedding: str) -> SharedSpaceEmbedder | None:
        return None if image_embedding_of(embedding) == IMAGE_DESCRIPTOR else self._texts.gemini_images(embedding)

    def _descriptor(self) -> ImageEmbedder:
        with self._making:
            if self._local is None:
                from tributary.models.local.image_descriptor import LocalImageEmbedder

                self._local = LocalImageEmbedder()
            return self._local
