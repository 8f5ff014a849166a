"""The tools: what each is called, takes, answers and does. The answers are those of the REST routes."""

import base64
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Protocol

from pydantic import BaseModel

from tributary.domain.errors import InvalidRequest, NotFound
from tributary.domain.identity import Caller
from tributary.domain.ids import parse_id
from tributary.domain.knowledge import ParsedDocument
from tributary.routes import bots, documents, knowledge
from tributary.routes.chat import MAX_MESSAGE, AnswerShape
from tributary.routes.mcp.asking import ask
from tributary.routes.mcp.inputs import (
    Asking,
    ChunkReading,
    DocumentReading,
    GraphSearch,
    ImageSearch,
    Mapping,
    Paging,
    TextPart,
    TextSearch,
)
from tributary.routes.shapes import Page, page_of
from tributary.services import Services


class Progress(Protocol):
    """Tells whoever asked how far it is; in words."""

    async def __call__(self, message: str, /) -> None: ...


@dataclass(frozen=True, slots=True)
class Call:
    """For whom a tool works, and with what."""

    caller: Caller
    services: Services
    progress: Progress


@dataclass(frozen=True, slots=True)
class Tool:
    """`run` gives what `output` describes, as a model or as what one is made from."""

    name: str
    title: str
    description: str
    input: type[BaseModel]
    output: type[BaseModel]
    run: Callable[[Call, Any], Awaitable[object]]
    reads_only: bool = True


async def _list_knowledge_bases(call: Call, given: Paging) -> object:
    found = await call.services.knowledge.list_knowledge_bases(
        call.caller.organisation_id, after=given.cursor, limit=given.limit + 1
    )
    return page_of(found, given.limit, knowledge.shape)


async def _search(call: Call, given: TextSearch) -> object:
    return {
        "results": await call.services.retrieval.search_text(
            call.caller.organisation_id,
            parse_id("knowledge base", given.knowledge_base_id),
            query=given.query,
            top_k=given.top_k,
        )
    }


async def _search_image(call: Call, given: ImageSearch) -> object:
    try:
        image = base64.b64decode(given.image_base64, validate=True)
    except ValueError as error:  # bad base64, and text beyond ASCII
        raise InvalidRequest("imageBase64 is not base64") from error
    return {
        "results": await call.services.retrieval.search_image(
            call.caller.organisation_id,
            parse_id("knowledge base", given.knowledge_base_id),
            image=image,
            top_k=given.top_k,
        )
    }


async def _search_graph(call: Call, given: GraphSearch) -> object:
    return await call.services.retrieval.search_graph(
        call.caller.organisation_id,
        parse_id("knowledge base", given.knowledge_base_id),
        query=given.query,
        hops=given.hops,
    )


async def _map(call: Call, given: Mapping) -> object:
    [found] = await call.services.knowledge.map(
        call.caller.organisation_id, [parse_id("knowledge base", given.knowledge_base_id)], limit=given.limit
    )
    return found


async def _read_document(call: Call, given: DocumentReading) -> object:
    found = await call.services.knowledge.document_text(
        call.caller.organisation_id,
        parse_id("knowledge base", given.knowledge_base_id),
        parse_id("document", given.document_id),
    )
    return _part(found, given.start, given.start + given.length)


def _part(document: ParsedDocument, start: int, end: int) -> dict[str, object]:
    last = min(end, len(document.text))
    first = min(start, last)
    return {
        "title": document.title,
        "text": document.text[first:last],
        "start": first,
        "end": last,
        "characters": len(document.text),
        "pages": [page for page in document.pages if page.start < last and page.end > first],
    }


async def _read_chunk(call: Call, given: ChunkReading) -> object:
    ids = parse_id("knowledge base", given.knowledge_base_id), parse_id("document", given.document_id)
    found = await call.services.knowledge.chunks(call.caller.organisation_id, [parse_id("chunk", given.chunk_id)])
    for chunk in found:
        if (chunk.knowledge_base_id, chunk.document_id) == ids:
            return chunk
    raise NotFound("chunk", given.chunk_id)


async def _list_bots(call: Call, given: Paging) -> object:
    found = await call.services.bots.list(call.caller.organisation_id, after=given.cursor, limit=given.limit + 1)
    return page_of(found, given.limit, bots.shape)


async def _ask(call: Call, given: Asking) -> object:
    return await ask(call.services.turns, call.caller.organisation_id, given, call.progress)


TOOLS = (
    Tool(
        "list_knowledge_bases",
        "List knowledge bases",
        "The knowledge bases that can be searched, with their ids and how many documents each holds.",
        Paging,
        Page[knowledge.KnowledgeBaseShape],
        _list_knowledge_bases,
    ),
    Tool(
        "search_knowledge_base",
        "Search a knowledge base",
        "The passages of a knowledge base that answer a question best, by meaning and by words, best first. Each names "
        "its document and where in it it stands.",
        TextSearch,
        knowledge.Results,
        _search,
    ),
    Tool(
        "search_knowledge_base_by_image",
        "Search a knowledge base by a picture",
        "The passages whose pictures look like the given one, most alike first.",
        ImageSearch,
        knowledge.Results,
        _search_image,
    ),
    Tool(
        "search_knowledge_graph",
        "Search a knowledge graph",
        "What a question names (people, places, organisations, things), how these are connected with others within a "
        "step or two, and the passages that say so.",
        GraphSearch,
        knowledge.GraphResults,
        _search_graph,
    ),
    Tool(
        "get_knowledge_base_map",
        "Map a knowledge base",
        "The documents of a knowledge base with type, summary and topics: what can be known from it.",
        Mapping,
        knowledge.MapShape,
        _map,
    ),
    Tool(
        "read_document",
        "Read a document",
        "The text of a document, in parts where it is long.",
        DocumentReading,
        TextPart,
        _read_document,
    ),
    Tool(
        "read_chunk",
        "Read a passage",
        "A passage that a search or a source of an answer names, whole.",
        ChunkReading,
        documents.ChunkShape,
        _read_chunk,
    ),
    Tool(
        "list_bots",
        "List bots",
        "The bots that can be asked, with their ids and the knowledge bases that they answer from.",
        Paging,
        Page[bots.BotShape],
        _list_bots,
    ),
    Tool(
        "ask_bot",
        "Ask a bot",
        "A bot's answer with numbered citations and their sources. The conversation is kept: its conversationId goes "
        f"on with it. A message has at most {MAX_MESSAGE:,} characters.",
        Asking,
        AnswerShape,
        _ask,
        reads_only=False,
    ),
)
