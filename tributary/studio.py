"""The graphs for LangGraph Studio and notebooks: over the same services as the server, acting as `TRIBUTARY_ORG`.

`langgraph.json` names these factories. Each returns a builder; LangGraph's own server compiles it with a checkpointer
of its own, so that runs can be stepped through, edited and forked.
"""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import replace

from graphs import chat, retrieval
from graphs.chat import build_chat_graph
from graphs.ports import ChatPorts
from graphs.retrieval import build_retrieval_graph
from tributary.services import Services, acting_as, open_services
from tributary.settings import Settings


class _Opened:
    """Services that are opened at the first request and live as long as the process."""

    def __init__(self) -> None:
        self._stack = AsyncExitStack()
        self._opening: asyncio.Task[Services] | None = None

    async def services(self) -> Services:
        if self._opening is None:
            self._opening = asyncio.create_task(self._stack.enter_async_context(open_services(Settings.load())))
        return await asyncio.shield(self._opening)


_opened = _Opened()


async def _ports() -> ChatPorts:
    services = await _opened.services()
    organisation = await services.identity.ensure_organisation(services.settings.organisation)
    caller = acting_as(organisation.id)
    return replace(services.chat_ports, retrieval=replace(services.chat_ports.retrieval, caller=caller))


async def chat_graph() -> chat.Builder:
    """The chat graph. Its input is SPEC §2's body with the bot's id."""
    return build_chat_graph(await _ports())


async def retrieval_graph() -> retrieval.Builder:
    """The retrieval graph alone. Its input is a search plan."""
    return build_retrieval_graph((await _ports()).retrieval)
