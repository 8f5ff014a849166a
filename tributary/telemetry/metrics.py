"""Figures for Prometheus, of this process and of nobody's data: labels are names from our code, none from requests."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from prometheus_client import Counter, Gauge, Histogram

from tributary.domain.errors import TributaryError

_QUICK: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_SLOW: Final = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)

REQUESTS = Counter("tributary_http_requests", "Requests answered", ("route", "method", "status"))
REQUEST_SECONDS = Histogram(
    "tributary_http_request_seconds",
    "From the beginning of a request to the beginning of its answer",
    ("route", "method"),
    buckets=_SLOW,
)
REQUESTS_AT_WORK = Gauge("tributary_http_requests_in_progress", "Requests being answered, open streams included")
STREAMS = Gauge("tributary_streams_open", "Streams of server-sent events that are open")

TURNS = Counter("tributary_turns", "Turns by how they ended", ("outcome",))
TURN_SECONDS = Histogram("tributary_turn_seconds", "Turns, waiting for their place included", buckets=_SLOW)
FIRST_TOKEN_SECONDS = Histogram("tributary_turn_first_token_seconds", "Until an answer begins", buckets=_SLOW)
TURNS_AT_WORK = Gauge("tributary_turns_in_progress", "Turns running or waiting for their place")

NODE_SECONDS = Histogram(
    "tributary_node_seconds",
    "Tries of nodes; of ingestion its stages",
    ("graph", "node"),
    buckets=_SLOW,
)
NODE_FAILURES = Counter("tributary_node_failures", "Tries of nodes that failed", ("graph", "node"))

CALLS = Counter("tributary_model_calls", "Calls of models by how they ended", ("provider", "kind", "outcome"))
CALL_SECONDS = Histogram("tributary_model_call_seconds", "Calls to their end", ("provider", "kind"), buckets=_SLOW)
TOKENS = Counter("tributary_model_tokens", "Tokens read and written by models", ("provider", "kind", "direction"))

DOCUMENTS = Counter("tributary_ingestion_documents", "Tries at documents by how they ended", ("outcome",))
CHUNKS_EMBEDDED = Counter("tributary_chunks_embedded", "Chunks of documents that were embedded", ("provider",))

DATABASE_SECONDS = Histogram(
    "tributary_database_seconds", "Transactions on PostgreSQL, waiting for a connection included", buckets=_QUICK
)


def provider_of(model: str) -> str:
    """`openrouter` of `openrouter/some/model`: models are named by users, providers by us."""
    return model.partition("/")[0]


def outcome_of(error: BaseException | None) -> str:
    """`ok`, the code of an error of ours, `cancelled`, or `bug`."""
    if error is None:
        return "ok"
    if isinstance(error, TributaryError):
        return error.code
    return "bug" if isinstance(error, Exception) else "cancelled"


@contextmanager
def timed(histogram: Histogram) -> Iterator[None]:
    """Observes how long the block takes, however it ends."""
    began = time.perf_counter()
    try:
        yield
    finally:
        histogram.observe(time.perf_counter() - began)


def count_tokens(model: str, kind: str, *, read: int, written: int) -> None:
    provider = provider_of(model)
    TOKENS.labels(provider, kind, "input").inc(read)
    if written:
        TOKENS.labels(provider, kind, "output").inc(written)
