"""Vectors that are embedded once."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from bench.vector_cache import VectorCache
from tests.support.worlds import PlainEmbedder
from tributary.models.protocols import Vectors


class Counting(PlainEmbedder):
    def __init__(self) -> None:
        self.seen: list[str] = []

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        self.seen += texts
        return await super().embed_documents(texts)


async def test_only_texts_that_changed_are_embedded_again(tmp_path: Path) -> None:
    embedder = Counting()
    for texts in (["a", "bb", "a"], ["bb", "ccc"]):
        cache = VectorCache(embedder, tmp_path)
        vectors = await cache.documents(texts)
        assert vectors.tolist() == (await PlainEmbedder().embed_documents(texts)).tolist()
        cache.close()
    assert sorted(embedder.seen) == ["a", "bb", "ccc"]


async def test_progress_counts_every_text(tmp_path: Path) -> None:
    cache = VectorCache(Counting(), tmp_path)
    counts: list[int] = []
    await cache.documents(["a", "bb", "a"], counts.append)
    assert sum(counts) == 3
    cache.close()


async def test_questions_and_passages_are_kept_apart(tmp_path: Path) -> None:
    embedder = Counting()
    cache = VectorCache(embedder, tmp_path)
    await cache.queries(["a"])
    assert embedder.seen == []
    await cache.documents(["a"])
    assert embedder.seen == ["a"]
    cache.close()


async def test_no_texts_are_no_vectors(tmp_path: Path) -> None:
    cache = VectorCache(PlainEmbedder(), tmp_path)
    assert (await cache.documents([])).shape == (0, PlainEmbedder.dimension)
    cache.close()


@pytest.mark.parametrize("texts", [["\ud800"], ["\0"]])
async def test_any_text_has_a_key(tmp_path: Path, texts: list[str]) -> None:
    cache = VectorCache(PlainEmbedder(), tmp_path)
    assert np.isfinite(await cache.documents(texts)).all()
    cache.close()
