"""Estimates of tokens, for where no tokenizer of the model is at hand and its provider gives no count.

One rule for every model: a token is four bytes of UTF-8. English prose has 4.2–4.7 bytes a token, Cyrillic about
five (2–3 letters), CJK about three to four (a character), so the estimate is a little high for prose and low for
code and numbers. Media cost what the large providers charge in the middle: an image 1,000 tokens, audio 32 tokens
a second at 16 kB a second (a common MP3), a PDF 1 token per 60 bytes, which is 1,500 a page at 90 kB a page.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import BaseMessage

from tributary.domain.attachments import Modality

BYTES_PER_TOKEN = 4
#: Role, separators and the like of one message.
MESSAGE_TOKENS = 4
IMAGE_TOKENS = 1_000
_AUDIO_BYTES_PER_TOKEN = 500
_PDF_BYTES_PER_TOKEN = 60


def estimate_tokens(text: str, *, bytes_per_token: int = BYTES_PER_TOKEN) -> int:
    """Tokens of a text, rounded up; 0 for none."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // bytes_per_token)


def estimate_message_tokens(messages: Sequence[BaseMessage]) -> int:
    """Tokens of a prompt whose contents are text or standard content blocks."""
    return sum(MESSAGE_TOKENS + estimate_content_tokens(message.content) for message in messages)


def estimate_content_tokens(content: str | Sequence[str | Mapping[str, Any]]) -> int:
    """Tokens of one message's content."""
    if isinstance(content, str):
        return estimate_tokens(content)
    return sum(estimate_tokens(part) if isinstance(part, str) else _block_tokens(part) for part in content)


def estimate_file_tokens(modality: Modality, size: int) -> int:
    """Tokens of a file of `size` bytes, before it is loaded."""
    return {
        Modality.IMAGE: IMAGE_TOKENS,
        Modality.AUDIO: size // _AUDIO_BYTES_PER_TOKEN + 1,
        Modality.PDF: size // _PDF_BYTES_PER_TOKEN + 1,
        Modality.TEXT: size // BYTES_PER_TOKEN + 1,
    }[modality]


def _block_tokens(block: Mapping[str, Any]) -> int:
    size = len(block.get("base64", "")) * 3 // 4
    match block.get("type"):
        case "image":
            return estimate_file_tokens(Modality.IMAGE, size)
        case "audio":
            return estimate_file_tokens(Modality.AUDIO, size)
        case "file":
            return estimate_file_tokens(Modality.PDF, size)
        case _:
            return estimate_tokens(str(block.get("text", "")))
