"""A way to a server that a test can cut, mend and slow down, as a network or a restart does."""

import socket
import threading
import time
from types import TracebackType
from typing import Self

#: Seconds between two parts of what comes over a slow way.
_PAUSE = 0.02
_PART = 65536


class CuttableWay:
    """A TCP port of its own that leads to another, or to a PostgreSQL's socket when `host` is its directory.

    Cut, it refuses, and ends what runs. `rate` is how many bytes a second come back over each connection, 0: as many
    as there are; `delay` the seconds that each part takes to get to the server.
    """

    def __init__(self, host: str, port: int) -> None:
        self.rate = 0
        self.delay = 0.0
        self._target = host, port
        self._listener: socket.socket | None = None
        self._pairs: list[socket.socket] = []
        self._lock = threading.Lock()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]

    def __enter__(self) -> Self:
        self.mend()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cut()

    def mend(self) -> None:
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", self.port))
        listener.listen()
        self._listener = listener
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def lead_to(self, host: str, port: int) -> None:
        """Leads to another server from now on; what runs ends."""
        self.cut()
        self._target = host, port
        self.mend()

    def cut(self) -> None:
        with self._lock:
            ending, self._pairs = self._pairs, []
            listener, self._listener = self._listener, None
        for each in (listener, *ending):
            if each is not None:
                _end(each)

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                near, _ = listener.accept()
            except OSError:
                return
            try:
                far = _reach(*self._target)
            except OSError:
                _end(near)  # Where nobody listens any more, as behind a server that was killed.
                continue
            with self._lock:
                cut = listener is not self._listener
                if not cut:
                    self._pairs += [near, far]
            if cut:
                _end(near)
                _end(far)
                return
            threading.Thread(target=self._carry, args=(near, far), daemon=True).start()
            threading.Thread(target=self._carry, args=(far, near), kwargs={"back": True}, daemon=True).start()

    def _carry(self, source: socket.socket, target: socket.socket, *, back: bool = False) -> None:
        try:
            while part := source.recv(max(1, int(self.rate * _PAUSE)) if back and self.rate else _PART):
                if not back and self.delay:
                    time.sleep(self.delay)
                target.sendall(part)
                if back and self.rate:
                    time.sleep(_PAUSE)
        except OSError:
            pass
        finally:
            _end(target)


def _reach(host: str, port: int) -> socket.socket:
    if not host.startswith("/"):
        return socket.create_connection((host, port))
    reached = socket.socket(socket.AF_UNIX)
    reached.connect(f"{host}/.s.PGSQL.{port}")
    return reached


def _end(each: socket.socket) -> None:
    try:
        each.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    finally:
        each.close()
