import asyncio
import json
import logging
import secrets
import threading
from uuid import uuid4

import pytest

from stores.secrets import make_key_secret, make_session_secret
from tributary.domain.errors import DependencyUnavailable, InvalidRequest, ProviderError
from tributary.telemetry import logs
from tributary.telemetry.context import about
from tributary.telemetry.logs import ForPeople, JsonLines, fields
from tributary.telemetry.redaction import Redactor, words_of

KEY = make_key_secret(uuid4())
SESSION = make_session_secret(uuid4())
TOKEN = secrets.token_urlsafe(48)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (f"Authorization: Bearer {KEY}", KEY),
        (f"the key {KEY} is unknown", KEY),
        (f"Cookie: tributary_session={SESSION}", SESSION),
        ("GET /sign-in/link?secret=0nce-only HTTP/1.1", "0nce-only"),
        (f"GET /api/bot/attachments/1?token={TOKEN} HTTP/1.1", TOKEN),
        ("GET http://x/a?b=1&token=short-one", "short-one"),
        ("https://host/models?key=AIzaSyA-0123456789", "AIzaSyA-0123456789"),
        (f"stored {TOKEN} for later", TOKEN),
        ("postgresql://app:hunter2!@db/tributary", "hunter2!"),
        ("host=db password=hunter2 user=app", "hunter2"),
        ("Incorrect API key provided: sk-proj-abcdef123456", "abcdef123456"),
        ("https://b.s3/k?X-Amz-Signature=0badcafe01&x=1", "0badcafe01"),
        ("basic dXNlcjpwYXNzd29yZA==", "dXNlcjpwYXNzd29yZA=="),
    ],
    ids=range(13),
)
def test_whatever_has_the_form_of_a_secret_is_struck(text: str, secret: str) -> None:
    struck = Redactor()(text)
    assert secret not in struck
    assert "[redacted]" in struck


def test_values_of_the_settings_are_struck_whatever_their_form() -> None:
    assert Redactor(["plain-looking", ""])("it was plain-looking, they said") == "it was [redacted], they said"


def test_what_is_no_secret_stays() -> None:
    text = f"document {uuid4()}: indexed, 12 chunks; GET /api/bots/{{bot_id}} 200 https://host:5432/a token 7"
    assert Redactor()(text) == text


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            ProviderError("openai/x refused the request: you said SECRET"),
            "provider_error: openai/x refused the request",
        ),
        (DependencyUnavailable("PostgreSQL can't be reached"), "dependency_unavailable: PostgreSQL can't be reached"),
        (InvalidRequest("SECRET is not allowed"), "invalid_request"),
        (ValueError("SECRET"), ""),
        (KeyError("SECRET"), ""),
        (TypeError("f() takes 1 argument"), "f() takes 1 argument"),
        (FileNotFoundError(2, "No such file or directory", "SECRET.pdf"), "No such file or directory"),
    ],
)
def test_an_error_is_told_in_words_that_quote_nothing(error: Exception, words: str) -> None:
    assert words_of(error) == words


def _record(error: BaseException | None = None, message: str = "it failed") -> logging.LogRecord:
    exc_info = (type(error), error, error.__traceback__) if error else None
    return logging.LogRecord("tributary.x", logging.ERROR, "x.py", 1, message, (), exc_info)


def _failed() -> BaseException:
    try:
        try:
            json.loads("SECRET words of a document")
        except ValueError as error:
            raise DependencyUnavailable("The store is away") from error
    except DependencyUnavailable as error:
        return error
    raise AssertionError("it was no JSON")


@pytest.mark.parametrize("formatter", [ForPeople(Redactor()), JsonLines(Redactor())])
def test_an_error_in_the_log_has_its_causes_and_frames_and_no_data(formatter: logging.Formatter) -> None:
    line = formatter.format(_record(_failed()))
    assert "SECRET" not in line
    assert "The store is away" in line
    assert "JSONDecodeError" in line
    assert "_failed" in line


def test_a_line_of_json_carries_what_the_work_is_about_and_its_own_fields() -> None:
    record = _record(message="two\nlines \ud800")
    record.__dict__ |= fields(status=200)
    with about(request="r1", organisation="o1"):
        line = JsonLines(Redactor()).format(record)
    assert "\n" not in line
    read = json.loads(line)
    assert (read["request"], read["organisation"], read["level"], read["status"]) == ("r1", "o1", "ERROR", 200)


def test_a_message_for_people_can_not_pretend_to_be_a_line_of_its_own() -> None:
    message = "asked\n2026-01-01 ERROR tributary: forged\x1b[31m\x85next\u2028next\x9b31m"
    line = ForPeople(Redactor()).format(_record(message=message))
    assert len(line.splitlines()) == 1
    assert not {"\x1b", "\x9b"} & set(line)


async def test_an_error_that_nobody_asked_for_is_told_without_its_words(capsys: pytest.CaptureFixture[str]) -> None:
    before = logging.getLogger().handlers[:]
    logs.configure("INFO", as_json=False)
    try:
        loop = asyncio.get_running_loop()
        loop.call_exception_handler({"message": "a task failed", "exception": ValueError("SECRET"), "future": "SECRET"})
    finally:
        logging.basicConfig(handlers=before, level=logging.WARNING, force=True)
        logging.captureWarnings(False)
        threading.excepthook = threading.__excepthook__
    told = capsys.readouterr().err
    assert "a task failed" in told
    assert "ValueError" in told
    assert "SECRET" not in told
