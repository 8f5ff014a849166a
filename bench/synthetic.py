"""A knowledge base of made-up texts for timings: words by a power law, names that recur, vectors of `bench.instant`."""

import asyncio
import itertools
import random

import numpy as np

from bench.collection import SplitDocument, fill
from bench.datasets import BenchDocument
from bench.instant import DIMENSION, vector_of
from bench.server import Server
from stores.graph_engines import GraphEngines
from stores.postgres.graph_engine import PostgresGraphEngine
from stores.postgres.graph_ground import PostgresGraphGround
from stores.protocols.graph_engines import Engine
from tributary.domain.knowledge import ChunkDraft, ParsedDocument
from tributary.models.protocols import Vectors

#: Chunks of a document, and words of a chunk.
CHUNKS, WORDS = 10, 180
#: Frequent words first: the nth comes up about 1/n as often as the first, as in real texts.
_SYLLABLES = ("ba", "do", "fen", "gil", "ka", "lor", "mi", "nu", "pra", "sol", "ter", "vin")
_VOCABULARY = ["".join(each) for size in (2, 3, 4) for each in itertools.product(_SYLLABLES, repeat=size)][:20_000]
_WEIGHTS = list(itertools.accumulate(1 / rank for rank in range(3, len(_VOCABULARY) + 3)))
_NAMES = [
    f"{first.title()}{middle}{last}"
    for first, middle, last in itertools.product(
        ("mar", "hel", "tor", "vel", "kas", "ben", "ru", "is"),
        ("a", "e", "i", "o", "u"),
        ("lin", "ra", "den", "wick", "st", "mund", "la", "bert", "dora", "nik"),
    )
]
_NAME_WEIGHTS = list(itertools.accumulate(1 / rank for rank in range(10, len(_NAMES) + 10)))


class _Made:
    """The name and the size of the space that the vectors are of; nothing else of an embedder is asked."""

    name = "openai/instant"
    dimension = DIMENSION


def question() -> str:
    """Another one each time, about words and names that stand in the texts. Its postings are about twice as many as
    there are chunks; those of questions of judged sets are between 1.2 times (scifact) and 3.0 times as many."""
    asked = [*random.sample(_VOCABULARY[10:200], 4), *random.sample(_VOCABULARY[200:4000], 3)]
    first, second = random.sample(_NAMES, 2)
    return f"What does {first} {second} say of {' '.join(asked)}?"


def words(chance: random.Random, count: int) -> str:
    """As frequent as in the texts."""
    return " ".join(chance.choices(_VOCABULARY, cum_weights=_WEIGHTS, k=count))


def _text(chance: random.Random) -> str:
    sentences = []
    for _ in range(WORDS // 12):
        names = chance.choices(_NAMES, cum_weights=_NAME_WEIGHTS, k=2)
        sentences.append(f"{' '.join(names)} {words(chance, 10)}.")
    return " ".join(sentences)


def _document(number: int, chance: random.Random) -> SplitDocument:
    texts = [_text(chance) for _ in range(CHUNKS)]
    chunks, start = [], 0
    for ordinal, text in enumerate(texts):
        chunks.append(ChunkDraft(ordinal, text, start, start + len(text)))
        start += len(text) + 2
    parsed = ParsedDocument(title=f"Paper {number}", text="\n\n".join(texts))
    return SplitDocument(BenchDocument(f"paper-{number}.md", parsed, paged=False), chunks)


async def write_knowledge_base(server: Server, chunks: int, *, seed: int = 11) -> str:
    """Its id. Entities and relations come from the local extractor."""
    chance = random.Random(seed)
    documents = await asyncio.to_thread(lambda: [_document(each, chance) for each in range(chunks // CHUNKS)])
    vectors: Vectors = np.stack([vector_of(text) for each in documents for text in each.texts])
    ground = PostgresGraphGround(server.database)
    engines = {Engine.POSTGRES: PostgresGraphEngine(server.database)}
    graph = GraphEngines(engines, ground, default=Engine.POSTGRES)
    base, _ = await fill(server.database, server.organisation.id, _Made(), documents, vectors, graph=graph)  # type: ignore[arg-type]
    return str(base.id)
