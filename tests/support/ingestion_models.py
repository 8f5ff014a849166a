"""Models for tests of ingestion: quick, the same every time, and open to being held or broken."""

import hashlib
import re
from collections.abc import Awaitable, Callable, Sequence

import numpy as np

from nodes.ingest.extract import Tell
from nodes.ingest.products import Digest
from nodes.ingest.state import Place
from stores.protocols.graph import EntityDraft, GraphDraft, MentionDraft
from tributary.domain.knowledge import ChunkDraft, ParsedDocument
from tributary.models.protocols import Vectors

EMBEDDING = "test/words"
DIMENSION = 32
_CAPITALISED = re.compile(r"\b[A-Z][a-z]{3,}\b")


async def nothing(_: object) -> None:
    return None


class WordEmbedder:
    """Texts that share words have similar vectors. `before` runs ahead of each batch."""

    name = EMBEDDING
    dimension = DIMENSION
    max_tokens = 64

    def __init__(self) -> None:
        self.before: Callable[[Sequence[str]], Awaitable[None]] = nothing
        self.batches: list[int] = []

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        await self.before(texts)
        self.batches.append(len(texts))
        return np.stack([_vector(text) for text in texts])

    async def embed_query(self, text: str) -> Vectors:
        return _vector(text)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]

    def similarity(self, cosine: Vectors) -> Vectors:
        return np.clip(cosine, 0.0, 1.0)

    def embedder(self, name: str) -> "WordEmbedder":
        """It is its own registry."""
        assert name == EMBEDDING
        return self


def _vector(text: str) -> Vectors:
    vector = np.full(DIMENSION, 0.01, np.float32)
    for word in re.findall(r"\w+", text.lower()):
        vector[hashlib.sha256(word.encode()).digest()[0] % DIMENSION] += 1.0
    return np.asarray(vector / np.linalg.norm(vector), np.float32)


class ByteEmbedder:
    """Pictures by their bytes."""

    name = "test/bytes"
    dimension = 8

    async def embed_images(self, images: Sequence[bytes]) -> Vectors:
        rows = [np.frombuffer(hashlib.sha256(image).digest()[:8], np.uint8) for image in images]
        vectors = np.stack(rows).astype(np.float32) + 1.0
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)

    def similarity(self, cosine: Vectors) -> Vectors:
        return np.clip(cosine, 0.0, 1.0)

    def image_embedder(self, embedding: str) -> "ByteEmbedder":
        """It is its own registry."""
        return self

    def shared_embedder(self, embedding: str) -> None:
        return None


class FirstSentence:
    async def summarise(self, text: str, *, title: str, filename: str) -> Digest:
        return Digest(summary=text.split(".")[0][:200], topics=(title,), type="note")


class CapitalisedWords:
    """Every capitalised word is an entity."""

    async def extract(
        self, document: ParsedDocument, chunks: Sequence[ChunkDraft], *, place: Place, tell: Tell
    ) -> GraphDraft:
        mentions = [
            MentionDraft(found[0].lower(), chunk.ordinal, chunk.start + found.start(), chunk.start + found.end())
            for chunk in chunks
            for found in _CAPITALISED.finditer(chunk.text)
        ]
        keys = sorted({mention.key for mention in mentions})
        return GraphDraft(
            entities=tuple(EntityDraft(key=key, name=key.title(), type="name") for key in keys),
            mentions=tuple(mentions),
        )
