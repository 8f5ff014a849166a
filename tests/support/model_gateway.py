"""The gateway to chat models over the stub of providers, for tests of what calls one."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.support.provider import Provider
from tributary.models.capabilities import ModelCapabilities
from tributary.models.chat import ChatModels
from tributary.models.gateway import ModelGateway


def _no_local_model() -> Any:
    raise AssertionError("the built-in model is not asked")


@asynccontextmanager
async def open_gateway(provider: Provider, folder: Path) -> AsyncIterator[ModelGateway]:
    settings = provider.settings(folder)
    models = ChatModels(settings, _no_local_model)
    capabilities = ModelCapabilities(settings, models.profile)
    yield ModelGateway(models=models, capabilities=capabilities, timeout=5.0)
    await models.aclose()
    await capabilities.aclose()
