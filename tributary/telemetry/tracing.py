"""Traces for OpenTelemetry, where an address for them is configured; else every function here does nothing.

The provider is ours alone and not the process's: libraries that would trace through a global one, and put prompts or
addresses with tokens into their spans, find none. Spans carry ids, names and counts.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any

from tributary.domain.errors import DependencyUnavailable, TributaryError

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.trace import Span, Tracer

#: Seconds that a stop waits for the last spans to be sent.
LAST_SPANS = 5.0


class _Sending:
    """Whether spans are sent, and how."""

    provider: "TracerProvider | None" = None
    tracer: "Tracer | None" = None


_sending = _Sending()


@asynccontextmanager
async def tracing(endpoint: str, *, version: str) -> AsyncIterator[None]:
    """Traces go to `endpoint` within the block; nowhere where that is empty, or where they go somewhere already."""
    if not endpoint or _sending.tracer is not None:
        yield
        return
    await asyncio.to_thread(open_tracing, endpoint, version=version)
    try:
        yield
    finally:
        await asyncio.to_thread(close_tracing)


def open_tracing(endpoint: str, *, version: str) -> None:
    """From now on spans are sent to `endpoint`, the address that takes traces as OTLP over HTTP. Everything else
    is as the environment's `OTEL_…` say: headers, sampling, the name of the service.

    Raises:
        DependencyUnavailable: the packages are not installed.
    """
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    except ImportError as error:
        raise DependencyUnavailable(
            "Traces are configured, and the packages for them are not installed: pip install 'tributary[otel]'"
        ) from error
    use_exporter(OTLPSpanExporter(endpoint=endpoint), version=version)


def use_exporter(exporter: "SpanExporter", *, version: str) -> None:
    """The same with any exporter."""
    from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, OTELResourceDetector, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    ours = Resource.create({SERVICE_NAME: "tributary", SERVICE_VERSION: version})
    provider = TracerProvider(resource=ours.merge(OTELResourceDetector().detect()), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    _sending.provider, _sending.tracer = provider, provider.get_tracer("tributary", version)


def close_tracing() -> None:
    """Sends what is left and ends tracing. A collector that does not answer is left after a while: it must not keep a
    server from stopping. Blocks: call it in a thread."""
    provider, _sending.provider, _sending.tracer = _sending.provider, None, None
    if provider is not None:
        ending = threading.Thread(target=provider.shutdown, name="end of tracing", daemon=True)
        ending.start()
        ending.join(LAST_SPANS)


@contextmanager
def span(name: str, **attributes: str | int) -> Iterator["Span | None"]:
    """A span around the block, under the one at hand, and the parent of those within. A double underscore in an
    attribute's name stands for a dot."""
    if _sending.tracer is None:
        yield None
        return
    made = _sending.tracer.start_span(name, attributes=_dotted(attributes))
    with _at_hand(made):
        yield made


@contextmanager
def request_span(method: str, headers: Mapping[str, str]) -> Iterator["Span | None"]:
    """The span of a request, under the one that the client names in `traceparent`."""
    if _sending.tracer is None:
        yield None
        return
    from opentelemetry.trace import SpanKind
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    parent = TraceContextTextMapPropagator().extract(headers)
    made = _sending.tracer.start_span(method, context=parent, kind=SpanKind.SERVER)
    with _at_hand(made):
        yield made


@contextmanager
def _at_hand(made: "Span") -> Iterator[None]:
    """The span is the parent of those within, and ends with the block; what the block raises is its outcome."""
    from opentelemetry import trace

    with trace.use_span(made, end_on_exit=True, record_exception=False, set_status_on_exception=False):
        try:
            yield
        except BaseException as error:
            failed(made, error)
            raise


def begin(name: str, **attributes: str | int) -> "Span | None":
    """A span under the one at hand that nothing else is put under; for generators, whose blocks are entered and left
    in different contexts. End it with `end`."""
    if _sending.tracer is None:
        return None
    from opentelemetry.trace import SpanKind

    return _sending.tracer.start_span(name, kind=SpanKind.CLIENT, attributes=_dotted(attributes))


def end(made: "Span | None", error: BaseException | None = None, **attributes: str | int) -> None:
    if made is not None:
        made.set_attributes(_dotted(attributes))
        if error is not None:
            failed(made, error)
        made.end()


def failed(made: "Span", error: BaseException) -> None:
    """Says of a span what failed in it: a code or a class, since a message may quote what was worked on."""
    from opentelemetry.trace import StatusCode

    made.set_attribute("error.type", error.code if isinstance(error, TributaryError) else type(error).__name__)
    made.set_status(StatusCode.ERROR)


def describe(**attributes: str | int) -> None:
    """Attributes of the span at hand."""
    if _sending.tracer is not None:
        from opentelemetry import trace

        trace.get_current_span().set_attributes(_dotted(attributes))


def current_ids() -> dict[str, str]:
    """`traceId` and `spanId` of the span at hand; nothing where there is none."""
    if _sending.tracer is None:
        return {}
    from opentelemetry import trace

    context = trace.get_current_span().get_span_context()
    if not context.is_valid:
        return {}
    return {"traceId": f"{context.trace_id:032x}", "spanId": f"{context.span_id:016x}"}


def _dotted(attributes: Mapping[str, Any]) -> dict[str, Any]:
    return {name.replace("__", "."): value for name, value in attributes.items()}
