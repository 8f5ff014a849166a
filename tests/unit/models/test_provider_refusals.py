import email.utils
import time
from types import SimpleNamespace
from typing import Any

import pytest

from tributary.domain.errors import ProviderError, ProviderTimeout
from tributary.models.faults import ErrorInBody, cause, redact, translate
from tributary.models.refusals import refusal_of_body, refusal_of_google, retry_after


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry-After": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
    ],
)
def test_a_wait_is_read_in_every_form(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


def test_a_wait_until_a_date_is_the_time_till_then() -> None:
    date = email.utils.formatdate(time.time() + 30, usegmt=True)

    assert retry_after({"retry-after": date}) == pytest.approx(30, abs=3)


@pytest.mark.parametrize(
    ("body", "status", "code", "message"),
    [
        ({"error": {"code": 502, "message": "Provider returned error"}}, 502, "502", "Provider returned error"),
        ({"error": {"code": "rate_limit_exceeded", "message": "slow"}}, 429, "rate_limit_exceeded", "slow"),
        ({"error": {"type": "server_error", "message": "oops"}}, 500, "server_error", "oops"),
        ({"error": {"code": None, "message": None}}, 500, "", ""),
        (
            {"error": {"code": 502, "message": "Provider returned error", "metadata": {"raw": "out of memory"}}},
            502,
            "502",
            "Provider returned error (out of memory)",
        ),
        ({"error": "it broke"}, 500, "", "it broke"),
        ({"error": {"message": "m", "metadata": "odd"}}, 500, "", "m"),
        ({}, 500, "", ""),
        ([], 500, "", ""),
        (None, 500, "", ""),
    ],
)
def test_an_error_body_of_any_shape_is_read(body: Any, status: int, code: str, message: str) -> None:
    refusal = refusal_of_body(body)

    assert (refusal.status, refusal.code, refusal.message) == (status, code, message)


def test_openrouter_passes_on_the_wait_of_its_upstream() -> None:
    body = {"error": {"code": 429, "message": "m", "metadata": {"headers": {"Retry-After": "4"}}}}

    assert refusal_of_body(body).retry_after == 4.0


def test_google_says_the_reason_and_the_wait_in_details() -> None:
    details = [{"reason": "API_KEY_INVALID"}, {"retryDelay": "34.5s"}, "odd"]
    response = SimpleNamespace(headers={"Retry-After": "9"})
    error = SimpleNamespace(
        code=429,
        status="RESOURCE_EXHAUSTED",
        message="m",
        details={"error": {"details": details}},
        response=response,
    )

    refusal = refusal_of_google(error)

    assert (refusal.status, refusal.code, refusal.retry_after) == (429, "API_KEY_INVALID", 34.5)

    error.details = {}
    assert refusal_of_google(error).retry_after == 9.0


@pytest.mark.parametrize("details", [None, [], {}, {"error": None}, {"error": {"details": {}}}])
def test_google_without_details_is_read_as_well(details: Any) -> None:
    error = SimpleNamespace(code=None, status=None, message=None, details=details, response=None)

    assert refusal_of_google(error).status == 500


@pytest.mark.parametrize(
    "text",
    [
        "key sk-or-v1-0123456789abcdef was refused",
        "key sk-proj-abc***********wxyz was refused",
        "key AIzaSyA0123456789 was refused",
        "header Authorization: Bearer abc.def was refused",
        "secret own-key-of-nobodys-form was refused",
    ],
)
def test_nothing_that_looks_like_a_key_or_is_one_is_quoted(text: str) -> None:
    redacted = redact(text, frozenset({"own-key-of-nobodys-form"}))

    assert "[key]" in redacted
    for secret in ("0123456789", "wxyz", "abc.def", "nobodys"):
        assert secret not in redacted


def test_a_long_or_many_lined_message_becomes_one_short_line() -> None:
    redacted = redact("first\n\n second" + " word" * 200, frozenset())

    assert redacted.startswith("first second word")
    assert len(redacted) == 300


def test_an_error_of_ours_inside_a_librarys_is_that_error() -> None:
    ours = ProviderTimeout("late")
    wrapped = ValueError("library says")
    wrapped.__cause__ = ours

    assert translate(wrapped, "openai/m") is ours


@pytest.mark.parametrize("error", [KeyError("choices"), TypeError("null"), ValueError("no JSON"), IndexError()])
def test_an_answer_of_another_shape_is_a_transient_provider_error(error: Exception) -> None:
    translated = translate(error, "openai/m")

    assert isinstance(translated, ProviderError)
    assert translated.transient
    assert "could not be read" in translated.detail


def test_a_lost_connection_and_a_timeout_are_told_apart() -> None:
    assert isinstance(translate(TimeoutError(), "openai/m"), ProviderTimeout)
    lost = translate(ConnectionResetError("reset by peer"), "openai/m")
    assert isinstance(lost, ProviderError)
    assert "connection" in lost.detail


@pytest.mark.parametrize(
    ("status", "transient"), [(400, False), (404, False), (409, True), (429, True), (500, True), (599, True)]
)
def test_a_status_in_a_body_decides_whether_another_try_can_help(status: int, transient: bool) -> None:
    translated = translate(ErrorInBody({"error": {"code": status, "message": "m"}}), "openrouter/a/b")

    assert translated.transient is transient


def test_an_error_that_quotes_the_key_is_not_chained() -> None:
    request = SimpleNamespace(headers={"authorization": "Bearer the key itself"})
    leaking = ValueError("sent: the key itself")
    leaking.request = request  # type: ignore[attr-defined]
    harmless = ValueError("sent: nothing")
    harmless.request = request  # type: ignore[attr-defined]

    assert cause(leaking) is None
    assert cause(harmless) is harmless
