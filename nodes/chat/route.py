"""Routing: which path each attached file takes (SPEC §2), and what to search for."""

from collections.abc import Sequence
from uuid import UUID

from langgraph.runtime import Runtime

from nodes.chat.state import CallerOf, ChatState, Context, Routes
from nodes.retrieval.sharing import QuestionSearch
from nodes.retrieval.state import SearchPlan
from stores.protocols.conversations import TurnStore
from tributary.domain.attachments import AttachedFile, Modality
from tributary.domain.conversations import Message

#: The messages before a question that its search query remembers (SPEC §3).
RECENT_MESSAGES = 5


async def route_attachments(state: ChatState) -> ChatState:
    """Sorts the files by type. Images are searched with; every type is stored and, if the model takes it, sent."""
    return {"routes": routes_of(state["files"])}


def routes_of(files: Sequence[AttachedFile]) -> Routes:
    """The files' ids by modality, in the order given."""

    def of(modality: Modality) -> list[str]:
        return [file["id"] for file in files if file["modality"] == modality]

    return Routes(images=of(Modality.IMAGE), pdfs=of(Modality.PDF), texts=of(Modality.TEXT), audios=of(Modality.AUDIO))


async def enhance_query(
    state: ChatState,
    runtime: Runtime[Context],
    *,
    caller: CallerOf,
    conversations: TurnStore,
    questions: QuestionSearch,
) -> ChatState:
    """Plans the search: the question with the messages before it, and the pictures to search with. The embedding of
    the question begins at once, while the question is still being stored."""
    turn = state["turn"]
    replaced = turn["replaceMessageId"]
    recent: Sequence[Message] = ()
    if not turn["opening"]:
        recent = await conversations.recent(
            caller(runtime),
            UUID(turn["conversationId"]),
            limit=RECENT_MESSAGES,
            before=UUID(replaced) if replaced else None,
        )
    plan = SearchPlan(
        query=state["message"],
        recent=recent_texts(recent),
        knowledgeBases=turn["knowledgeBases"],
        images=[file["storageKey"] for file in state["files"] if file["modality"] == Modality.IMAGE],
        weights=turn["weights"],
    )
    questions.prepare(plan)
    return {"plan": plan}


def recent_texts(messages: Sequence[Message]) -> list[str]:
    """The texts that a search remembers, oldest first; each cut to what can matter to a search."""
    return [message.content[:2000] for message in messages[-RECENT_MESSAGES:] if message.content.strip()]
