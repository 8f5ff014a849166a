"""What integration tests may ask for beside the database."""

from collections.abc import Iterator

import pytest

from tests.support.provider import Provider, run_provider


@pytest.fixture(scope="session")
def running_provider() -> Iterator[Provider]:
    with run_provider() as provider:
        yield provider


@pytest.fixture
def provider(running_provider: Provider) -> Iterator[Provider]:
    """The stub of all model providers, as new."""
    running_provider.reset()
    yield running_provider
    running_provider.reset()
