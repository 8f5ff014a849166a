"""Watching the work itself: nodes of graphs, turns, documents."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from tributary.telemetry import tracing
from tributary.telemetry.context import about
from tributary.telemetry.metrics import (
    DOCUMENTS,
    FIRST_TOKEN_SECONDS,
    NODE_FAILURES,
    NODE_SECONDS,
    TURN_SECONDS,
    TURNS,
    TURNS_AT_WORK,
)


@contextmanager
def node_at_work(graph: str, node: str) -> Iterator[None]:
    """Around one try of a node."""
    began = time.perf_counter()
    with about(node=node), tracing.span(node, tributary__graph=graph, tributary__node=node):
        try:
            yield
        except Exception:
            NODE_FAILURES.labels(graph, node).inc()
            raise
        finally:
            NODE_SECONDS.labels(graph, node).observe(time.perf_counter() - began)


class TurnWatch:
    """One turn, from when it is asked for to its end."""

    def __init__(self, organisation_id: UUID, conversation_id: UUID) -> None:
        self._ids = {"organisation": str(organisation_id), "conversation": str(conversation_id)}
        self._began = time.perf_counter()
        self._answering = False

    @contextmanager
    def running(self) -> Iterator[None]:
        """Around the turn's task."""
        spoken = {f"tributary__{name}": of for name, of in self._ids.items()}
        with about(**self._ids), tracing.span("turn", **spoken), TURNS_AT_WORK.track_inprogress():
            yield

    def token(self) -> None:
        """A piece of the answer was told."""
        if not self._answering:
            self._answering = True
            FIRST_TOKEN_SECONDS.observe(time.perf_counter() - self._began)

    def ended(self, outcome: str) -> None:
        """`complete`, `stopped`, `refused`, `failed` or `interrupted`."""
        TURN_SECONDS.observe(time.perf_counter() - self._began)
        TURNS.labels(outcome).inc()


@contextmanager
def document_at_work(organisation_id: UUID, document_id: UUID) -> Iterator[None]:
    """Around one try at a document."""
    ids = {"organisation": str(organisation_id), "document": str(document_id)}
    with about(**ids), tracing.span("ingest", **{f"tributary__{name}": of for name, of in ids.items()}):
        yield


def document_done(outcome: str) -> None:
    """`indexed`, `superseded`, `retried` or `failed`."""
    DOCUMENTS.labels(outcome).inc()
