"""Turning what retrieval ranked into numbered sources and the context that the model gets."""

from uuid import UUID

from langgraph.runtime import Runtime

from nodes.chat.prompt import number_sources, render_context
from nodes.chat.state import CallerOf, ChatState, Context
from stores.protocols.knowledge import KnowledgeReader


async def compose_context(
    state: ChatState, runtime: Runtime[Context], *, caller: CallerOf, knowledge: KnowledgeReader
) -> ChatState:
    """Loads the texts of the ranked chunks, numbers them, and renders the sections. The one numbering of the turn."""
    ranked = state["ranked"]
    chunks = await knowledge.chunks(caller(runtime), [UUID(hit["chunkId"]) for hit in ranked]) if ranked else []
    names = {base["id"]: base["name"] for base in state["turn"]["knowledgeBases"]}
    sources = number_sources(ranked, chunks, names)
    runtime.stream_writer({"type": "sources", "sources": sources})
    return {"sources": sources, "context": render_context(sources, chunks, state["maps"], state["facts"])}
