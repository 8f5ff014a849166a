"""Vectors of texts that were embedded before, kept one by one: what a change of the splitter leaves as it was costs
nothing."""

import hashlib
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import numpy as np

from tributary.models.protocols import TextEmbedder, Vectors

#: Texts embedded between two commits: what a run that is stopped may lose.
_BATCH = 64

Embed = Callable[[Sequence[str]], Awaitable[Vectors]]
#: Called with the number of texts that have their vectors, after each batch.
Advance = Callable[[int], None]


def _ignore(_count: int) -> None:
    """Nobody watches."""


class VectorCache:
    """Embeds each text once for all runs. One file a model, in `folder`."""

    def __init__(self, embedder: TextEmbedder, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._embedder = embedder
        path = folder / f"{embedder.name.replace('/', '-')}.sqlite"
        self._kept = sqlite3.connect(path, isolation_level=None)
        self._kept.execute("PRAGMA journal_mode = WAL")
        self._kept.execute("CREATE TABLE IF NOT EXISTS vectors (text BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID")

    async def documents(self, texts: Sequence[str], advance: Advance = _ignore) -> Vectors:
        """A row for each passage."""
        return await self._embedded("passage", texts, self._embedder.embed_documents, advance)

    async def queries(self, texts: Sequence[str], advance: Advance = _ignore) -> Vectors:
        """A row for each question."""
        return await self._embedded("question", texts, self._one_by_one, advance)

    def close(self) -> None:
        self._kept.close()

    async def _one_by_one(self, texts: Sequence[str]) -> Vectors:
        return np.stack([await self._embedder.embed_query(text) for text in texts])

    async def _embedded(self, kind: str, texts: Sequence[str], embed: Embed, advance: Advance) -> Vectors:
        keys = [hashlib.sha256(f"{kind}\0{text}".encode("utf8", "replace")).digest() for text in texts]
        found = {key: vector for key in set(keys) if (vector := self._look_up(key)) is not None}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        advance(len(texts) - len(missing))
        # Of like length together: a batch is padded to its longest.
        order = sorted(missing, key=lambda key: len(missing[key]))
        for first in range(0, len(order), _BATCH):
            batch = order[first : first + _BATCH]
            vectors = await embed([missing[key] for key in batch])
            self._keep(batch, vectors)
            found |= dict(zip(batch, vectors, strict=True))
            advance(len(batch))
        return np.stack([found[key] for key in keys]) if keys else np.empty((0, self._embedder.dimension), np.float32)

    def _look_up(self, key: bytes) -> Vectors | None:
        row = self._kept.execute("SELECT vector FROM vectors WHERE text = ?", (key,)).fetchone()
        return np.frombuffer(row[0], np.float32) if row else None

    def _keep(self, keys: Sequence[bytes], vectors: Vectors) -> None:
        rows = [(key, vector.astype(np.float32).tobytes()) for key, vector in zip(keys, vectors, strict=True)]
        with self._kept:
            self._kept.execute("BEGIN")
            self._kept.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
