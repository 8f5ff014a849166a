"""The parent's side of one sandbox worker: start it, ask it, kill it."""

import contextlib
import enum
import io
import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import tributary
from tributary.domain.errors import TributaryError
from tributary.files import worker

#: Of the parent's environment, what a child needs to run at all. Keys and passwords stay out of the process
#: that opens strangers' files.
PASSED_ON = ("LD_LIBRARY_PATH", "SYSTEMROOT", "TMPDIR", "TEMP", "LANG", "LC_ALL", "TZ")
MAX_ANSWER_BYTES = 512 * 2**20


class WorkerEnded(Exception):
    """The child ended without an answer. `code` is its exit code, negative for a signal."""

    def __init__(self, code: int) -> None:
        super().__init__(f"the worker ended with {code}")
        self.code = code


class AnswerRefused(TypeError):
    """A task returned something other than plain values and our own dataclasses, enums and errors."""


class _AnswerReader(pickle.Unpickler):
    """Unpickles what a child wrote. A child that a hostile file took over must not reach the parent through its
    answer, so no name is looked up but those of our own value classes."""

    def find_class(self, module: str, name: str) -> Any:
        if module.split(".")[0] in {"tributary", "stores"} and module in sys.modules:
            found = super().find_class(module, name)
            if isinstance(found, type) and _is_value_class(found):
                return found
        raise AnswerRefused(f"a sandboxed task returned a {module}.{name}")


def _is_value_class(found: type) -> bool:
    return issubclass(found, enum.Enum | TributaryError) or hasattr(found, "__dataclass_fields__")


def read_answer(frame: bytes) -> worker.Answer:
    """The answer in `frame`. Raises `AnswerRefused`."""
    outcome, value, retire = _AnswerReader(io.BytesIO(frame)).load()
    return str(outcome), value, bool(retire)


def search_path() -> list[str]:
    """The parent's import path, and the folder of this package also where a finder of an editable install knows
    it: a child that starts without `site` has no such finders."""
    home = str(Path(tributary.__file__).resolve().parent.parent)
    return [str(Path(entry).absolute()) for entry in sys.path] + [home]


class Worker:
    """A started child. One thread at a time asks it; any thread may kill it."""

    def __init__(self, *, memory: int, tasks: int, niceness: int = 0) -> None:
        environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        # Isolated and without `site`: a third of the start-up time, and no start-up hook of the environment runs.
        command = [sys.executable, "-I", "-S", "-X", "utf8", worker.__file__]
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and script
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
        )
        if niceness and hasattr(os, "setpriority"):
            with contextlib.suppress(ProcessLookupError):  # it is dead already, as reading its answer tells
                os.setpriority(os.PRIO_PROCESS, self._process.pid, niceness)
        self._send(pickle.dumps((search_path(), memory, tasks)))

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, request: bytes, *, timeout: float) -> worker.Answer:
        """Sends a request and waits for its answer, at most `timeout` seconds, then kills the child.

        Raises:
            TimeoutError: the time is over.
            WorkerEnded: the child died, or somebody killed it.
            AnswerRefused: the answer holds what no task may return.
        """
        over = threading.Event()
        timer = threading.Timer(timeout, self._expire, (over,))
        timer.start()
        try:
            self._send(request)
            frame = self._receive()
        finally:
            timer.cancel()
        if frame is not None:
            return read_answer(frame)
        code = self.close()
        if over.is_set():
            raise TimeoutError
        raise WorkerEnded(code)

    def kill(self) -> None:
        self._process.kill()

    def close(self) -> int:
        """Kills the child if it lives, frees its pipes, and returns its exit code."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.kill()
        code = self._process.wait()
        with contextlib.suppress(BrokenPipeError):  # what a dead child never read is lost by intention
            self._process.stdin.close()
        self._process.stdout.close()
        return code

    def _expire(self, over: threading.Event) -> None:
        over.set()
        self.kill()

    def _send(self, frame: bytes) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # the child is dead; reading its answer tells so
            worker.write_frame(self._process.stdin, frame)

    def _receive(self) -> bytes | None:
        assert self._process.stdout is not None
        header = self._process.stdout.read(worker.LENGTH.size)
        if len(header) < worker.LENGTH.size:
            return None
        (length,) = worker.LENGTH.unpack(header)
        if length > MAX_ANSWER_BYTES:
            return None
        frame = self._process.stdout.read(length)
        return frame if len(frame) == length else None
