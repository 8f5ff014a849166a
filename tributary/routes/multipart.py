"""Multipart bodies, streamed: each file goes to disk as it arrives, in constant memory."""

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from email.message import Message
from pathlib import Path
from urllib.parse import unquote
from uuid import uuid4

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import Request

from tributary.domain.errors import CallerError, FileTooLarge, InvalidRequest, TooManyFiles
from tributary.files.names import display_name
from tributary.files.receive import Received, receive_stream

#: What the text fields of a form may hold together.
MAX_FIELD_BYTES = 64 * 1024
#: Framing, headers and text fields of a body beside its files.
OVERHEAD = 256 * 1024


class BrokenBody(InvalidRequest):
    """The body is no whole form: no fault of one file, and none of its files can be trusted."""


@dataclass(frozen=True, slots=True)
class ReceivedFile:
    """A file of the form: received into `path`, or refused with `error`."""

    filename: str
    path: Path
    received: Received | None
    error: CallerError | None = None


@dataclass(slots=True)
class Form:
    files: list[ReceivedFile] = field(default_factory=list)
    fields: dict[str, str] = field(default_factory=dict)

    def discard(self) -> None:
        """Removes what is left of the received files."""
        for file in self.files:
            file.path.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class _Part:
    name: str
    filename: str | None


_Token = _Part | bytes | None


class _Tokens:
    """The parser's callbacks as a list of tokens: a part, its bytes, None at its end."""

    def __init__(self, boundary: bytes) -> None:
        self.found: list[_Token] = []
        self.ended = False
        self._header = b""
        self._value = b""
        self._headers: dict[bytes, bytes] = {}
        self._parser = MultipartParser(
            boundary,
            {
                "on_part_begin": self._headers.clear,
                "on_header_field": self._on_field,
                "on_header_value": self._on_value,
                "on_header_end": self._on_header_end,
                "on_headers_finished": self._on_headers,
                "on_part_data": lambda data, start, end: self.found.append(data[start:end]),
                "on_part_end": lambda: self.found.append(None),
                "on_end": self._on_end,
            },
        )

    def feed(self, data: bytes) -> list[_Token]:
        self._parser.write(data)
        found, self.found = self.found, []
        return found

    def _on_field(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]

    def _on_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _on_header_end(self) -> None:
        self._headers[self._header.lower()] = self._value
        self._header = self._value = b""

    def _on_headers(self) -> None:
        self.found.append(_part(self._headers.get(b"content-disposition", b"")))

    def _on_end(self) -> None:
        self.ended = True


def _part(disposition: bytes) -> _Part:
    _, options = parse_options_header(disposition)
    name = options.get(b"name", b"").decode("utf-8", "replace")
    if b"filename" in options:
        return _Part(name, _unescaped(options[b"filename"]))
    # Some clients write names beyond ASCII in the extended form, which RFC 7578 leaves out.
    message = Message()
    message["content-disposition"] = disposition.decode("latin-1")
    return _Part(name, message.get_filename())


def _unescaped(raw: bytes) -> str:
    """Browsers send UTF-8, with quotes and line breaks as percent escapes."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
    return re.sub(r"%(?:22|0D|0A)", lambda match: unquote(match.group()), text)


async def _tokens(request: Request) -> AsyncIterator[_Token]:
    kind, options = parse_options_header(request.headers.get("content-type"))
    boundary = options.get(b"boundary", b"")
    if kind != b"multipart/form-data" or not boundary:
        raise InvalidRequest("The body must be multipart/form-data")
    try:
        tokens = _Tokens(boundary)
        async for data in request.stream():
            for token in tokens.feed(data):
                yield token
    except FormParserError as error:
        raise BrokenBody("The multipart body is malformed") from error
    if not tokens.ended:
        raise BrokenBody("The multipart body ends before its last part")


async def receive_form(request: Request, folder: Path, *, max_files: int, max_bytes: int, name: str = "files") -> Form:
    """Reads the whole form. A file over `max_bytes` is refused by itself, and its siblings are still received.

    Raises:
        InvalidRequest: the body is no multipart form, or holds no file in the field `name`.
        TooManyFiles: more than `max_files`; nothing is kept.
        FileTooLarge: the declared length is over what the limits allow together; the body is not read.
    """
    declared = request.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > (max_files + 1) * max_bytes + OVERHEAD:
        raise FileTooLarge(f"The files are over {max_bytes >> 20} MB each")
    form = Form()
    try:
        await _read(request, form, folder, name, max_files, max_bytes)
    except BaseException:
        form.discard()
        raise
    if not form.files:
        raise InvalidRequest(f"The form has no file in the field `{name}`")
    return form


async def _read(request: Request, form: Form, folder: Path, name: str, max_files: int, max_bytes: int) -> None:
    tokens = _tokens(request)
    surplus = 0
    async for part in tokens:
        assert isinstance(part, _Part), "a part begins with its headers"
        if part.filename is None:
            form.fields[part.name] = await _text(tokens)
        elif part.name != name:
            raise InvalidRequest(f"Files belong in the field `{name}`, not in `{part.name}`")
        elif len(form.files) == max_files:
            surplus += 1
            await _PartData(tokens).drain()
        else:
            form.files.append(await _receive(tokens, part.filename, folder, max_bytes))
    if surplus:
        raise TooManyFiles(f"At most {max_files} files at a time; {max_files + surplus} were sent")


async def _receive(tokens: AsyncIterator[_Token], filename: str, folder: Path, max_bytes: int) -> ReceivedFile:
    shown = display_name(filename)
    path = folder / uuid4().hex
    data = _PartData(tokens)
    try:
        return ReceivedFile(shown, path, await receive_stream(data, path, limit=max_bytes))
    except BrokenBody:
        raise
    except CallerError as error:
        await data.drain()  # the rest of a refused file is read and dropped, so that the client gets to hear why
        return ReceivedFile(shown, path, None, error)


class _PartData:
    """The bytes of the part at hand, up to its end."""

    def __init__(self, tokens: AsyncIterator[_Token]) -> None:
        self._tokens = tokens
        self._ended = False

    def __aiter__(self) -> "_PartData":
        return self

    async def __anext__(self) -> bytes:
        token = None if self._ended else await anext(self._tokens)
        if token is None:
            self._ended = True
            raise StopAsyncIteration
        assert isinstance(token, bytes)
        return token

    async def drain(self) -> None:
        async for _ in self:
            pass


async def _text(tokens: AsyncIterator[_Token]) -> str:
    value = b""
    async for data in _PartData(tokens):
        value += data
        if len(value) > MAX_FIELD_BYTES:
            raise InvalidRequest("A text field of the form is too long")
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidRequest("The text fields of the form must be UTF-8") from error
