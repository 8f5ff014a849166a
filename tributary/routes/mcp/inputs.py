"""What the tools take, and answer where REST has no such shape."""

from uuid import UUID

from pydantic import Field

from tributary.routes.chat import ClaimBody
from tributary.routes.documents import PageShape
from tributary.routes.knowledge import GraphSearching, Searching
from tributary.routes.shapes import Body, Shape, Text

#: Characters of a document's text in one answer.
DEFAULT_LENGTH, MAX_LENGTH = 20_000, 200_000


class Paging(Body):
    cursor: UUID | None = Field(None, description="`nextCursor` of the page before")
    limit: int = Field(50, ge=1, le=200)


class OfKnowledgeBase(Body):
    knowledge_base_id: str = Field(max_length=100, description="Its id, from list_knowledge_bases")


class TextSearch(OfKnowledgeBase, Searching):
    """A question or words, in any language."""


class ImageSearch(OfKnowledgeBase):
    image_base64: str = Field(max_length=30_000_000, description="A JPEG, PNG or WebP picture")
    top_k: int = Field(3, ge=1, le=50)


class GraphSearch(OfKnowledgeBase, GraphSearching):
    """A question that names people, places or things."""


class Mapping(OfKnowledgeBase):
    limit: int = Field(200, ge=1, le=200)


class OfDocument(OfKnowledgeBase):
    document_id: str = Field(max_length=100, description="From the map, or from a result of a search")


class DocumentReading(OfDocument):
    start: int = Field(0, ge=0, description="The first character")
    length: int = Field(DEFAULT_LENGTH, ge=1, le=MAX_LENGTH, description="Characters at most")


class ChunkReading(OfDocument):
    chunk_id: str = Field(max_length=100, description="From a result of a search, or a source of an answer")


class Asking(Body):
    bot_id: str = Field(max_length=100, description="Its id, from list_bots")
    message: Text
    conversation_id: str | None = Field(None, max_length=100, description="Of an earlier answer, to go on with it")
    attachments: list[ClaimBody] = Field(
        default_factory=list, max_length=100, description="Files that were uploaded over HTTP"
    )


class TextPart(Shape):
    """A part of a document's text; `characters` is the length of the whole. The next part starts at `end`."""

    title: str
    text: str
    start: int
    end: int
    characters: int
    pages: list[PageShape]
