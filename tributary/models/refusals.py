"""The facts of an error that a provider answered with, read from its body and headers, each family in its own shape."""

import email.utils
import math
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

#: Codes in words, as OpenAI-compatible servers put them into streams, and the status that each stands for.
_STATUS_OF_CODE = {
    "rate_limit_exceeded": 429,
    "insufficient_quota": 429,
    "invalid_api_key": 401,
    "model_not_found": 404,
    "invalid_request_error": 400,
    "context_length_exceeded": 400,
    "server_error": 500,
    "overloaded": 503,
}
#: For an error that says nothing of its kind.
_UNKNOWN = 500
_DURATION = re.compile(r"(\d+(?:\.\d+)?)s")


@dataclass(frozen=True, slots=True)
class Refusal:
    """An HTTP status (or what stands for one), the provider's code and words, and the wait it asks for, in seconds."""

    status: int
    code: str
    message: str
    retry_after: float | None = None


def refusal_of_openai(error: Any) -> Refusal:
    """Of an `openai.APIError`: from a response with an error status, or from an event in a stream."""
    body = error.body if isinstance(error.body, dict) else {}
    response = getattr(error, "response", None)
    refusal = refusal_of_body({"error": body or {"message": error.message}})
    if response is None:
        return refusal
    wait = retry_after(response.headers) or refusal.retry_after
    return Refusal(response.status_code, refusal.code, refusal.message, wait)


def refusal_of_body(body: Any) -> Refusal:
    """Of `{"error": {message, code, metadata?}}`, as OpenAI and OpenRouter write it; tolerant of any other shape."""
    error = body.get("error") if isinstance(body, dict) else None
    if not isinstance(error, dict):
        return Refusal(_UNKNOWN, "", str(error or ""))
    code = error.get("code") or error.get("type") or ""
    found = error.get("metadata")
    metadata: dict[str, Any] = found if isinstance(found, dict) else {}
    message = str(error.get("message") or "")
    if raw := metadata.get("raw"):
        # OpenRouter's own words are "Provider returned error"; the reason is in here.
        message = f"{message} ({raw})"
    status = code if isinstance(code, int) else _STATUS_OF_CODE.get(str(code), _UNKNOWN)
    headers = metadata.get("headers")
    return Refusal(status, str(code), message, retry_after(headers) if isinstance(headers, dict) else None)


def refusal_of_google(error: Any) -> Refusal:
    """Of a `google.genai.errors.APIError`; the wait and the true reason stand in the body's details. Gateways say the
    wait in the header alone."""
    details = _google_details(error.details)
    reason = next((str(d["reason"]) for d in details if "reason" in d), str(error.status or ""))
    wait = next((m for d in details if (m := _DURATION.fullmatch(str(d.get("retryDelay", ""))))), None)
    status = error.code if isinstance(error.code, int) else _UNKNOWN
    seconds = float(wait[1]) if wait else retry_after(getattr(error.response, "headers", None) or {})
    return Refusal(status, reason, str(error.message or ""), seconds)


def _google_details(body: Any) -> list[dict[str, Any]]:
    error = body.get("error", body) if isinstance(body, dict) else {}
    details = error.get("details") if isinstance(error, dict) else None
    return [detail for detail in details if isinstance(detail, dict)] if isinstance(details, list) else []


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that a response asks to wait: `retry-after-ms`, or `retry-after` as seconds or as a date."""
    lowered = {str(name).lower(): str(value) for name, value in headers.items()}
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        seconds = _number(lowered.get(name))
        if seconds is not None:
            return max(0.0, seconds * unit)
    date = email.utils.parsedate_tz(lowered.get("retry-after", ""))
    if date is None:
        return None
    return max(0.0, email.utils.mktime_tz(date) - time.time())


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) else None
