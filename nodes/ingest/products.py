"""What the steps hand on, and its form in staging.

Names end in the version of the form. A product that can't be read is as good as missing: it is made again.
"""

import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from pydantic import TypeAdapter, ValidationError

from nodes.ingest.state import Place
from stores.protocols.graph import GraphDraft
from stores.protocols.staging import Staging
from tributary.domain.errors import DependencyUnavailable
from tributary.domain.knowledge import ChunkDraft, ParsedDocument
from tributary.models.protocols import Vectors
from tributary.threads import run

T = TypeVar("T")

#: Bytes that are read and written in well under a millisecond: no thread is worth it.
_QUICK = 32_768
#: An entity, a mention or a relation in JSON, about.
_FACT_BYTES = 120


@dataclass(frozen=True, slots=True)
class Digest:
    """What a document is about. `type` is a word such as "manual" or "report"; `extracted` says that the summary
    consists of the document's own sentences."""

    summary: str
    topics: tuple[str, ...]
    type: str
    extracted: bool = False


@dataclass(frozen=True, slots=True)
class Product(Generic[T]):
    """A kind of product: its name, how it becomes bytes and comes back (`ValueError` where it can't), and about how
    many bytes it becomes."""

    name: str
    encode: Callable[[T], bytes]
    decode: Callable[[bytes], T]
    weigh: Callable[[T], int]


def _json(name: str, form: type[T], weigh: Callable[[T], int]) -> Product[T]:
    adapter = TypeAdapter(form)
    return Product(name, adapter.dump_json, adapter.validate_json, weigh)


def _encode_vectors(vectors: Vectors) -> bytes:
    file = io.BytesIO()
    np.save(file, vectors, allow_pickle=False)
    return file.getvalue()


def _decode_vectors(data: bytes) -> Vectors:
    vectors: Vectors = np.load(io.BytesIO(data), allow_pickle=False)
    return vectors


def vectors_named(name: str) -> Product[Vectors]:
    """Rows of float32, shape `(texts, dimension)`."""
    return Product(f"{name}-1", _encode_vectors, _decode_vectors, lambda vectors: vectors.nbytes)


def _weight_of_graph(draft: GraphDraft) -> int:
    return _FACT_BYTES * (len(draft.entities) + len(draft.mentions) + len(draft.relations))


PARSED = _json("parsed-1", ParsedDocument, lambda parsed: len(parsed.text))
#: The embedding that all that follows was made for.
SPACE = _json("space-1", str, len)
CHUNKS = _json("chunks-1", list[ChunkDraft], lambda chunks: sum(len(each.text) for each in chunks))
DIGEST = _json("digest-2", Digest, lambda digest: len(digest.summary))
SUMMARY_VECTOR = vectors_named("summary-vector")
GRAPH = _json("graph-1", GraphDraft, _weight_of_graph)


class Bench:
    """The products of one run."""

    def __init__(self, staging: Staging, place: Place) -> None:
        self._staging = staging
        self._place = place

    async def find(self, product: Product[T]) -> T | None:
        """The product, or None where it is missing, not whole, or in a form of the past."""
        data = await self._staging.read(self._place.document_id, self._place.revision, product.name)
        if data is None:
            return None
        try:
            return await run(product.decode, data, aside=len(data) > _QUICK)
        except (ValidationError, ValueError, EOFError):
            return None

    async def take(self, product: Product[T]) -> T:
        """A product that an earlier step of the run has made.

        Raises:
            DependencyUnavailable: it was taken away meanwhile; the next try makes it again.
        """
        found = await self.find(product)
        if found is None:
            raise DependencyUnavailable("What was made of the document so far was removed")
        return found

    async def keep(self, product: Product[T], value: T, *, at_once: bool = False) -> T:
        """Stages what was made. `at_once`: making it again would cost money, so not even a crash may lose it."""
        data = await run(product.encode, value, aside=product.weigh(value) > _QUICK)
        name, place = product.name, self._place
        await self._staging.write(place.document_id, place.revision, name, data, at_once=at_once)
        return value
