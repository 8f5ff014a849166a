"""What a message holds, and the exact form in which each provider takes it.

Inside Tributary a message's content is a string or a list of LangChain's standard content blocks, as the functions
below make them: text, image, file (a PDF) and audio, the bytes in base64 with their true content type.
`wire_content` turns them into what goes to a provider. docs/providers.md has the table.
"""

import base64
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import BaseMessage

from tributary.domain.attachments import FileType

#: What OpenAI-compatible servers call the two audio formats; they refuse the content type's own subtype, `mpeg`.
_AUDIO_FORMATS = {FileType.MP3: "mp3", FileType.WAV: "wav"}
#: The content types by which Gemini knows them.
_GOOGLE_TYPES = {FileType.MP3: "audio/mp3"}

Block = Mapping[str, Any]


def text_block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def image_block(data: bytes, file_type: FileType) -> dict[str, Any]:
    return {"type": "image", "base64": base64.b64encode(data).decode(), "mime_type": file_type.value}


def pdf_block(data: bytes, filename: str) -> dict[str, Any]:
    """A PDF. Providers refuse one without a name."""
    return {
        "type": "file",
        "base64": base64.b64encode(data).decode(),
        "mime_type": FileType.PDF.value,
        "extras": {"filename": filename or "document.pdf"},
    }


def audio_block(data: bytes, file_type: FileType) -> dict[str, Any]:
    return {"type": "audio", "base64": base64.b64encode(data).decode(), "mime_type": file_type.value}


def wire_content(provider: str, content: str | list[Any]) -> str | list[Any]:
    """The content of one message in the form that `provider` (the first part of a model's name) takes.

    Text alone becomes one string, its parts apart by a blank line: there are OpenAI-compatible servers that know
    nothing else. A local model gets the blocks as they are.

    Raises:
        ValueError: a block of a type that no function of this module makes.
    """
    if isinstance(content, str):
        return content
    if provider == "local":
        return list(content)
    if all(block.get("type") == "text" for block in content):
        return "\n\n".join(str(block["text"]) for block in content)
    convert = _google_part if provider == "google" else _openai_part
    return [convert(block) for block in content]


def wire_messages(provider: str, messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """The messages with their contents in the provider's form; those given are left as they are."""
    return [message.model_copy(update={"content": wire_content(provider, message.content)}) for message in messages]


def _openai_part(block: Block) -> dict[str, Any]:
    kind, data, mime_type = block.get("type"), block.get("base64"), str(block.get("mime_type"))
    match kind:
        case "text":
            return {"type": "text", "text": block["text"]}
        case "image":
            return {"type": "image_url", "image_url": {"url": f"data:{mime_type};base64,{data}"}}
        case "file":
            file = {"filename": block["extras"]["filename"], "file_data": f"data:{mime_type};base64,{data}"}
            return {"type": "file", "file": file}
        case "audio":
            return {"type": "input_audio", "input_audio": {"data": data, "format": _AUDIO_FORMATS[FileType(mime_type)]}}
    raise ValueError(f"a content block of type {kind!r} has no form on the wire")


def _google_part(block: Block) -> dict[str, Any]:
    """langchain-google-genai makes `inlineData` of a standard block; only the type's name may need a change."""
    kind = block.get("type")
    if kind == "text":
        return {"type": "text", "text": block["text"]}
    if kind not in ("image", "file", "audio"):
        raise ValueError(f"a content block of type {kind!r} has no form on the wire")
    file_type = FileType(block["mime_type"])
    return {"type": kind, "base64": block["base64"], "mime_type": _GOOGLE_TYPES.get(file_type, file_type.value)}
