"""Two ways to store a matrix in few bits: the 4-bit blocks of the wheel, and the bytes that the network multiplies."""

import numpy as np
from numpy.typing import NDArray

#: A block: a float16 scale, then 16 bytes with two values each.
BLOCK_VALUES = 32
BLOCK_BYTES = 18


def unpack_blocks(blocks: NDArray[np.uint8]) -> NDArray[np.float32]:
    """4-bit blocks `(…, n, 18)` as values `(…, 32 n)`. Byte j holds value j in its low bits and value j + 16 in its
    high ones, each 8 too large."""
    blocks = np.ascontiguousarray(blocks)
    scales = np.ascontiguousarray(blocks[..., :2]).view("<f2").astype(np.float32)
    pairs = blocks[..., 2:]
    values = np.empty((*pairs.shape[:-1], BLOCK_VALUES), dtype=np.float32)
    values[..., : BLOCK_VALUES // 2] = pairs & 0x0F
    values[..., BLOCK_VALUES // 2 :] = pairs >> 4
    values -= 8
    values *= scales
    return values.reshape(*blocks.shape[:-2], -1)


#: Processors without 8-bit dot products add two products of a weight and an activation (up to 255) in 16 bits, and
#: cut off what is larger. With weights up to 63 no pair is, so that all machines give the same vectors.
LARGEST = 63


def quantise_rows(matrix: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """A matrix `(rows, columns)` as int8 with one scale a row, `(rows,)`; rows of zeros stay zeros."""
    largest = np.abs(matrix).max(axis=1)
    scales = np.where(largest > 0, largest / LARGEST, 1).astype(np.float32)
    return np.rint(matrix / scales[:, None]).astype(np.int8), scales
