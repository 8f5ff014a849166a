"""Making the demo on a first start."""

import asyncio
import shutil
import tempfile
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from uuid import UUID

from nodes.chat.state import ChatResponse
from tributary.domain.bots import Bot, Weights
from tributary.domain.errors import DependencyUnavailable
from tributary.domain.knowledge import Document, DocumentStatus
from tributary.services import Services
from tributary.turns.runner import TurnRequest

ORGANISATION = "demo"
#: A file of the data folder that says that the demo was made and its key shown.
MARK = ".demo"
KNOWLEDGE_BASE = "Tributary guide"
BOT = "Demo"
PROMPT = "You help people to use Tributary. Answer briefly."
QUESTION = "How is the score of a chunk put together?"


@dataclass(frozen=True, slots=True)
class Demo:
    """What a first start shows: a key, the bot, and a first answer."""

    key: str
    bot_id: UUID
    question: str
    answer: ChatResponse


async def set_up_demo(services: Services) -> Demo | None:
    """Makes the organisation, the knowledge base and the bot, asks a first question, and makes a key. None when that
    was done before on this data folder or database: whoever deletes the demo is not given it again. A start that was
    cut off before it could show the key is made up for by the next."""
    mark = services.settings.data / MARK
    if await asyncio.to_thread(mark.exists):
        return None
    organisation = await services.identity.ensure_organisation(ORGANISATION)
    bots = await services.bots.list(organisation.id, after=None, limit=1)
    if bots and await services.identity.list_keys(organisation.id):
        return None
    demo = await _make(services, organisation.id, bots[0] if bots else None)
    await asyncio.to_thread(mark.touch)
    return demo


async def _make(services: Services, organisation_id: UUID, unfinished: Bot | None) -> Demo:
    leftover = await services.knowledge.knowledge_base_named(organisation_id, KNOWLEDGE_BASE)
    if leftover is not None:
        await services.knowledge_bases.delete(organisation_id, leftover.id)
    base = await services.knowledge_bases.create(
        organisation_id, name=KNOWLEDGE_BASE, description="How Tributary works, in its own words."
    )
    await _add_documents(services, organisation_id, base.id)
    if unfinished is not None:
        bot = await services.bots.update(organisation_id, unfinished.id, knowledge_base_ids=[base.id])
    else:
        bot = await services.bots.create(
            organisation_id,
            name=BOT,
            prompt=PROMPT,
            model=services.settings.chat_model,
            knowledge_base_ids=[base.id],
            weights=Weights(),
        )
    answer = await _ask(services, organisation_id, bot.id)
    _, key = await services.identity.create_key(organisation_id)
    return Demo(key=key, bot_id=bot.id, question=QUESTION, answer=answer)


async def _add_documents(services: Services, organisation_id: UUID, knowledge_base_id: UUID) -> None:
    folder = resources.files("tributary.demo") / "documents"
    added: list[Document] = []
    with tempfile.TemporaryDirectory(dir=services.uploads.incoming) as work:
        for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
            path = Path(work) / entry.name
            with resources.as_file(entry) as original:
                await asyncio.to_thread(shutil.copyfile, original, path)
            added.append(await services.documents.add(organisation_id, knowledge_base_id, entry.name, path))
    for document in added:
        async for state in services.documents.progress(organisation_id, knowledge_base_id, document.id):
            if state.status is DocumentStatus.FAILED:
                raise DependencyUnavailable(f"{state.filename} could not be ingested: {state.error}")


async def _ask(services: Services, organisation_id: UUID, bot_id: UUID) -> ChatResponse:
    turn = services.turns.start(TurnRequest(organisation_id=organisation_id, bot_id=str(bot_id), message=QUESTION))
    await turn.wait()
    if turn.response is None:
        raise DependencyUnavailable(f"The first question was not answered: {turn.problem}")
    return turn.response
