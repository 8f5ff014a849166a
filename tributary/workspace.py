"""Tributary in a notebook or a script: one organisation's knowledge bases and bots, and the graphs over them.

    workspace = await Workspace.open()
    handbook = await workspace.knowledge_base("Handbook")
    await workspace.ingest(handbook, "docs")
    bot = await workspace.bot("Guide", [handbook])
    graph = workspace.chat_graph()
    answered = await graph.ainvoke({"message": "What is a turn?", "botId": str(bot.id)}, thread())

It works on what the environment says, as all commands do: by default on the database of the data folder, beside a
running server or without one.
"""

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Self
from uuid import UUID

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver

from graphs.chat import build_chat_graph
from graphs.ports import ChatPorts
from graphs.retrieval import build_retrieval_graph
from graphs.stepping import SteppableGraph, steppable
from nodes.retrieval.state import KnowledgeBaseRef, RetrievalInput, SearchPlan, WeightsDict
from tributary.domain.bots import Bot, Weights
from tributary.domain.errors import InvalidRequest
from tributary.domain.ids import new_id
from tributary.domain.knowledge import Document, KnowledgeBase
from tributary.drawing import draw
from tributary.files.names import display_name
from tributary.services import Services, open_services
from tributary.settings import Settings
from tributary.studio.ports import chat_ports

#: A node in place of one of ours: the same state in, the same update out.
Nodes = Mapping[str, Callable[..., Any]]
Graph = SteppableGraph[Any, Any, Any, Any]

#: Entities of a drawing.
DRAWN = 200


def thread() -> RunnableConfig:
    """A new thread for a graph that keeps its states: give it along with each call that belongs together."""
    return {"configurable": {"thread_id": str(new_id())}}


class Workspace:
    """Made by `open`, to be closed by `close`; or `async with opened_workspace() as workspace`."""

    def __init__(self, services: Services, organisation_id: UUID, stack: AsyncExitStack) -> None:
        self.services = services
        self.organisation_id = organisation_id
        self._stack = stack

    @classmethod
    async def open(cls, **settings: Any) -> Self:
        """Opens the services, with a worker that ingests. `settings` are fields of `Settings`, such as `data` and
        `organisation`, over what the environment says.

        Raises:
            DependencyUnavailable, Conflict: as `open_services`.
        """
        chosen = Settings.load(**settings)
        async with AsyncExitStack() as stack:
            services = await stack.enter_async_context(open_services(chosen))
            organisation = await services.identity.ensure_organisation(chosen.organisation)
            await stack.enter_async_context(services.worker.working())
            return cls(services, organisation.id, stack.pop_all())
        raise AssertionError("unreachable")

    async def close(self) -> None:
        """Ends the worker and closes everything, the embedded database too if nobody else uses it."""
        await self._stack.aclose()

    async def knowledge_base(self, name: str) -> KnowledgeBase:
        """The knowledge base of that name, made where it is new."""
        found = await self.services.knowledge.knowledge_base_named(self.organisation_id, name)
        return found or await self.services.knowledge_bases.create(self.organisation_id, name=name)

    async def ingest(self, base: KnowledgeBase, *paths: str | Path) -> list[Document]:
        """Puts files, and the files of folders, into the knowledge base and waits until each is searchable or has
        failed (`status`, `error`). A file whose name is there takes its place."""
        files = await asyncio.to_thread(_files, [Path(path) for path in paths])
        there = {each.filename: each for each in await self._documents(base)}
        return await asyncio.gather(*(self._ingest(base, path, there.get(display_name(path.name))) for path in files))

    async def bot(self, name: str, bases: Sequence[KnowledgeBase], *, prompt: str = "", model: str = "") -> Bot:
        """The bot of that name with these knowledge bases, made where it is new."""
        linked = [base.id for base in bases]
        chosen = model or self.services.settings.chat_model
        for bot in await self.services.bots.list(self.organisation_id, after=None, limit=200):
            if bot.name == name:
                return await self.services.bots.update(
                    self.organisation_id, bot.id, prompt=prompt, model=chosen, knowledge_base_ids=linked
                )
        return await self.services.bots.create(
            self.organisation_id, name=name, prompt=prompt, model=chosen, knowledge_base_ids=linked, weights=Weights()
        )

    def chat_graph(self, nodes: Nodes | None = None) -> Graph:
        """The chat graph, keeping its states in memory, with `nodes` in the place of those of the same names, also
        within the retrieval. Raises `InvalidRequest` for names that no node has."""
        swapped = dict(nodes or {})
        ports = self._ports()
        _require_known(swapped, build_chat_graph(ports).nodes, build_retrieval_graph(ports.retrieval).nodes)
        return steppable(build_chat_graph(ports, stepped=True, nodes=swapped).compile(checkpointer=InMemorySaver()))

    def retrieval_graph(self, nodes: Nodes | None = None) -> Graph:
        """The retrieval graph alone; its input is a `plan`."""
        swapped, ports = dict(nodes or {}), self._ports().retrieval
        _require_known(swapped, build_retrieval_graph(ports).nodes)
        return steppable(build_retrieval_graph(ports, stepped=True, nodes=swapped).compile())

    def plan(
        self,
        question: str,
        bases: Sequence[KnowledgeBase],
        *,
        recent: Sequence[str] = (),
        weights: Weights | None = None,
    ) -> RetrievalInput:
        """What to search for: the input of the retrieval graph."""
        chosen = weights or Weights()
        return RetrievalInput(
            plan=SearchPlan(
                query=question,
                recent=list(recent),
                knowledgeBases=[
                    KnowledgeBaseRef(id=str(each.id), name=each.name, embedding=each.embedding) for each in bases
                ],
                images=[],
                weights=WeightsDict(vector=chosen.vector, text=chosen.text, importance=chosen.importance),
            )
        )

    async def drawing(self, base: KnowledgeBase) -> str:
        """The knowledge graph's most mentioned entities, as an HTML page that needs no network."""
        page = await self.services.graph.browse(self.organisation_id, base.id, cursor=None, limit=DRAWN)
        return await asyncio.to_thread(draw, base.name, page.nodes, page.edges)

    def _ports(self) -> ChatPorts:
        return chat_ports(self.services, self.organisation_id)

    async def _documents(self, base: KnowledgeBase) -> list[Document]:
        found: list[Document] = []
        while page := await self.services.knowledge.list_documents(
            self.organisation_id, base.id, after=found[-1].id if found else None, limit=200
        ):
            found += page
        return found

    async def _ingest(self, base: KnowledgeBase, path: Path, there: Document | None) -> Document:
        documents, owner = self.services.documents, self.organisation_id
        with tempfile.TemporaryDirectory(dir=self.services.uploads.incoming) as work:
            copy = Path(work) / "file"
            await asyncio.to_thread(shutil.copyfile, path, copy)
            name = display_name(path.name)
            if there is not None:
                document = await documents.replace(owner, base.id, there.id, name, copy)
            else:
                document = await documents.add(owner, base.id, name, copy)
        async for state in documents.progress(owner, base.id, document.id):
            document = state
        return document


@asynccontextmanager
async def opened_workspace(**settings: Any) -> AsyncIterator[Workspace]:
    """A workspace for as long as the block runs; `settings` as in `Workspace.open`."""
    workspace = await Workspace.open(**settings)
    try:
        yield workspace
    finally:
        await workspace.close()


def _files(paths: Sequence[Path]) -> list[Path]:
    """The files named, and those of folders named, in order of their paths; hidden ones of folders are left out."""
    found: list[Path] = []
    for path in paths:
        inside = (each for each in sorted(path.rglob("*")) if each.is_file()) if path.is_dir() else (path,)
        found += [each for each in inside if each == path or not each.name.startswith(".")]
    return list(dict.fromkeys(found))


def _require_known(nodes: Nodes, *known: Mapping[str, object]) -> None:
    names = {name for each in known for name in each}
    if unknown := sorted(set(nodes) - names):
        raise InvalidRequest(f"No node is called {', '.join(unknown)}; there are {', '.join(sorted(names))}")
