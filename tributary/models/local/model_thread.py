"""One thread that runs one model, for callers on any event loop or thread. Questions go ahead of documents."""

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from tributary.domain.errors import DependencyUnavailable
from tributary.models.background import is_background
from tributary.models.local.jobs import Documents, Job, Loading, Question, Questions
from tributary.models.local.text_model import TextModel
from tributary.models.protocols import Vectors

#: Questions answered together; more would make the first of them wait for the last.
_QUESTIONS = 8
#: Seconds after somebody was served in which no background work begins: who asked a question goes on with the answer,
#: and wants the processor for it.
PAUSE = 0.05

_Waiting = TypeVar("_Waiting")


class ModelThread:
    """Loads the model at the first job, in its thread; a load that failed is tried again by the next job.

    Before each step the thread looks at what waits: first who wants the model loaded, then the questions, then one
    step of the documents whose turn it is, call by call. So a question waits for one batch of documents at most, and a
    small upload is not held up by a large one. Documents in the background have their turn when nothing else waits, nor
    did a moment ago. A thread whose owner is gone ends by itself.
    """

    def __init__(self, name: str, load: Callable[[], TextModel], *, pause: float = PAUSE) -> None:
        self._name = name
        self._load = load
        self._model: TextModel | None = None
        self._lock = threading.Condition()
        self._pause = pause
        self._served = 0.0
        self._loading: deque[Loading] = deque()
        self._questions: deque[Question] = deque()
        self._documents: deque[Documents] = deque()
        self._background: deque[Documents] = deque()
        self._current: Job | None = None
        self._busy = False
        self._closed = False
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)

    def load(self) -> Future[None]:
        """Done when the model is there. Raises `DependencyUnavailable`, as the others do, once this is closed."""
        job = Loading()
        self._enqueue(self._loading, job)
        return job.future

    def ask(self, text: str) -> Future[Vectors]:
        """The vector of a question, `(dimension,)`. May be cancelled until it is its turn."""
        job = Question(text)
        self._enqueue(self._questions, job)
        return job.future

    def embed(self, texts: Sequence[str], dimension: int) -> Future[Vectors]:
        """The vectors of documents, `(len(texts), dimension)`. May be cancelled until it is done."""
        job = Documents(texts, dimension, background=is_background())
        self._enqueue(self._line_of(job), job)
        return job.future

    def close(self) -> None:
        """Lets the step under way end, fails what waits, and frees the model. May be called twice."""
        with self._lock:
            self._closed = True
            documents = [*self._documents, *self._background]
            waiting: list[Job] = [*self._loading, Questions(tuple(self._questions)), *documents]
            self._loading.clear()
            self._questions.clear()
            self._documents.clear()
            self._background.clear()
            self._lock.notify_all()
        self._executor.shutdown(wait=True)
        for job in waiting:
            job.fail(self._gone())
        self._model = None

    def _enqueue(self, queue: deque[_Waiting], job: _Waiting) -> None:
        with self._lock:
            if self._closed:
                raise self._gone()
            queue.append(job)
            if not self._busy:
                self._start()
            self._lock.notify_all()

    def _line_of(self, job: Documents) -> deque[Documents]:
        return self._background if job.background else self._documents

    def _start(self) -> None:
        """To be called with the lock held, so that a closed executor is never asked."""
        self._busy = True
        self._executor.submit(self._work).add_done_callback(self._settle)

    def _work(self) -> None:
        while (job := self._take()) is not None:
            if self._model is None:
                self._model = self._load()
            unfinished = job.step(self._model)
            while unfinished and not isinstance(job, Documents):
                unfinished = job.step(self._model)
            if not isinstance(job, Documents) or not job.background:
                self._served = time.monotonic()
            if unfinished and isinstance(job, Documents):
                self._put_back(job)

    def _take(self) -> Job | None:
        with self._lock:
            while (job := self._choose()) is None and self._background:
                self._lock.wait(self._pause_left())
            self._current = job
            self._busy = job is not None
            return job

    def _choose(self) -> Job | None:
        if self._loading:
            return self._loading.popleft()
        if self._questions:
            return Questions([self._questions.popleft() for _ in range(min(_QUESTIONS, len(self._questions)))])
        if self._documents:
            return self._documents.popleft()
        return self._background.popleft() if self._background and self._pause_left() <= 0 else None

    def _pause_left(self) -> float:
        return self._served + self._pause - time.monotonic()

    def _put_back(self, job: Documents) -> None:
        with self._lock:
            if not self._closed:
                self._line_of(job).append(job)
                return
        job.fail(self._gone())

    def _settle(self, turn: Future[None]) -> None:
        """A failure ends the job that was under way, and only that one. The thread pool has caught it, so nothing
        here needs to know what a model may raise."""
        error = turn.exception()
        if error is None:
            return
        with self._lock:
            failed, self._current = self._current, None
            self._busy = False
            if not self._closed:
                self._start()
        if failed is not None:
            failed.fail(error)

    def _gone(self) -> DependencyUnavailable:
        return DependencyUnavailable(f"The embedding model {self._name} is closed")
