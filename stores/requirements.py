"""What every backend asks of the values it is given, and makes of them, where the types can't say it."""

import math
from typing import Any

from stores.protocols.conversations import Answer
from stores.texts import require_storable
from tributary.domain.bots import Weights
from tributary.domain.conversations import MessageStatus
from tributary.domain.errors import InvalidRequest
from tributary.domain.identity import Limits

#: Characters of a name that is looked up: it has to fit a B-tree entry in any script.
MAX_NAME = 255
#: Characters of an idempotency key with its route.
MAX_REQUEST_KEY = 512
_MAX_BYTES = 2**63 - 1
_MAX_FILES = 2**31 - 1
_MAX_BUDGET = 10.0**9


def require_name(kind: str, name: str) -> None:
    """A name that people can tell from others: some text, at most `MAX_NAME` characters.

    Raises:
        InvalidRequest: it is not.
    """
    if not name.strip() or len(name) > MAX_NAME:
        raise InvalidRequest(f"The name of the {kind} must have 1 to {MAX_NAME} characters")
    require_storable(name)


def require_request_key(key: str) -> None:
    """Raises `InvalidRequest` for a key that can't be looked up."""
    if not key or len(key) > MAX_REQUEST_KEY:
        raise InvalidRequest(f"An idempotency key has 1 to {MAX_REQUEST_KEY} characters")
    require_storable(key)


def require_limits(limits: Limits) -> None:
    """Raises `InvalidRequest` for a limit below zero or beyond what can be counted."""
    for name, value, most in (
        ("quota in bytes", limits.quota_bytes, _MAX_BYTES),
        ("number of files a day", limits.files_per_day, _MAX_FILES),
        ("monthly budget", limits.monthly_budget, _MAX_BUDGET),
    ):
        if value is not None and not 0 <= value <= most:
            raise InvalidRequest(f"The {name} must lie between 0 and {most:g}")


def question_after(answer: Answer) -> tuple[MessageStatus, dict[str, Any]]:
    """What becomes of a question by its answer: its status, and what is added to its details. A part of an answer
    leaves it as open to another try as none would."""
    if answer.status not in (MessageStatus.FAILED, MessageStatus.INTERRUPTED):
        return MessageStatus.COMPLETE, {}
    return answer.status, {name: answer.details[name] for name in ("problem",) if name in answer.details}


def require_weights(weights: Weights) -> None:
    """Raises `InvalidRequest` for a weight that is negative or no number."""
    for weight in (weights.vector, weights.text, weights.importance):
        if not (math.isfinite(weight) and weight >= 0):
            raise InvalidRequest("The weights must be numbers of at least 0")
