"""The prepared model, loaded: word table, network and tokenizer."""

import mmap
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tributary.models.local.e5.blocks import unpack_blocks
from tributary.models.local.e5.prepared import NETWORK, WORDS
from tributary.models.local.e5.tokenizer import E5Tokenizer
from tributary.models.local.onnx_runtime import open_model
from tributary.models.local.text_model import Tokens, padded, unit_rows
from tributary.models.protocols import Vectors


class E5Model:
    """A `TextModel`. The word table stays on disk: a run unpacks the rows that it needs, a hundredth of its time."""

    def __init__(self, folder: Path, tokenizer: E5Tokenizer, threads: int | None) -> None:
        self.tokenizer = tokenizer
        self._words: NDArray[np.uint8] = np.load(folder / WORDS, mmap_mode="r")
        self._network = open_model(folder / NETWORK, threads=threads, fuse=False)

    def embed(self, batch: Sequence[Tokens]) -> Vectors:
        ids, lengths = padded(batch, self.tokenizer.padding)
        rows = self._words[ids]
        self._unmap()
        return unit_rows(self._network.run({"words": unpack_blocks(rows), "lengths": lengths}))

    def _unmap(self) -> None:
        """Takes the table's pages out of this process, where a few documents would leave all 40 MB of it. The system
        keeps them at hand: the next rows cost a fault each, which beside the network is nothing."""
        mapped = self._words.base
        if isinstance(mapped, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
            mapped.madvise(mmap.MADV_DONTNEED)
