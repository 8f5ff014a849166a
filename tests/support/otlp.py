"""A collector of traces over OTLP/HTTP, as real exporters send them."""

import gzip
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.support.http_server import run_http_server


@dataclass(frozen=True)
class Span:
    name: str
    trace_id: str
    span_id: str
    parent_id: str
    began: int
    ended: int
    attributes: Mapping[str, Any]
    failed: bool


@dataclass
class Collector:
    """What has come in until now."""

    endpoint: str = ""
    spans: list[Span] = field(default_factory=list)
    raw: bytearray = field(default_factory=bytearray)
    _more: threading.Condition = field(default_factory=threading.Condition)

    def take(self, body: bytes) -> None:
        request = ExportTraceServiceRequest.FromString(body)
        found = [_span(each) for of in request.resource_spans for scope in of.scope_spans for each in scope.spans]
        with self._more:
            self.raw += body
            self.spans += found
            self._more.notify_all()

    def wait_for(self, name: str, **attributes: Any) -> Span:
        """The first span of that name with these attributes, whose names have underscores for dots."""
        wanted = {key.replace("__", "."): value for key, value in attributes.items()}

        def found() -> Span | None:
            for span in self.spans:
                if span.name == name and wanted.items() <= span.attributes.items():
                    return span
            return None

        with self._more:
            span = self._more.wait_for(found, timeout=30)
        assert span, (name, wanted, [each.name for each in self.spans])
        return span

    def below(self, parent: Span) -> list[Span]:
        return [span for span in self.spans if span.parent_id == parent.span_id]


def _span(sent: Any) -> Span:
    return Span(
        name=sent.name,
        trace_id=sent.trace_id.hex(),
        span_id=sent.span_id.hex(),
        parent_id=sent.parent_span_id.hex(),
        began=sent.start_time_unix_nano,
        ended=sent.end_time_unix_nano,
        attributes={each.key: getattr(each.value, each.value.WhichOneof("value")) for each in sent.attributes},
        failed=sent.status.code == 2,
    )


@contextmanager
def run_collector() -> Iterator[Collector]:
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            collector.take(gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    with run_http_server(Handler) as url:
        collector.endpoint = url
        yield collector
