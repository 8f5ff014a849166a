"""What a local text model does, once it is loaded. Queues and threads are not its business."""

from collections.abc import Sequence
from enum import Enum
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tributary.domain.errors import ProviderError
from tributary.models.protocols import Vectors

#: The token ids of one text, special tokens included, cut to the model's window.
Tokens = NDArray[np.int32]


class Purpose(Enum):
    """What a text is embedded for: some models read questions and passages differently."""

    QUERY = "query"
    DOCUMENT = "document"


class Tokenizer(Protocol):
    """Safe from any thread."""

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, without special tokens or prefix; linear in its length."""
        ...

    def encode(self, text: str, purpose: Purpose) -> Tokens:
        """What the model reads of a text. The time is bounded by the window, not by the text's length, but for a
        scan or two of its characters."""
        ...


class TextModel(Protocol):
    """A tokenizer and a network. `embed` is called from one thread."""

    @property
    def tokenizer(self) -> Tokenizer: ...

    def embed(self, batch: Sequence[Tokens]) -> Vectors:
        """Unit vectors of a batch, in order: shape `(len(batch), dimension)`. The batch is padded to its longest."""
        ...


def padded(batch: Sequence[Tokens], padding: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The batch as one array of ids `(len(batch), longest)`, and how long each text is `(len(batch),)`."""
    lengths = np.array([len(tokens) for tokens in batch], dtype=np.int32)
    ids = np.full((len(batch), int(lengths.max())), padding, dtype=np.int32)
    for row, tokens in zip(ids, batch, strict=True):
        row[: len(tokens)] = tokens
    return ids, lengths


def unit_rows(rows: NDArray[Any]) -> Vectors:
    """Rows scaled to length one.

    Raises:
        ProviderError: a row has no direction (zero or not finite), so that no distance to it would mean anything.
    """
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not (np.isfinite(lengths) & (lengths > 0)).all():
        raise ProviderError("The local embedding model gave a vector without a direction")
    return np.asarray(rows / lengths, dtype=np.float32)
