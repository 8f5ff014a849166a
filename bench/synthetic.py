"""A knowledge base of made-up texts for timings: words by a power law, names that recur, vectors of `bench.instant`."""

import asyncio
import random

import numpy as np
from rich.progress import Progress

from bench.collection import SplitDocument, fill
from bench.datasets import BenchDocument
from bench.instant import DIMENSION, vector_of
from bench.server import Server
from stores.postgres.graph_engine import PostgresGraphEngine
from tributary.domain.knowledge import ChunkDraft, ParsedDocument
from tributary.models.protocols import Vectors

#: Chunks of a document, and words of a chunk.
CHUNKS, WORDS = 10, 180
_VOCABULARY = [
    f"{first}{second}{third}"
    for first in "bdfgklmnpr"
    for second in ("ane", "ilo", "uma", "eri")
    for third in ("s", "nt", "rix", "dor", "pel", "")
]
_NAMES = [f"{first}{last}" for first in ("Mar", "Hel", "Tor", "Vel", "Kas") for last in ("lin", "ora", "den", "wick")]


class _Made:
    """The name and the size of the space that the vectors are of; nothing else of an embedder is asked."""

    name = "openai/instant"
    dimension = DIMENSION


def question() -> str:
    """Another one each time, about words and names that stand in the texts."""
    words = random.choices(_VOCABULARY[:80], k=6)
    return f"What does {random.choice(_NAMES)} {random.choice(_NAMES)} say of {' '.join(words)}?"


def _text(chance: random.Random) -> str:
    sentences = []
    weights = [1 / rank for rank in range(1, len(_VOCABULARY) + 1)]
    for _ in range(WORDS // 12):
        name = f"{chance.choice(_NAMES)} {chance.choice(_NAMES)}"
        sentences.append(f"{name} {' '.join(chance.choices(_VOCABULARY, weights, k=10))}.")
    return " ".join(sentences)


def _document(number: int, chance: random.Random) -> SplitDocument:
    texts = [_text(chance) for _ in range(CHUNKS)]
    chunks, start = [], 0
    for ordinal, text in enumerate(texts):
        chunks.append(ChunkDraft(ordinal, text, start, start + len(text)))
        start += len(text) + 2
    parsed = ParsedDocument(title=f"Paper {number}", text="\n\n".join(texts))
    return SplitDocument(BenchDocument(f"paper-{number}.md", parsed, paged=False), chunks)


async def write_knowledge_base(server: Server, chunks: int, progress: Progress) -> str:
    """Its id. Entities and relations come from the local extractor."""
    chance = random.Random(11)
    documents = await asyncio.to_thread(lambda: [_document(each, chance) for each in range(chunks // CHUNKS)])
    vectors: Vectors = np.stack([vector_of(text) for each in documents for text in each.texts])
    progress.add_task(f"writing {chunks:,} chunks", total=None)
    engine = PostgresGraphEngine(server.database)
    base, _ = await fill(server.database, server.organisation.id, _Made(), documents, vectors, graph=engine)  # type: ignore[arg-type]
    return str(base.id)
