"""What waits for a model: questions, documents, and the wish to have it loaded. Each delivers into a future."""

from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from typing import Protocol

import numpy as np

from tributary.models.local.batching import plan_batches
from tributary.models.local.text_model import Purpose, TextModel
from tributary.models.protocols import Vectors

#: Documents whose tokens are made, and sorted by length, at a time.
_WINDOW = 64


class Job(Protocol):
    """Work in steps, each short enough for a question to wait for it."""

    def step(self, model: TextModel) -> bool:
        """Does the next step; whether another is left. A job whose caller has gone does nothing."""
        ...

    def fail(self, error: BaseException) -> None:
        """Tells the caller, unless it has its answer or has gone."""
        ...


class Loading:
    """Done as soon as there is a model."""

    def __init__(self) -> None:
        self.future: Future[None] = Future()

    def step(self, model: TextModel) -> bool:  # noqa: ARG002 - that it is there is all
        if self.future.set_running_or_notify_cancel():
            self.future.set_result(None)
        return False

    def fail(self, error: BaseException) -> None:
        _fail(self.future, error)


class Question:
    """One question. Those that wait at the same time are answered together, see `Questions`."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.future: Future[Vectors] = Future()


class Questions:
    """Questions answered together, a batch a step."""

    def __init__(self, questions: Sequence[Question]) -> None:
        self._questions = questions
        self._steps: Iterator[None] | None = None

    def step(self, model: TextModel) -> bool:
        self._steps = self._steps or self._run(model)
        return next(self._steps, False) is None

    def fail(self, error: BaseException) -> None:
        for question in self._questions:
            _fail(question.future, error)

    def _run(self, model: TextModel) -> Iterator[None]:
        wanted = [each for each in self._questions if each.future.set_running_or_notify_cancel()]
        tokens = [model.tokenizer.encode(each.text, Purpose.QUERY) for each in wanted]
        for batch in plan_batches([len(each) for each in tokens]):
            vectors = model.embed([tokens[at] for at in batch])
            for at, vector in zip(batch, vectors, strict=True):
                wanted[at].future.set_result(vector)
            yield


class Documents:
    """The documents of one call. Their tokens are made a window at a time, so that memory stays small."""

    def __init__(self, texts: Sequence[str], dimension: int, *, background: bool = False) -> None:
        self.future: Future[Vectors] = Future()
        self.background = background
        self._texts = texts
        self._vectors = np.empty((len(texts), dimension), dtype=np.float32)
        self._steps: Iterator[None] | None = None

    def step(self, model: TextModel) -> bool:
        if self.future.cancelled():
            return False
        self._steps = self._steps or self._run(model)
        if next(self._steps, False) is None:
            return True
        # Only now is the future taken from its caller: until here it could be cancelled.
        if self.future.set_running_or_notify_cancel():
            self.future.set_result(self._vectors)
        return False

    def fail(self, error: BaseException) -> None:
        _fail(self.future, error)

    def _run(self, model: TextModel) -> Iterator[None]:
        for start in range(0, len(self._texts), _WINDOW):
            window = self._texts[start : start + _WINDOW]
            tokens = [model.tokenizer.encode(text, Purpose.DOCUMENT) for text in window]
            yield
            for batch in plan_batches([len(each) for each in tokens]):
                self._vectors[[start + at for at in batch]] = model.embed([tokens[at] for at in batch])
                yield


def _fail(future: "Future[None] | Future[Vectors]", error: BaseException) -> None:
    if future.done():
        return
    if future.running() or future.set_running_or_notify_cancel():
        future.set_exception(error)
