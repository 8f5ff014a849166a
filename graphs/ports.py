"""What the graphs need from the outside. The composition root fills these; tests fill them with twins."""

from collections.abc import Callable
from dataclasses import dataclass, field

from nodes.chat.billing import TurnBudget, Unlimited
from nodes.chat.invoke import ChatModel, StopSignals
from nodes.chat.loading import Pictures
from nodes.chat.state import CallerOf
from nodes.retrieval.question_vectors import QueryEmbedding
from stores.protocols.attachments import AttachmentStore
from stores.protocols.blobs import BlobStore
from stores.protocols.bots import BotStore
from stores.protocols.conversations import TurnStore
from stores.protocols.graph import GraphReader
from stores.protocols.knowledge import KnowledgeReader
from stores.protocols.search import ChunkSearch
from tributary.models.metering import Meter, plain_meter
from tributary.models.protocols import ImageSpaces


@dataclass(frozen=True, slots=True)
class RetrievalPorts:
    """Ports of the retrieval graph. `branch_timeout` is in seconds."""

    caller: CallerOf
    knowledge: KnowledgeReader
    search: ChunkSearch
    graph: GraphReader
    blobs: BlobStore
    queries: QueryEmbedding
    images: ImageSpaces
    branch_timeout: float = 10.0


@dataclass(frozen=True, slots=True)
class ChatPorts:
    """Ports of the chat graph."""

    retrieval: RetrievalPorts
    bots: BotStore
    conversations: TurnStore
    attachments: AttachmentStore
    pictures: Pictures
    models: ChatModel
    stops: StopSignals
    budget: TurnBudget = field(default_factory=Unlimited)
    #: Counts the call of a stepped turn, for which no server meters the whole.
    meter: Callable[[], Meter] = plain_meter
