import sys

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from tributary.domain.errors import DependencyUnavailable, NotFound
from tributary.telemetry import tracing


@pytest.fixture
def sent() -> InMemorySpanExporter:
    return InMemorySpanExporter()


async def test_without_an_address_nothing_is_measured() -> None:
    async with tracing.tracing("", version="0"):
        with tracing.span("work") as span:
            assert span is None
        assert tracing.begin("call") is None
        assert tracing.current_ids() == {}


async def test_configured_and_not_installed_is_an_error_that_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with pytest.raises(DependencyUnavailable, match=r"tributary\[otel\]"):
        tracing.open_tracing("http://127.0.0.1:9/v1/traces", version="0")


def test_an_error_is_told_by_its_code_and_never_by_its_words(sent: InMemorySpanExporter) -> None:
    tracing.use_exporter(sent, version="0")
    try:
        with pytest.raises(NotFound), tracing.span("work", tributary__graph="chat"):
            raise NotFound("bot", "SECRET")
        with pytest.raises(ValueError, match="SECRET"), tracing.span("work"):
            raise ValueError("SECRET")
    finally:
        tracing.close_tracing()
    ours, bug = sent.get_finished_spans()
    assert dict(ours.attributes or {}) == {"tributary.graph": "chat", "error.type": "not_found"}
    assert dict(bug.attributes or {}) == {"error.type": "ValueError"}
    assert "SECRET" not in ours.to_json() + bug.to_json()
