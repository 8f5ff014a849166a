"""The graphs that `langgraph.json` names, acting as the organisation that `tributary.studio.auth` found.

LangGraph's server gives them a checkpointer of its own, so that runs can be stepped through, edited and forked. It asks
a factory anew for each run and each look at a thread.
"""

from uuid import UUID

from langgraph_sdk.runtime import ServerRuntime

from graphs import ingest
from graphs.chat import build_chat_graph
from graphs.ingest import build_ingest_graph
from graphs.retrieval import build_retrieval_graph
from graphs.stepping import SteppableGraph, steppable
from nodes.chat.state import ChatInput, ChatOutput, ChatState, Context
from nodes.retrieval.state import RetrievalInput, RetrievalOutput, RetrievalState
from tributary.studio.opened import opened
from tributary.studio.ports import chat_ports, ingest_ports

Retrieval = SteppableGraph[RetrievalState, Context, RetrievalInput, RetrievalOutput]
Chat = SteppableGraph[ChatState, Context, ChatInput, ChatOutput]

#: Of those who only look at a graph's shape without having signed in: it owns nothing.
_NOBODY = UUID(int=0)


async def chat_graph(runtime: ServerRuntime[Context]) -> Chat:
    """A chat turn. Its input is a message and a bot's id; a thread goes on with its conversation."""
    ports = chat_ports(await opened.get(), _organisation_of(runtime))
    return steppable(build_chat_graph(ports, stepped=True).compile())


async def retrieval_graph(runtime: ServerRuntime[Context]) -> Retrieval:
    """The four branches of retrieval and their merge. Its input is a search plan."""
    ports = chat_ports(await opened.get(), _organisation_of(runtime)).retrieval
    return steppable(build_retrieval_graph(ports, stepped=True).compile())


async def ingest_graph(runtime: ServerRuntime[Context]) -> ingest.Builder:
    """Ingestion of one document that is in a knowledge base already, out of the workers' hands."""
    return build_ingest_graph(ingest_ports(await opened.get(), _organisation_of(runtime)))


def _organisation_of(runtime: ServerRuntime[Context]) -> UUID:
    """Raises `PermissionError` where a run is to be executed and nobody has signed in."""
    if runtime.user is None and runtime.execution_runtime is None:
        return _NOBODY
    return UUID(runtime.ensure_user().identity)
