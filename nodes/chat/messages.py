"""Building the multimodal messages of a model call: pure, from bytes that were loaded before."""

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from nodes.chat.delivery import (
    MISSING,
    TOO_LARGE,
    UNREADABLE,
    UNSUPPORTED,
    missing_note,
    too_large_note,
    unreadable_note,
    unsupported_note,
)
from nodes.chat.loading import Content
from nodes.chat.state import Delivery
from tributary.domain.attachments import AttachedFile, FileType, Modality
from tributary.domain.conversations import Message, Role
from tributary.files.images import PreparedImage
from tributary.models.content import audio_block, image_block, pdf_block, text_block

Block = dict[str, Any]


def human_parts(message: str, deliveries: Sequence[Delivery], contents: Mapping[str, Content]) -> list[Block]:
    """The parts of a question: its text, then each file in the order given, or the note that stands in its place.
    `contents` are the files' by id, of those that are sent."""
    parts: list[Block] = [dict(text_block(message))] if message.strip() else []
    note = unsupported_note(deliveries)
    if note:
        parts.append(dict(text_block(note)))
    for delivery in deliveries:
        if delivery["reason"] == UNSUPPORTED:
            continue
        note_of = _NOTES.get(delivery["reason"])
        file = delivery["file"]
        parts.append(dict(text_block(note_of(file))) if note_of else file_block(file, contents[file["id"]]))
    return parts


_NOTES = {TOO_LARGE: too_large_note, MISSING: missing_note, UNREADABLE: unreadable_note}


def file_block(file: AttachedFile, content: Content) -> Block:
    """A file as a content block with its true type; text is inlined under its name."""
    if isinstance(content, str):
        return dict(text_block(f"[File: {file['filename']}]\n{content}"))
    if isinstance(content, PreparedImage):
        return dict(image_block(content.data, content.file_type))
    file_type = FileType(file["contentType"])
    if file_type.modality is Modality.PDF:
        return dict(pdf_block(content, file["filename"]))
    return dict(audio_block(content, file_type))


def has_content(message: str, deliveries: Sequence[Delivery]) -> bool:
    """Whether there is anything to ask a model: a text, or a file that reaches it."""
    return bool(message.strip()) or any(not delivery["reason"] for delivery in deliveries)


def history_messages(history: Sequence[tuple[Message, Sequence[Block]]]) -> list[BaseMessage]:
    """Former messages, oldest first; each question with the file parts that are sent again or stand for it."""
    return [
        AIMessage(message.content) if message.role is Role.ASSISTANT else _question(message.content, parts)
        for message, parts in history
    ]


def _question(text: str, files: Sequence[Block]) -> HumanMessage:
    """A question of text alone is a plain string, which every model takes; a blank one none does."""
    parts = [*([dict(text_block(text))] if text.strip() else []), *files]
    plain = len(parts) == 1 and parts[0]["type"] == "text"
    return HumanMessage(parts[0]["text"]) if plain else HumanMessage(list(parts))


def build_messages(system: str, history: Sequence[BaseMessage], parts: Sequence[Block]) -> list[BaseMessage]:
    """The whole call; `parts` are those of the question."""
    return [*([SystemMessage(system)] if system else []), *history, _question("", parts)]
