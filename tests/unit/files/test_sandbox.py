"""The sandbox: what a child may do to us, and what it may not."""

import asyncio
import contextlib
import logging
import os
import pickle
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support import sandboxed
from tributary.domain.attachments import FileType
from tributary.domain.errors import (
    Conflict,
    DamagedFile,
    DependencyUnavailable,
    NotFound,
    ProviderError,
    RateLimited,
    TributaryError,
)
from tributary.files import worker
from tributary.files.process import AnswerRefused, read_answer
from tributary.files.sandbox import Sandbox
from tributary.files.soundness import FileFacts


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(workers=1, memory=512 * 2**20) as sandbox:
        yield sandbox


async def appears(path: Path) -> int:
    """The process id that a sandboxed function writes when it runs."""
    while not path.exists() or not path.read_text():
        await asyncio.sleep(0.005)
    return int(path.read_text())


async def ends(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        while True:
            os.kill(pid, 0)
            await asyncio.sleep(0.005)


async def test_a_function_runs_in_another_process(sandbox: Sandbox) -> None:
    assert await sandbox.run(sandboxed.double, 21, timeout=10) == 42
    assert await sandbox.run(sandboxed.process_id, timeout=10) != os.getpid()


async def test_one_process_serves_one_task_after_the_other(sandbox: Sandbox) -> None:
    pids = [await sandbox.run(sandboxed.process_id, timeout=10) for _ in range(3)]
    assert len(set(pids)) == 1


async def test_our_values_come_back_as_they_were(sandbox: Sandbox) -> None:
    facts = FileFacts(FileType.PDF, pages=3)
    assert await sandbox.run(sandboxed.facts_of, facts, timeout=10) == facts


async def test_a_task_over_its_time_is_killed_and_the_file_is_blamed(sandbox: Sandbox, tmp_path: Path) -> None:
    with pytest.raises(DamagedFile, match=r"took longer than 0\.2 s"):
        await sandbox.run(sandboxed.wait_for_ever, tmp_path / "started", timeout=0.2)
    assert await sandbox.run(sandboxed.double, 1, timeout=10) == 2


async def test_a_task_that_wants_too_much_memory_is_refused_it(sandbox: Sandbox) -> None:
    with pytest.raises(DamagedFile, match=r"more than 512\.0 MB of memory"):
        await sandbox.run(sandboxed.take_memory, 2**30, timeout=10)


async def test_a_crash_is_told_as_a_damaged_file_and_harms_nobody_else(sandbox: Sandbox) -> None:
    with pytest.raises(DamagedFile, match="crashed"):
        await sandbox.run(sandboxed.crash, timeout=10)
    assert await sandbox.run(sandboxed.double, 4, timeout=10) == 8


async def test_an_idle_worker_killed_from_outside_does_not_disturb_the_next_task(sandbox: Sandbox) -> None:
    pid = await sandbox.run(sandboxed.process_id, timeout=10)
    os.kill(pid, signal.SIGKILL)
    assert await sandbox.run(sandboxed.process_id, timeout=10) != pid


async def test_a_task_whose_worker_was_killed_from_outside_is_done_once_more(sandbox: Sandbox, tmp_path: Path) -> None:
    assert await sandbox.run(sandboxed.die_the_first_time, tmp_path / "mark", timeout=10) == "done"


async def test_a_task_that_kills_its_worker_each_time_is_given_up(sandbox: Sandbox) -> None:
    with pytest.raises(DamagedFile, match="crashed"):
        await sandbox.run(sandboxed.die, timeout=10)


async def test_a_cancelled_caller_ends_the_process_of_its_task(sandbox: Sandbox, tmp_path: Path) -> None:
    task = asyncio.create_task(sandbox.run(sandboxed.wait_for_ever, tmp_path / "started", timeout=60))
    pid = await appears(tmp_path / "started")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await sandbox.run(sandboxed.process_id, timeout=10) != pid


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (sandboxed.raise_not_found, NotFound("document", 7)),
        (sandboxed.raise_provider_error, ProviderError("too busy", transient=True, retry_after=3)),
        (sandboxed.raise_conflict, Conflict("as it is")),
        (sandboxed.raise_damaged, DamagedFile("half of it is missing")),
    ],
)
async def test_errors_of_our_tree_come_back_as_themselves(
    sandbox: Sandbox, function: Callable[[], None], expected: TributaryError
) -> None:
    with pytest.raises(type(expected)) as caught:
        await sandbox.run(function, timeout=10)
    assert caught.value.problem() == expected.problem()
    assert caught.value.transient == expected.transient


async def test_whatever_else_a_reader_raises_is_a_damaged_file_and_the_log_keeps_its_message_out(
    sandbox: Sandbox, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING), pytest.raises(DamagedFile):
        await sandbox.run(sandboxed.raise_type_error, timeout=10)
    assert "TypeError in raise_type_error" in caplog.text
    assert "secret" not in caplog.text


async def test_an_answer_can_not_carry_anything_but_values_of_ours(sandbox: Sandbox) -> None:
    for function in (sandboxed.answer_foreign, sandboxed.answer_treacherous):
        with pytest.raises(AnswerRefused):
            await sandbox.run(function, timeout=10)
    assert await sandbox.run(sandboxed.double, 3, timeout=10) == 6


async def test_an_answer_that_can_not_be_sent_is_a_bug_and_no_damaged_file(sandbox: Sandbox) -> None:
    with pytest.raises(RuntimeError, match="could not run its task"):
        await sandbox.run(sandboxed.answer_unpicklable, timeout=10)


async def test_output_of_a_library_does_not_mix_into_the_answers(sandbox: Sandbox) -> None:
    assert await sandbox.run(sandboxed.print_noise, timeout=10) == "heard"


async def test_a_child_sees_no_secret_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-very-secret")
    with Sandbox(workers=1) as fresh:
        assert b"sk-very-secret" not in await fresh.run(sandboxed.environment, timeout=10)


async def test_a_child_loads_nothing_that_its_task_does_not_need() -> None:
    with Sandbox(workers=1) as fresh:
        loaded = set(await fresh.run(sandboxed.loaded_modules, timeout=10))
    assert "tributary.files.soundness" in loaded
    assert loaded.isdisjoint({"langchain_core", "langgraph", "fastapi", "pydantic", "numpy", "PIL", "pypdfium2"})
    assert loaded.isdisjoint({"asyncio", "logging", "subprocess", "tributary.files.sandbox"})


async def test_a_worker_is_replaced_after_its_share_of_tasks() -> None:
    with Sandbox(workers=1, tasks=2) as fresh:
        pids = [await fresh.run(sandboxed.process_id, timeout=10) for _ in range(4)]
    assert pids[0] == pids[1] != pids[2] == pids[3]


async def test_a_worker_that_needed_much_memory_is_replaced(sandbox: Sandbox) -> None:
    before = await sandbox.run(sandboxed.process_id, timeout=10)
    assert await sandbox.run(sandboxed.use_memory, 2**28, timeout=10) == 2**28
    assert await sandbox.run(sandboxed.process_id, timeout=10) != before


async def test_tasks_run_side_by_side_on_two_workers(tmp_path: Path) -> None:
    with Sandbox(workers=2) as fresh:
        slow = asyncio.create_task(fresh.run(sandboxed.wait_for_ever, tmp_path / "started", timeout=60))
        await appears(tmp_path / "started")
        assert await fresh.run(sandboxed.double, 5, timeout=10) == 10
        slow.cancel()


async def test_closing_ends_a_running_task_with_an_error_that_does_not_blame_the_file(tmp_path: Path) -> None:
    fresh = Sandbox(workers=1)
    task = asyncio.create_task(fresh.run(sandboxed.wait_for_ever, tmp_path / "started", timeout=60))
    pid = await appears(tmp_path / "started")
    await asyncio.to_thread(fresh.close)
    with pytest.raises(DependencyUnavailable):
        await task
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_a_started_sandbox_has_a_process_before_its_first_task() -> None:
    with Sandbox(workers=1) as fresh:
        await fresh.start()
        assert [worker.alive for worker in fresh._idle] == [True]


async def test_idle_processes_end_after_their_rest_and_the_next_task_has_a_new_one() -> None:
    with Sandbox(workers=2, rest=0.01) as fresh:
        pid = await fresh.run(sandboxed.process_id, timeout=10)
        await ends(pid)
        assert await fresh.run(sandboxed.double, 5, timeout=10) == 10


async def test_who_wants_to_know_is_told_of_the_rest() -> None:
    told = asyncio.Event()
    loop = asyncio.get_running_loop()
    with Sandbox(workers=1, rest=0.01, at_rest=lambda: loop.call_soon_threadsafe(told.set)) as fresh:
        await fresh.run(sandboxed.double, 5, timeout=10)
        await told.wait()


async def test_a_task_outlasts_the_rest_of_its_siblings(tmp_path: Path) -> None:
    with Sandbox(workers=2, rest=0.01) as fresh:
        slow = asyncio.create_task(fresh.run(sandboxed.wait_for_ever, tmp_path / "started", timeout=60))
        busy = await appears(tmp_path / "started")
        await ends(await fresh.run(sandboxed.process_id, timeout=10))
        os.kill(busy, 0)
        assert not slow.done()
        slow.cancel()


def test_every_error_of_the_tree_survives_a_pickle() -> None:
    def tree(kind: type[TributaryError]) -> Iterator[type[TributaryError]]:
        yield kind
        for child in kind.__subclasses__():
            yield from tree(child)

    for kind in tree(TributaryError):
        if kind.__module__ != TributaryError.__module__:
            continue  # of a route, and made there
        error = NotFound("bot", 1) if kind is NotFound else kind("why", retry_after=2)
        copied = pickle.loads(pickle.dumps(error))
        assert type(copied) is type(error)
        assert (copied.args, copied.__dict__) == (error.args, error.__dict__)
    assert RateLimited in set(tree(TributaryError))


def test_a_name_of_the_standard_library_in_an_answer_is_refused() -> None:
    with pytest.raises(AnswerRefused):
        read_answer(pickle.dumps(("value", Path("x"), False)))


def test_a_function_of_ours_in_an_answer_is_refused() -> None:
    with pytest.raises(AnswerRefused):
        read_answer(pickle.dumps(("value", worker.read_frame, False)))
