"""`tributary reindex`."""

from uuid import UUID

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from stores.protocols.reindexing import Extent
from tributary.cli.options import console
from tributary.domain.errors import NotFound
from tributary.domain.knowledge import KnowledgeBase
from tributary.services import Services, open_services
from tributary.settings import Settings


async def reindex(settings: Settings, *, organisation: str, name: str, embedding: str | None, discard: bool) -> None:
    """Embeds the knowledge base anew under a progress bar, or gives up what an earlier run has done.

    Raises:
        NotFound: no such organisation or knowledge base.
        CallerError, DependencyError: see `Reindexing.run`.
    """
    async with open_services(settings) as services:
        owner = await services.identity.organisation_named(organisation)
        base = await _base_named(services, owner.id, name)
        if discard:
            await services.reindexing.discard(owner.id, base.id)
            console.print(
                f"{base.name} stays with {base.embedding}; what was embedded for another one is gone", soft_wrap=True
            )
            return
        moved = await _run(services, owner.id, base, embedding)
    console.print(f"{moved.name} is searched by {moved.embedding} ({moved.dimension} dimensions)", soft_wrap=True)


async def _run(services: Services, organisation_id: UUID, base: KnowledgeBase, embedding: str | None) -> KnowledgeBase:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TaskProgressColumn())
    with Progress(*columns, TimeRemainingColumn(), console=console) as progress:
        task = progress.add_task(f"{base.name} → {embedding or base.embedding}", total=None)

        def tell(extent: Extent) -> None:
            progress.update(task, completed=extent.done, total=extent.total)

        return await services.reindexing.run(organisation_id, base.id, embedding=embedding, tell=tell)


async def _base_named(services: Services, organisation_id: UUID, name: str) -> KnowledgeBase:
    """By name or, where that is ambiguous, by id."""
    found = await services.knowledge.knowledge_base_named(organisation_id, name)
    if found is not None:
        return found
    try:
        identifier = UUID(name)
    except ValueError as error:
        raise NotFound("Knowledge base", name) from error
    [found] = await services.knowledge.knowledge_bases(organisation_id, [identifier])
    return found
