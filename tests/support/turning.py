"""Turns over a chat world, with a model that says what a test tells it to."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from langchain_core.messages import BaseMessage

from graphs.chat import build_chat_graph
from graphs.ports import ChatPorts, RetrievalPorts
from nodes.chat.loading import Pictures
from stores.memory.blobs import MemoryBlobs
from stores.memory.graph import MemoryGraph
from stores.memory.knowledge import MemoryKnowledge
from stores.memory.search import MemorySearch
from stores.memory.signals import MemorySignals
from tests.support.chat_worlds import USAGE, ChatWorld
from tests.support.worlds import PlainEmbedder, towards
from tributary.domain.attachments import FileType
from tributary.files.images import PreparedImage
from tributary.models.catalogue import Capabilities
from tributary.models.invoke import Delta, Finish, Piece
from tributary.models.protocols import TextEmbedder, Vectors
from tributary.turns.events import RunningTurn
from tributary.turns.runner import CheckpointedGraph, TurnRequest, Turns
from tributary.turns.stops import Stops


@dataclass
class ScriptedModel:
    """Answers with `pieces`; a piece that is an exception is raised, one that is an event is waited for."""

    pieces: Sequence[str | BaseException | asyncio.Event] = ("An ", "answer.")
    takes: Capabilities = field(
        default_factory=lambda: Capabilities(images=True, pdfs=True, audio=True, context_tokens=10_000)
    )
    calls: list[Sequence[BaseMessage]] = field(default_factory=list)
    reached: asyncio.Event = field(default_factory=asyncio.Event)

    async def capabilities(self, model: str) -> Capabilities:
        return self.takes

    async def stream(
        self, model: str, messages: Sequence[BaseMessage], *, max_output: int | None = None
    ) -> AsyncGenerator[Piece, None]:
        self.calls.append(messages)
        for piece in self.pieces:
            if isinstance(piece, str):
                yield Delta(piece)
                continue
            self.reached.set()
            if isinstance(piece, BaseException):
                raise piece
            await piece.wait()
        yield Finish(USAGE, "stop", False)

    def count_tokens(self, text: str) -> int:
        return len(text) // 4


class PlainQueries:
    def embedder(self, name: str) -> TextEmbedder:
        return PlainEmbedder()

    async def embed_query(self, name: str, text: str) -> Vectors:
        return towards(1)


class NoImages:
    name = "test/images"
    dimension = 4

    async def embed_images(self, images: Sequence[bytes]) -> Vectors:
        return towards(1).reshape(1, -1).repeat(len(images), axis=0)

    def similarity(self, cosine: Vectors) -> Vectors:
        return cosine

    def image_embedder(self, embedding: str) -> "NoImages":
        """It is its own registry."""
        return self

    def shared_embedder(self, embedding: str) -> None:
        return None


class PlainPictures:
    """Takes every picture as it is."""

    async def prepared(self, key: str, load: Callable[[], Awaitable[bytes]], *, max_bytes: int) -> PreparedImage:
        return PreparedImage(await load(), FileType.PNG, 1, 1)


@dataclass
class Bench:
    """Turns of one bot, over a world's stores."""

    world: ChatWorld
    model: ScriptedModel = field(default_factory=ScriptedModel)
    blobs: MemoryBlobs = field(default_factory=MemoryBlobs)
    pictures: Pictures = field(default_factory=lambda: PlainPictures())

    def __post_init__(self) -> None:
        knowledge = self.world.knowledge
        twin = knowledge if isinstance(knowledge, MemoryKnowledge) else MemoryKnowledge()
        self.ports = ChatPorts(
            retrieval=RetrievalPorts(
                caller=lambda runtime: UUID(runtime.context.organisation_id),
                knowledge=knowledge,
                search=MemorySearch(twin),
                graph=MemoryGraph(twin),
                blobs=self.blobs,
                queries=PlainQueries(),
                images=NoImages(),
            ),
            bots=self.world.bots,
            conversations=self.world.conversations,
            attachments=self.world.attachments,
            pictures=self.pictures,
            models=self.model,
            stops=(stops := Stops(MemorySignals())),
        )
        graph: Any = build_chat_graph(self.ports).compile()
        self.turns = Turns(
            graph=CheckpointedGraph(graph, self.world.checkpoints.saver),
            conversations=self.world.conversations,
            queue=self.world.queue,
            stops=stops,
            queue_timeout=20.0,
        )

    async def ask(self, bot_id: UUID, message: str = "Why?", **fields: Any) -> RunningTurn:
        """A turn, seen to its end."""
        turn = self.start(bot_id, message, **fields)
        await turn.wait()
        return turn

    def start(self, bot_id: UUID, message: str = "Why?", **fields: Any) -> RunningTurn:
        return self.turns.start(
            TurnRequest(organisation_id=self.world.acme, bot_id=str(bot_id), message=message, **fields)
        )
