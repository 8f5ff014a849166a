"""Turning what retrieval ranked into numbered sources and the context that the model gets."""

from uuid import UUID

from langgraph.runtime import Runtime

from nodes.chat.capability import CapabilityLookup, capabilities_of
from nodes.chat.fitting import fit_context
from nodes.chat.prompt import number_sources
from nodes.chat.state import CallerOf, ChatState, Context
from stores.protocols.knowledge import KnowledgeReader


async def compose_context(
    state: ChatState,
    runtime: Runtime[Context],
    *,
    caller: CallerOf,
    knowledge: KnowledgeReader,
    models: CapabilityLookup,
) -> ChatState:
    """Loads the texts of the ranked chunks, numbers them, and renders the sections, as far as the model's window has
    room. The one numbering of the turn."""
    ranked = state["ranked"]
    chunks = await knowledge.chunks(caller(runtime), [UUID(hit["chunkId"]) for hit in ranked]) if ranked else []
    names = {base["id"]: base["name"] for base in state["turn"]["knowledgeBases"]}
    sources, context = fit_context(
        number_sources(ranked, chunks, names),
        chunks,
        state["maps"],
        state["facts"],
        window=(await capabilities_of(state["turn"], models)).context_tokens,
    )
    runtime.stream_writer({"type": "sources", "sources": sources})
    return {"sources": sources, "context": context}
