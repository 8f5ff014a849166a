"""The messages of a request as a turn: instructions, a past, and a question. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, groupby

from tributary.completions import GivenFile, GivenMessage
from tributary.domain.conversations import Role
from tributary.domain.errors import MessageTooLarge
from tributary.routes.chat import MAX_MESSAGE
from tributary.routes.openai.body import FileData, MessageBody, Part
from tributary.routes.openai.errors import BadParameter

_INSTRUCTIONS = ("system", "developer")
_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT}
#: Names of files that come without one, by the type that the sender declares.
_SUFFIXES = {
    "image/jpeg": ".jpg",
    "image/png": ".png",
    "image/webp": ".webp",
    "application/pdf": ".pdf",
    "text/plain": ".txt",
    "text/markdown": ".md",
    "audio/mpeg": ".mp3",
    "audio/mp3": ".mp3",
    "audio/wav": ".wav",
    "audio/x-wav": ".wav",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request asks: `past` are pairs of a question and its answer, oldest first."""

    instructions: str
    past: Sequence[GivenMessage]
    question: GivenMessage


def read_messages(messages: Sequence[MessageBody]) -> Asked:
    """Neighbours of one role become one message, blank ones none, and a greeting before the first question is left
    out: models are never shown two questions in a row.

    Raises:
        BadParameter: another role, a part that is not taken, or no question at the end.
        MessageTooLarge: a question that should be a file.
    """
    numbers = count(1)
    instructions: list[str] = []
    said: list[GivenMessage] = []
    for index, message in enumerate(messages):
        where = f"messages[{index}]"
        if message.role in _INSTRUCTIONS:
            instructions.append(_plain(message, where))
        elif message.role in _ROLES:
            said.append(_read(message, where, numbers))
        else:
            raise BadParameter(f"{where}.role", f"must be system, developer, user or assistant, not {message.role!r}")
    turns = _alternating(said)
    if not turns or turns[-1].role is not Role.USER or _blank(said[-1]):
        raise BadParameter("messages", "the last message must be a user's, with a text or a file")
    if len(turns[-1].text) > MAX_MESSAGE:
        raise MessageTooLarge(f"A message has at most {MAX_MESSAGE:,} characters; send long texts as a file")
    return Asked("\n\n".join(filter(None, instructions)), turns[:-1], turns[-1])


def _alternating(said: Sequence[GivenMessage]) -> list[GivenMessage]:
    spoken = [message for message in said if not _blank(message)]
    turns = [_joined(role, list(group)) for role, group in groupby(spoken, key=lambda each: each.role)]
    return turns[1:] if turns and turns[0].role is Role.ASSISTANT else turns


def _joined(role: Role, messages: Sequence[GivenMessage]) -> GivenMessage:
    text = "\n\n".join(each.text for each in messages if each.text.strip())
    return GivenMessage(role, text, tuple(file for each in messages for file in each.files))


def _blank(message: GivenMessage) -> bool:
    return not message.text.strip() and not message.files


def _plain(message: MessageBody, where: str) -> str:
    read = _read(message, where, count(1))
    if read.files:
        raise BadParameter(f"{where}.content", "files belong to a user's message")
    return read.text.strip()


def _read(message: MessageBody, where: str, numbers: Iterator[int]) -> GivenMessage:
    if message.tool_calls or message.function_call:
        raise BadParameter(f"{where}.tool_calls", "not supported here; leave it out")
    role = _ROLES.get(message.role, Role.USER)
    if not isinstance(message.content, list):
        return GivenMessage(role, message.content or "")
    texts: list[str] = []
    files: list[GivenFile] = []
    for index, part in enumerate(message.content):
        taken = _take(part, f"{where}.content[{index}]", numbers)
        if isinstance(taken, str):
            texts.append(taken)
        else:
            files.append(taken)
    if files and role is Role.ASSISTANT:
        raise BadParameter(f"{where}.content", "files belong to a user's message")
    return GivenMessage(role, "\n".join(texts), tuple(files))


def _take(part: Part, where: str, numbers: Iterator[int]) -> str | GivenFile:
    match part.type:
        case "text" if part.text is not None:
            return part.text
        case "refusal" if part.refusal is not None:
            return part.refusal
        case "image_url" if part.image_url is not None:
            url = part.image_url if isinstance(part.image_url, str) else part.image_url.url
            declared, data = _data_url(url, f"{where}.image_url")
            return GivenFile(f"image-{next(numbers)}{_SUFFIXES.get(declared, '')}", data)
        case "input_audio" if part.input_audio is not None:
            suffix = part.input_audio.format if part.input_audio.format in ("mp3", "wav") else ""
            _, data = _data_url(part.input_audio.data, f"{where}.input_audio", bare=True)
            return GivenFile(f"audio-{next(numbers)}" + (f".{suffix}" if suffix else ""), data)
        case "file" if part.file is not None:
            return _file(part.file, f"{where}.file", numbers)
        case "text" | "refusal" | "image_url" | "input_audio" | "file":
            raise BadParameter(where, f"a part of type {part.type} needs the field {part.type}")
        case _:
            raise BadParameter(f"{where}.type", f"must be text, image_url, file or input_audio, not {part.type!r}")


def _file(file: FileData, where: str, numbers: Iterator[int]) -> GivenFile:
    if file.file_data is None:
        missing = "there are no stored files here: send file_data" if file.file_id else "needs file_data"
        raise BadParameter(where, missing)
    declared, data = _data_url(file.file_data, f"{where}.file_data", bare=True)
    return GivenFile(file.filename or f"file-{next(numbers)}{_SUFFIXES.get(declared, '')}", data)


def _data_url(url: str, where: str, *, bare: bool = False) -> tuple[str, str]:
    """The declared type, which only names the file, and the base64; with `bare` also where it comes without a URL."""
    scheme, colon, rest = url[:2000].partition(":")
    if not colon and bare:
        return "", url
    if scheme.strip().lower() != "data":
        raise BadParameter(where, "must be a data URL (data:image/png;base64,…): addresses are not fetched")
    head, comma, _ = rest.partition(",")
    declared, *parameters = (each.strip().lower() for each in head.split(";"))
    if not comma or "base64" not in parameters:
        raise BadParameter(where, "must be a data URL in base64 (data:image/png;base64,…)")
    return declared, url[len(scheme) + 1 + len(head) + 1 :]
