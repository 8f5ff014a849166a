"""Runs functions on strangers' files in child processes that are limited and can be killed.

A child sees no environment, has a bound on memory, and is replaced when it takes too long, dies, or has done its share
of tasks. `multiprocessing` pools were left aside: their children import the parent's main module and inherit
its environment, and one idle child killed from outside breaks the whole pool.
"""

import asyncio
import logging
import pickle
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self, TypeVar, TypeVarTuple

from tributary.domain.attachments import human_size
from tributary.domain.errors import DamagedFile, DependencyUnavailable, TributaryError
from tributary.files.process import Worker, WorkerEnded

logger = logging.getLogger(__name__)

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

DEFAULT_MEMORY = 2**30
DEFAULT_TASKS = 200
#: A child killed by somebody else (an operator, the kernel that ran out of memory) gets its task once more.
KILLED = -int(getattr(signal, "SIGKILL", 9))


class _Task:
    """A task on its way: which child works on it, and whether its caller is gone."""

    def __init__(self, function: Callable[..., Any], arguments: tuple[Any, ...], timeout: float) -> None:
        self.request = pickle.dumps((function, arguments, timeout), protocol=5)
        self.timeout = timeout
        self.abandoned = False
        self.worker: Worker | None = None
        self._lock = threading.Lock()

    def assign(self, worker: Worker | None) -> None:
        with self._lock:
            self.worker = worker
            if self.abandoned and worker is not None:
                worker.kill()

    def abandon(self) -> None:
        with self._lock:
            self.abandoned = True
            if self.worker is not None:
                self.worker.kill()


class Sandbox:
    """A few child processes for parsing, started when they are first needed, safe to use from any event loop.

    `memory` bounds the private memory of each child in bytes (on Linux; elsewhere only time is bounded). Children of a
    higher `niceness` leave the processor to others. With `rest`, children that had nothing to do for so many seconds
    end, and `at_rest` is called; what comes then waits for a new one.
    """

    def __init__(
        self,
        *,
        workers: int = 2,
        memory: int = DEFAULT_MEMORY,
        tasks: int = DEFAULT_TASKS,
        niceness: int = 0,
        rest: float | None = None,
        at_rest: Callable[[], object] | None = None,
    ) -> None:
        self._niceness = niceness
        self._rest = rest
        self._at_rest = at_rest
        self._resting: threading.Timer | None = None
        self._memory = memory
        self._tasks = tasks
        self._idle: list[Worker] = []
        self._lock = threading.Lock()
        self._closed = False
        self._running: set[_Task] = set()
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="sandbox")

    async def run(  # a task that is over time must be killed, which only the thread that asks for it can do
        self,
        function: Callable[[*Ts], T],
        *args: *Ts,
        timeout: float,  # noqa: ASYNC109
    ) -> T:
        """Calls a module-level `function` in a child and returns its value: plain values, bytes, and dataclasses and
        enums of ours. `timeout` is in seconds from when a child takes the task; waiting for one does not count. A
        caller that is cancelled ends its task.

        Raises:
            DamagedFile: it took too long or too much memory, or the reader failed or crashed on the file.
            TributaryError: whatever of our tree the function raised, as itself.
            DependencyUnavailable: no child can be started.
        """
        task = _Task(function, args, timeout)
        future = self._threads.submit(self._perform, task)
        try:
            value: T = await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            task.abandon()
            raise
        return value

    async def start(self) -> None:
        """Starts one child ahead of its first task."""
        await asyncio.to_thread(lambda: self._give_back(self._take()))

    def close(self) -> None:
        """Kills every child; tasks that run fail with `DependencyUnavailable`. Closing twice is no error."""
        with self._lock:
            self._closed = True
            self._end_rest()
            idle, self._idle = self._idle, []
            running = list(self._running)
        for task in running:
            task.abandon()
        for worker in idle:
            worker.close()
        self._threads.shutdown(wait=True, cancel_futures=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _perform(self, task: _Task) -> Any:
        with self._lock:
            self._running.add(task)
        try:
            try:
                return self._attempt(task)
            except WorkerEnded as ended:
                if ended.code != KILLED or task.abandoned:
                    raise
            logger.warning("a sandbox worker was killed from outside; its task is tried once more")
            return self._attempt(task)
        except WorkerEnded as ended:
            raise self._explain(ended, task) from ended
        finally:
            with self._lock:
                self._running.discard(task)

    def _attempt(self, task: _Task) -> Any:
        worker = self._take()
        task.assign(worker)
        try:
            outcome, value, retire = worker.ask(task.request, timeout=task.timeout)
        except TimeoutError as error:
            raise DamagedFile(f"The file took longer than {task.timeout:g} s to read.") from error
        except BaseException:
            worker.close()
            raise
        finally:
            task.assign(None)
        if retire:
            worker.close()
        else:
            self._give_back(worker)
        return self._settle(outcome, value)

    def _settle(self, outcome: str, value: Any) -> Any:
        if outcome == "value":
            return value
        if outcome == "error" and isinstance(value, TributaryError):
            raise value
        if outcome == "memory":
            raise DamagedFile(f"The file needs more than {human_size(self._memory)} of memory to read.")
        if outcome == "failure":
            logger.warning("a reader failed on a file: %s", value)
            raise DamagedFile("The file can't be read: its contents are not as its type demands.")
        raise RuntimeError(f"a sandbox worker could not run its task: {value}")

    def _explain(self, ended: WorkerEnded, task: _Task) -> TributaryError:
        if task.abandoned:
            return DependencyUnavailable("Reading files was stopped; the server is shutting down.")
        logger.warning("a sandbox worker crashed on a file with exit code %d", ended.code)
        return DamagedFile("The file can't be read: the reader crashed on it.")

    def _take(self) -> Worker:
        """An idle child that lives, else a new one. The number of threads bounds their number."""
        while True:
            with self._lock:
                if self._closed:
                    raise DependencyUnavailable("Reading files was stopped; the server is shutting down.")
                worker = self._idle.pop() if self._idle else None
            if worker is None:
                return self._start_worker()
            if worker.alive:
                return worker
            worker.close()

    def _start_worker(self) -> Worker:
        try:
            return Worker(memory=self._memory, tasks=self._tasks, niceness=self._niceness)
        except OSError as error:
            raise DependencyUnavailable("No process for reading files can be started right now.") from error

    def _give_back(self, worker: Worker) -> None:
        with self._lock:
            if not self._closed:
                self._idle.append(worker)
                self._begin_rest()
                return
        worker.close()

    def _begin_rest(self) -> None:
        """Whenever a child has done something, all have the whole of their rest before them. Under the lock."""
        self._end_rest()
        if self._rest is not None:
            self._resting = threading.Timer(self._rest, self._let_go)
            self._resting.daemon = True
            self._resting.start()

    def _end_rest(self) -> None:
        if self._resting is not None:
            self._resting.cancel()
            self._resting = None

    def _let_go(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.close()
        if self._at_rest is not None:
            self._at_rest()
