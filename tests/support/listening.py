"""A server that should never be asked anything."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.support.http_server import run_http_server


@dataclass
class Listener:
    """`asked`: method and path of each request that came in."""

    url: str = ""
    asked: list[str] = field(default_factory=list)


@contextmanager
def run_listener() -> Iterator[Listener]:
    listener = Listener()

    class Handler(BaseHTTPRequestHandler):
        def __getattr__(self, name: str) -> Any:
            """Every method is answered alike."""
            if name.startswith("do_"):
                return self._note
            raise AttributeError(name)

        def _note(self) -> None:
            listener.asked.append(f"{self.command} {self.path}")
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    with run_http_server(Handler) as url:
        listener.url = url
        yield listener
