"""The application as benchmarks use it: on the embedded default, in a folder of its own that goes with the run."""

import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import UUID

from tributary.cli.knowledge import ingest_all
from tributary.domain.bots import Bot, Weights
from tributary.services import Services, open_services
from tributary.settings import Settings


@asynccontextmanager
async def opened(**overrides: object) -> AsyncIterator[Services]:
    """Services on a new data folder."""
    with tempfile.TemporaryDirectory(prefix="tributary-bench-") as folder:
        async with open_services(Settings.load(data=Path(folder) / "data", **overrides)) as services:
            yield services


async def organisation(services: Services) -> UUID:
    return (await services.identity.ensure_organisation("bench")).id


async def knowledge_base(services: Services, owner: UUID, name: str, files: Sequence[Path]) -> UUID:
    """A knowledge base of these files, once all are searchable. Raises `RuntimeError` when one failed."""
    base = await services.knowledge_bases.create(owner, name=name)
    async with services.worker.working():
        failures = await ingest_all(services, owner, base.id, files)
    if failures:
        raise RuntimeError(f"{len(failures)} documents failed, the first: {failures[0]}")
    return base.id


async def bot(services: Services, owner: UUID, bases: Sequence[UUID], *, model: str = "local/extractive") -> Bot:
    return await services.bots.create(
        owner, name="bench", prompt="", model=model, knowledge_base_ids=bases, weights=Weights()
    )
