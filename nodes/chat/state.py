"""State of a chat turn. It carries names and short facts; bytes and long texts are loaded where they are used."""

from dataclasses import dataclass
from typing import Annotated, NotRequired, Protocol
from uuid import UUID

from langgraph.channels import UntrackedValue
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from nodes.retrieval.state import KnowledgeBaseRef, KnowledgeGraphFacts, SearchPlan, WeightsDict
from tributary.domain.attachments import AttachedFile, AttachmentClaim
from tributary.domain.conversations import NotSent, Usage
from tributary.domain.errors import Problem
from tributary.domain.retrieval import Degradation, KnowledgeMap, RankedHit, Source


@dataclass(frozen=True, slots=True)
class Context:
    """What a run is told beside its input. Set by the server from the authenticated request, never from a body."""

    organisation_id: str = ""
    #: The id of the conversation that this turn begins, where it continues none.
    conversation_id: str = ""
    #: What the application that asks adds to the bot's prompt, for this turn.
    instructions: str = ""
    #: Tokens that the answer is limited to, where that is less than the bot's own limit.
    max_output: int | None = None


class CallerOf(Protocol):
    """Says for whom a run works: the port through which the server, Studio and notebooks differ."""

    def __call__(self, runtime: Runtime[Context], /) -> UUID: ...


class ChatInput(TypedDict):
    """A turn as the caller asks for it (SPEC §2)."""

    message: str
    botId: str
    conversationId: NotRequired[str | None]
    attachments: NotRequired[list[AttachmentClaim]]
    replaceMessageId: NotRequired[str | None]


class SaidOfModel(TypedDict):
    """What the bot's owner says of its model; see `CapabilityOverrides`."""

    image: bool | None
    pdf: bool | None
    audio: bool | None
    contextWindow: int | None
    maxOutput: int | None


class Turn(TypedDict):
    """The turn once it is known to be sound: who answers, from what, and under which ids."""

    conversationId: str
    #: Whether the turn is the conversation's first.
    opening: bool
    questionId: str
    answerId: str
    botId: str
    model: str
    prompt: str
    saidOfModel: SaidOfModel
    shrinkImages: bool
    weights: WeightsDict
    knowledgeBases: list[KnowledgeBaseRef]
    replaceMessageId: str | None


class Routes(TypedDict):
    """The attached files by the path that they take, as ids in the order given."""

    images: list[str]
    pdfs: list[str]
    texts: list[str]
    audios: list[str]


class Delivery(TypedDict):
    """How one file reaches the model: as itself (`reason` is empty), or as a note that says why it does not.
    `reason` is `unsupported`, `too_large`, `missing` or `unreadable`. `shrinkTo`: the bytes that a picture is made
    small to, 0 for as it is."""

    file: AttachedFile
    reason: str
    shrinkTo: int


class ChatResponse(TypedDict):
    """A turn's answer (SPEC §5): what REST returns, the stream ends with, and history keeps."""

    message: str
    conversationId: str
    messageId: str | None
    questionId: str
    sources: list[Source]
    usage: Usage
    model: str
    status: str
    degraded: list[Degradation]
    notSent: list[NotSent]
    #: Why the answer ends: `stop`, `length` (cut at the model's limit), `content_filter`, `stopped` (by the user), or
    #: the provider's own word.
    finishReason: str


class ChatOutput(TypedDict, total=False):
    """The answer, or the refusal; the other is None."""

    response: ChatResponse | None
    error: Problem | None


class VisibleState(TypedDict, total=False):
    """What is kept of a turn. Every channel is overwritten by each turn: nothing accumulates on the thread."""

    message: str
    botId: str
    conversationId: str | None
    replaceMessageId: str | None

    turn: Turn
    files: list[AttachedFile]
    routes: Routes
    plan: SearchPlan
    deliveries: list[Delivery]

    ranked: list[RankedHit]
    maps: list[KnowledgeMap]
    facts: list[KnowledgeGraphFacts]
    degraded: list[Degradation]

    #: The sections of SPEC §3 as the model gets them.
    context: str
    sources: list[Source]
    answer: str
    status: str
    finishReason: str
    usage: Usage
    notSent: list[NotSent]
    response: ChatResponse | None
    error: Problem | None


class ChatState(VisibleState, total=False):
    """All channels of a turn."""

    # Access tokens are secrets: they reach the first node and no checkpoint.
    attachments: Annotated[list[AttachmentClaim], UntrackedValue]
