import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future
from typing import Any

import numpy as np
import pytest

from tributary.domain.errors import DependencyUnavailable
from tributary.models.background import in_background
from tributary.models.local.model_thread import ModelThread
from tributary.models.local.text_model import Purpose, Tokens
from tributary.models.protocols import Vectors

FULL = "x" * 512  # fills a batch, so that a step is a text
PATIENCE = 10.0


class GatedModel:
    """A model, its own tokenizer, whose tokens are characters; a vector is the text's first token. It stands still at
    every run until the test lets it go on."""

    def __init__(self) -> None:
        self.tokenizer = self
        self.runs: list[str] = []
        self.started = threading.Semaphore(0)
        self.gate = threading.Semaphore(0)
        self.fails_on = ""

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(text) for text in texts]

    def encode(self, text: str, purpose: Purpose) -> Tokens:
        return np.frombuffer(text.encode("utf-32-le"), dtype=np.int32)

    def embed(self, batch: Sequence[Tokens]) -> Vectors:
        names = "".join(chr(tokens[0]) for tokens in batch)
        self.runs.append(names)
        self.started.release()
        assert self.gate.acquire(timeout=PATIENCE)
        if self.fails_on and self.fails_on in names:
            raise MemoryError(names)
        return np.array([[float(tokens[0])] for tokens in batch], dtype=np.float32)

    def let_go(self, runs: int = 1000) -> None:
        self.gate.release(runs)

    def wait_for_run(self) -> None:
        assert self.started.acquire(timeout=PATIENCE)


@pytest.fixture
def model() -> GatedModel:
    return GatedModel()


@pytest.fixture
def thread(model: GatedModel) -> Iterator[ModelThread]:
    thread = ModelThread("test", lambda: model)
    yield thread
    model.let_go()
    thread.close()


def full(names: str) -> list[str]:
    return [name + FULL[1:] for name in names]


def test_questions_go_ahead_of_documents_that_came_first(thread: ModelThread, model: GatedModel) -> None:
    documents = thread.embed(full("abc"), 1)
    model.wait_for_run()
    question = thread.ask("q")
    model.let_go()
    assert question.result(PATIENCE).tolist() == [ord("q")]
    assert documents.result(PATIENCE).ravel().tolist() == [ord("a"), ord("b"), ord("c")]
    assert model.runs == ["a", "q", "b", "c"]


def test_questions_that_wait_at_the_same_time_share_a_run(thread: ModelThread, model: GatedModel) -> None:
    first = thread.ask("a")
    model.wait_for_run()
    others = [thread.ask(name) for name in "bcd"]
    model.let_go()
    assert [each.result(PATIENCE).tolist() for each in [first, *others]] == [[ord(name)] for name in "abcd"]
    assert model.runs == ["a", "bcd"]


def test_calls_with_documents_take_turns(thread: ModelThread, model: GatedModel) -> None:
    large = thread.embed(full("abcdefgh"), 1)
    model.wait_for_run()
    small = thread.embed(full("z"), 1)
    model.let_go()
    small.result(PATIENCE)
    large.result(PATIENCE)
    assert model.runs.index("z") <= 2


def test_rows_come_in_the_order_of_the_texts_whatever_their_lengths(thread: ModelThread, model: GatedModel) -> None:
    model.let_go()
    texts = [chr(0x100 + at) + "x" * (at * 37 % 300) for at in range(200)]
    assert thread.embed(texts, 1).result(PATIENCE).ravel().tolist() == [float(0x100 + at) for at in range(200)]


def test_a_cancelled_question_is_not_run(thread: ModelThread, model: GatedModel) -> None:
    first = thread.ask("a")
    model.wait_for_run()
    cancelled, kept = thread.ask("b"), thread.ask("c")
    assert cancelled.cancel()
    model.let_go()
    first.result(PATIENCE)
    kept.result(PATIENCE)
    assert model.runs == ["a", "c"]


def test_documents_cancelled_under_way_run_no_further_batch(thread: ModelThread, model: GatedModel) -> None:
    documents = thread.embed(full("abcdef"), 1)
    model.wait_for_run()
    assert documents.cancel()
    model.let_go()
    thread.ask("q").result(PATIENCE)
    thread.load().result(PATIENCE)
    assert model.runs == ["a", "q"]
    with pytest.raises(CancelledError):
        documents.result(PATIENCE)


async def test_an_awaiting_caller_that_is_cancelled_cancels_its_job(thread: ModelThread, model: GatedModel) -> None:
    async def embed() -> Vectors:
        return await asyncio.wrap_future(thread.embed(full("abcdef"), 1))

    waiting = asyncio.create_task(embed())
    await asyncio.to_thread(model.wait_for_run)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    model.let_go()
    await asyncio.wrap_future(thread.ask("q"))
    assert model.runs == ["a", "q"]


def test_a_failure_ends_its_own_call_and_no_other(thread: ModelThread, model: GatedModel) -> None:
    model.fails_on = "b"
    first = thread.embed(full("abc"), 1)
    model.wait_for_run()
    second = thread.embed(full("yz"), 1)
    model.let_go()
    with pytest.raises(MemoryError):
        first.result(PATIENCE)
    assert second.result(PATIENCE).ravel().tolist() == [ord("y"), ord("z")]
    assert thread.ask("q").result(PATIENCE).tolist() == [ord("q")]


def failing_once(model: GatedModel) -> Callable[[], GatedModel]:
    attempts: list[int] = []

    def load() -> GatedModel:
        attempts.append(1)
        if len(attempts) == 1:
            raise DependencyUnavailable("not yet")
        return model

    return load


def test_a_load_that_failed_is_tried_again(model: GatedModel) -> None:
    thread = ModelThread("test", failing_once(model))
    with pytest.raises(DependencyUnavailable, match="not yet"):
        thread.load().result(PATIENCE)
    model.let_go()
    assert thread.ask("q").result(PATIENCE).tolist() == [ord("q")]
    thread.close()


def closing(thread: ModelThread) -> threading.Thread:
    """Closes the thread from another one, which waits for the run under way; returns once nothing is taken any more."""
    other = threading.Thread(target=thread.close)
    other.start()
    while _takes_jobs(thread):
        pass
    return other


def _takes_jobs(thread: ModelThread) -> bool:
    try:
        thread.load()
    except DependencyUnavailable:
        return False
    return True


def test_closing_lets_the_run_under_way_end_and_fails_what_waits(model: GatedModel) -> None:
    thread = ModelThread("test", lambda: model)
    under_way = thread.ask("a")
    model.wait_for_run()
    waiting: list[Future[Any]] = [thread.ask("b"), thread.embed(full("cd"), 1), thread.load()]
    other = closing(thread)
    model.let_go()
    other.join(PATIENCE)
    assert under_way.result(PATIENCE).tolist() == [ord("a")]
    assert [type(each.exception(PATIENCE)) for each in waiting] == [DependencyUnavailable] * 3
    assert model.runs == ["a"]


def test_documents_that_are_half_done_at_the_close_fail(model: GatedModel) -> None:
    thread = ModelThread("test", lambda: model)
    documents = thread.embed(full("ab"), 1)
    model.wait_for_run()
    other = closing(thread)
    model.let_go()
    other.join(PATIENCE)
    assert isinstance(documents.exception(PATIENCE), DependencyUnavailable)
    assert model.runs == ["a"]


def test_many_threads_asking_at_once_all_get_their_own_answer(thread: ModelThread, model: GatedModel) -> None:
    model.let_go(100_000)
    wrong: list[str] = []

    def ask(start: int) -> None:
        for at in range(100):
            name = chr(0x4E00 + start * 100 + at)
            if thread.ask(name).result(PATIENCE).tolist() != [float(ord(name))]:
                wrong.append(name)

    threads = [threading.Thread(target=ask, args=(start,)) for start in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert wrong == []


def test_background_documents_go_behind_all_others(thread: ModelThread, model: GatedModel) -> None:
    with in_background():
        patient = thread.embed(full("abc"), 1)
    model.wait_for_run()
    pressing, question = thread.embed(full("xy"), 1), thread.ask("q")
    model.let_go()
    assert patient.result(PATIENCE).shape == (3, 1)
    assert pressing.done()
    assert question.done()
    assert model.runs == ["a", "q", "x", "y", "b", "c"]


def test_background_work_pauses_after_somebody_was_served_and_gives_way_in_its_pause(model: GatedModel) -> None:
    thread = ModelThread("test", lambda: model, pause=3600.0)
    model.let_go()
    thread.ask("q").result(PATIENCE)
    with in_background():
        patient = thread.embed(full("a"), 1)
    assert thread.ask("r").result(PATIENCE).tolist() == [ord("r")]
    assert not patient.done()
    thread.close()
    with pytest.raises(DependencyUnavailable):
        patient.result(PATIENCE)
    assert model.runs == ["q", "r"]
