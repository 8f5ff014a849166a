"""The log on stderr: for people by default, as JSON lines where that is asked for."""

import logging
import sys
import threading
import traceback
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, Final

import orjson

from tributary.telemetry.context import subject
from tributary.telemetry.redaction import Redactor, words_of
from tributary.telemetry.tracing import current_ids

#: Our packages, which speak up from the level of the settings on; libraries do from WARNING on.
OURS: Final = ("tributary", "stores", "nodes", "graphs", "server")
#: Attribute of a record: fields of its own, given as `extra=fields(…)`.
_OWN = "tributary_fields"
#: What could begin a line of its own, or talk to a terminal.
_CONTROLS = {
    code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160), 0x2028, 0x2029) if chr(code) not in "\n\t"
}
#: Links of a chain of causes that are told.
_CAUSES = 6


def fields(**values: Any) -> dict[str, Any]:
    """`extra` of a call of the logger: fields that stand beside the message in JSON. No texts of users."""
    return {_OWN: values}


def configure(level: str, *, as_json: bool, secrets: Iterable[str] = ()) -> None:
    """One handler on stderr for everything in the process: our lines, those of libraries, warnings, and what ends a
    thread. `secrets` are struck from all of it."""
    handler = logging.StreamHandler(sys.stderr)
    redactor = Redactor(secrets)
    handler.setFormatter(JsonLines(redactor) if as_json else ForPeople(redactor))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    for name in OURS:
        logging.getLogger(name).setLevel(level.upper())
    logging.captureWarnings(True)
    threading.excepthook = _tell_of_thread


def _tell_of_thread(ended: threading.ExceptHookArgs) -> None:
    name = ended.thread.name if ended.thread else "?"
    logging.getLogger("tributary").error("thread %s ended on a bug", name, exc_info=ended.exc_value)


class ForPeople(logging.Formatter):
    """One line an event, what it is about in brackets, and the frames of an error below it."""

    def __init__(self, redactor: Redactor) -> None:
        super().__init__()
        self._redact = redactor

    def format(self, record: logging.LogRecord) -> str:
        when = datetime.fromtimestamp(record.created, UTC).isoformat(" ", "milliseconds").removesuffix("+00:00")
        about = " ".join(f"{name}={value}" for name, value in subject().items())
        # A message that could begin a line of its own could pretend to be one.
        message = _message(record).translate(_CONTROLS).replace("\n", "\\n")
        line = f"{when} {record.levelname} {record.name}: {message}{f' [{about}]' if about else ''}"
        return self._redact("\n".join((line, *_told(record))))


class JsonLines(logging.Formatter):
    """One object a line: `time`, `level`, `logger`, `message`, what the work is about, the fields of the event, the ids
    of the trace, and of an error its `exception` and `stack`."""

    def __init__(self, redactor: Redactor) -> None:
        super().__init__()
        self._redact = redactor

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": self._redact(_message(record)),
            **subject(),
            **getattr(record, _OWN, {}),
            **current_ids(),
        }
        if error := _error_of(record):
            line["exception"] = type(error).__name__
            line["stack"] = self._redact("\n".join(_told(record)))
        # Halves of characters have no form in JSON.
        return (
            orjson.dumps(line, default=str).decode()
            if _whole(line)
            else orjson.dumps(_mended(line), default=str).decode()
        )


def _message(record: logging.LogRecord) -> str:
    """Of libraries the first line: further ones hold what objects look like, the words of an error among them."""
    message = record.getMessage().rstrip()
    return message if record.name.partition(".")[0] in OURS else message.partition("\n")[0]


def _error_of(record: logging.LogRecord) -> BaseException | None:
    return record.exc_info[1] if record.exc_info else None


def _told(record: logging.LogRecord) -> Iterator[str]:
    """The error of a record with its causes, the last one first: class, words where they are safe, and frames."""
    error, told = _error_of(record), 0
    while error is not None and told < _CAUSES:
        words = words_of(error).translate(_CONTROLS)
        yield f"{'caused by ' if told else ''}{type(error).__module__}.{type(error).__qualname__}: {words}".rstrip(": ")
        for frame in traceback.extract_tb(error.__traceback__):
            yield f"  {frame.filename}:{frame.lineno} {frame.name}"
        error, told = error.__cause__ or (None if error.__suppress_context__ else error.__context__), told + 1


def _whole(line: dict[str, Any]) -> bool:
    return all(not isinstance(value, str) or value.isascii() or _encodes(value) for value in line.values())


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _mended(line: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
        for name, value in line.items()
    }
