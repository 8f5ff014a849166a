"""What runs in the sandbox's child processes. Each function imports what it needs there and nothing else, and takes and
returns plain values and words of the domain."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tributary.domain.knowledge import ChunkDraft, ParsedDocument

if TYPE_CHECKING:
    from stores.protocols.graph import GraphDraft

SUMMARY_CHARACTERS = 600
TOPICS = 8


def look(path: Path, filename: str) -> tuple[str, str]:
    """Content type of a received file, and the title that its name suggests.

    Raises:
        EmptyFile, UnsupportedType: a knowledge base does not take it.
    """
    from tributary.files.parsing.registry import document_type_of, title_from

    return document_type_of(path, filename), title_from(filename)


def read(path: Path, content_type: str, filename: str, title: str) -> ParsedDocument:
    """The document's text under the title to go by: `title` where people chose it, the file's own where `title` is
    only made from the file's name.

    Raises:
        CallerError: why it can't be read.
    """
    from tributary.files.parsing.registry import FORMATS, parse_document, title_from

    parsed = parse_document(path, content_type, filename)
    if title == title_from(filename):
        return parsed
    # A picture is found by its words alone, so they begin with the name that people gave it.
    text = f"{title}\n\n{parsed.text}" if FORMATS[content_type].named else parsed.text
    return replace(parsed, title=title, text=text)


def draw(path: Path, content_type: str, number: int, width: int, passage: tuple[str, int, int] | None) -> bytes:
    """A page as a PNG. `passage` is the page's text with the start and end of what to mark in it.

    Raises:
        CallerError: why it can't be drawn.
    """
    from tributary.files.rendering import Passage, render_page

    return render_page(path, content_type, number, width, None if passage is None else Passage(*passage))


def digest(text: str, filename: str) -> tuple[str, tuple[str, ...], str]:
    """Summary, topics and type of a document, without a model."""
    from tributary.text.document_types import document_type
    from tributary.text.keyphrases import key_phrases
    from tributary.text.summaries import summarise

    return summarise(text, SUMMARY_CHARACTERS), tuple(key_phrases(text, TOPICS)), document_type(text, filename)


def extract_entities(document: ParsedDocument, chunks: Sequence[ChunkDraft]) -> "GraphDraft":
    """Entities and relations, without a model."""
    from nodes.ingest.extracting import extract

    return extract(document, chunks)
