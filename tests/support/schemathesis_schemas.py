"""schemathesis over a running server: what its OpenAPI description allows, and what it does not, sent for real."""

import random
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import HypothesisWarning, Unsatisfiable
from hypothesis.internal.conjecture import utils
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import Failure, FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]


def _more(elements: Any) -> bool:
    """What hypothesis-jsonschema calls, and newer versions of hypothesis have as iteration only."""
    if elements._depth is None:
        elements.__enter__()
        elements._told = iter(elements)
    return next(elements._told, elements) is None


if not hasattr(utils.many, "more"):
    utils.many.more = _more  # type: ignore[attr-defined]


#: Streams that only their listener ends: a request that waits for all of the answer never gets one.
ENDLESS = frozenset({"/api/events"})


def operations_of(url: str) -> list[Any]:
    """All that the description names but those without an end, those that delete last."""
    schema = schemathesis.openapi.from_url(f"{url}/openapi.json", timeout=120)
    found = [cast("Any", result).ok() for result in schema.get_all_operations()]
    found = [each for each in found if each.path not in ENDLESS]
    return sorted(found, key=lambda each: (each.method.upper() == "DELETE", each.path, each.method))


def faults_of(
    operation: Any,
    key: str,
    ids: Mapping[str, str],
    *,
    examples: int,
    number: int = 0,
    modes: Sequence[GenerationMode] = (GenerationMode.POSITIVE,),
) -> Iterator[str]:
    """What is wrong with answers to `examples` requests of each mode: as described, or not. Half of them name objects
    of `ids`, which exist, in place of whatever was made up for such a parameter."""
    for mode in modes:
        try:
            _send(operation, mode, key, ids, examples, number)
        except Unsatisfiable:
            continue  # there is no request that the description forbids
        except (Failure, FailureGroup, AssertionError) as failure:
            yield f"{operation.label}: {_told(failure)}"


def _send(operation: Any, mode: GenerationMode, key: str, ids: Mapping[str, str], examples: int, number: int) -> None:
    chance = random.Random(f"{operation.label} {number}")

    @seed(number)
    @settings(
        max_examples=examples,
        derandomize=number == 0,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def send(case: Any) -> None:
        if chance.random() < 0.5:
            case.path_parameters = {name: ids.get(name, value) for name, value in (case.path_parameters or {}).items()}
        response = case.call(headers={"Authorization": f"Bearer {key}"}, timeout=30)
        case.validate_response(response, checks=CHECKS)

    with warnings.catch_warnings():
        # It names formats anew that hypothesis knows already.
        warnings.simplefilter("ignore", HypothesisWarning)
        send()


def _told(failure: BaseException) -> str:
    inner: Sequence[BaseException] = getattr(failure, "exceptions", (failure,))
    return " | ".join(str(each)[:1500] for each in inner)
