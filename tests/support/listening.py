"""A server that should never be asked anything."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


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

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        listener.url = f"http://127.0.0.1:{server.server_port}"
        yield listener
        server.shutdown()
        thread.join()
