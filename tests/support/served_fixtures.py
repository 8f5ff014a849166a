"""The served graphs, for tests that ask for them with `pytest_plugins`, beside `tests.support.provided_fixtures`."""

import pytest

from tests.support.provided import Chatting
from tests.support.served import Served


@pytest.fixture
def served(chatting: Chatting) -> Served:
    return Served(chatting)
