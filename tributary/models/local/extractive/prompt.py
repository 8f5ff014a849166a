"""Reading a model call back into its parts: the question, the sources, the attached files, the conversation.

The context has the shape that `nodes.chat.prompt` gives it (SPEC §3). It quotes documents, so nothing in it is
trusted to be ours only because it looks so: a section lasts to the last line that can close it, and a source's header
counts only with the next number in turn.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

_SOURCE = re.compile(r"^\[(\d{1,4})\] Source: (.*) \| Relevance: (\d{1,3})%[ \t]*$", re.MULTILINE)
_FILE = re.compile(r"\[File: ([^\n]*)\]\n")
#: What stands in the place of a file that the model does not get.
_NOTES = (
    re.compile(r"This model does not support files: (.+)"),
    re.compile(r"\[File too large: (.+)\]"),
    re.compile(r"\[File no longer available: (.+)\]"),
)
_EARLIER_NOTE = re.compile(r"\[File of an earlier message, not sent again: (.+)\]")
_ENTRY = re.compile(r'^- "(.*)" \[(.*?)\](?: -- (.*))?$', re.MULTILINE)
_KINDS = {"image": "an image", "image_url": "an image", "file": "a PDF", "audio": "audio", "input_audio": "audio"}


@dataclass(frozen=True, slots=True)
class Passage:
    """A text that can be quoted. `number` is the source's; an attached file has none and is cited by `name`."""

    number: int | None
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """`earlier`: the user's questions before this one, oldest first. `unread`: what this message brought that the
    model can't read. `titles`: the documents that the bot knows of."""

    question: str
    earlier: tuple[str, ...]
    sources: tuple[Passage, ...]
    files: tuple[Passage, ...]
    unread: tuple[str, ...]
    titles: tuple[str, ...]


def read_prompt(messages: Sequence[BaseMessage]) -> Prompt:
    """The parts of a model call; each is empty where the call has none. A part of unknown type counts as unread."""
    system = "\n\n".join(_plain_text(message) for message in messages if isinstance(message, SystemMessage))
    asked = [_read_human(message) for message in messages if isinstance(message, HumanMessage)]
    last = asked[-1] if asked else _Human("", (), ())
    # The files of this message come first, then those of earlier ones that were sent again, newest first.
    files = dict.fromkeys(file for human in reversed(asked) for file in human.files)
    return Prompt(
        question=last.text,
        earlier=tuple(human.text for human in asked[:-1] if human.text),
        sources=tuple(_sources(_section(system, "KNOWLEDGE BASE CONTEXT"))),
        files=tuple(files),
        unread=last.unread,
        titles=tuple(entry[1] for entry in _ENTRY.finditer(_section(system, "AVAILABLE KNOWLEDGE"))),
    )


@dataclass(frozen=True, slots=True)
class _Human:
    text: str
    files: tuple[Passage, ...]
    unread: tuple[str, ...]


def _read_human(message: HumanMessage) -> _Human:
    if isinstance(message.content, str):
        return _Human(message.content.strip(), (), ())
    texts, files, unread = [], [], []
    for part in message.content:
        if isinstance(part, str):
            texts.append(part)
            continue
        text = part.get("text")
        if part.get("type") != "text" or not isinstance(text, str):
            unread.append(_name_of(part))
            continue
        file = _FILE.match(text)
        if file:
            files.append(Passage(None, file[1], text[file.end() :]))
        elif not _EARLIER_NOTE.fullmatch(text):
            note = next(filter(None, (pattern.fullmatch(text) for pattern in _NOTES)), None)
            (unread if note else texts).append(note[1] if note else text)
    return _Human("\n".join(texts).strip(), tuple(files), tuple(unread))


def _name_of(part: Mapping[str, Any]) -> str:
    """The file's own name where the block has one, else what it is."""
    for holder in (part.get("extras"), part.get("file"), part):
        name = holder.get("filename") if isinstance(holder, Mapping) else None
        if name:
            return str(name)
    return _KINDS.get(str(part.get("type")), "a file")


def _plain_text(message: BaseMessage) -> str:
    if isinstance(message.content, str):
        return message.content
    parts = (part if isinstance(part, str) else part.get("text") for part in message.content)
    return "\n\n".join(part for part in parts if isinstance(part, str))


def _section(system: str, name: str) -> str:
    """What stands between a section's marks; "" without such a section. A quoted closing mark closes nothing: the
    last one does."""
    start = re.search(rf"^---{name}---$", system, re.MULTILINE)
    if start is None:
        return ""
    ends = list(re.finditer(rf"^---END {name}---$", system[start.end() :], re.MULTILINE))
    return system[start.end() :][: ends[-1].start()] if ends else system[start.end() :]


def _sources(section: str) -> Iterator[Passage]:
    headers = _headers(section)
    ends = (*(first.start() for first, _ in headers[1:]), len(section))
    for (_, header), end in zip(headers, ends, strict=False):
        yield Passage(int(header[1]), header[2], section[header.end() : end].strip())


def _headers(section: str) -> list[tuple[re.Match[str], re.Match[str]]]:
    """The headers 1, 2, 3 … in turn, each as the first and the last that claim its number. Where two do, one is
    quoted, and nobody can tell which: what stands between them is left out, and the rest is certain."""
    chosen: list[tuple[re.Match[str], re.Match[str]]] = []
    for header in _SOURCE.finditer(section):
        number = int(header[1])
        if number == len(chosen) + 1:
            chosen.append((header, header))
        elif chosen and number == len(chosen):
            chosen[-1] = (chosen[-1][0], header)
    return chosen
