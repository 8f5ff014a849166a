"""What a conversation is called before somebody renames it."""

from collections.abc import Sequence
from typing import Any

MAX_TITLE = 80


def title_of(content: str, attachments: Sequence[dict[str, Any]]) -> str:
    """The question's beginning as one line; of a message without text, the name of its first file."""
    names = [str(attachment.get("filename", "")) for attachment in attachments]
    for text in (content, *names):
        line = " ".join(text.split())
        if line:
            return line if len(line) <= MAX_TITLE else line[: MAX_TITLE - 1].rstrip() + "…"
    return "New conversation"
