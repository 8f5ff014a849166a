"""The local text embedders, one of each for the whole run: a prepared model is 80 MB of files and as much memory."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tributary.models.local.e5.embedder import E5Embedder
from tributary.models.local.e5.prepare import prepare_model
from tributary.models.local.minilm.embedder import MiniLmEmbedder
from tributary.models.local.text_embedder import LocalTextEmbedder


@pytest.fixture(scope="session")
def model_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the prepared model lies: the folder that the environment names, or one of this run."""
    named = os.environ.get("TRIBUTARY_MODEL_CACHE")
    cache = Path(named) if named else tmp_path_factory.mktemp("models")
    prepare_model(cache)
    return cache


@pytest.fixture(scope="session")
def e5(model_cache: Path) -> Iterator[E5Embedder]:
    embedder = E5Embedder(model_cache)
    yield embedder
    embedder.close()


@pytest.fixture(scope="session")
def minilm() -> Iterator[MiniLmEmbedder]:
    embedder = MiniLmEmbedder()
    yield embedder
    embedder.close()


@pytest.fixture(params=["e5", "minilm"])
def embedder(request: pytest.FixtureRequest) -> LocalTextEmbedder:
    """Each local embedder in turn."""
    chosen: LocalTextEmbedder = request.getfixturevalue(request.param)
    return chosen
