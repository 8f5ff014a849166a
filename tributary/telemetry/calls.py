"""Watching calls of models: their figures and their spans."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from tributary.telemetry import tracing
from tributary.telemetry.metrics import CALL_SECONDS, CALLS, outcome_of, provider_of


@contextmanager
def model_call(model: str, kind: str) -> Iterator[None]:
    """Around one call. What it raises is its outcome. Sets nothing in the context: it may stand in a generator."""
    provider = provider_of(model)
    made = tracing.begin(
        f"{kind} {model}", gen_ai__operation__name=kind, gen_ai__provider__name=provider, gen_ai__request__model=model
    )
    began, problem = time.perf_counter(), None
    try:
        yield
    except BaseException as error:
        problem = error
        raise
    finally:
        CALL_SECONDS.labels(provider, kind).observe(time.perf_counter() - began)
        CALLS.labels(provider, kind, outcome_of(problem)).inc()
        # Nobody reads on after a stop: that is no failure.
        tracing.end(made, problem if isinstance(problem, Exception) else None)
