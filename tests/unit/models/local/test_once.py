import threading

import pytest

from tributary.models.local.once import Once


def test_threads_that_ask_at_once_get_the_same_value() -> None:
    made: list[object] = []

    everybody = threading.Barrier(8)

    def make() -> object:
        made.append(object())
        return made[-1]

    once = Once(make)
    values: list[object] = []

    def ask() -> None:
        everybody.wait()
        values.append(once.get())

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert values == made * 8
    assert len(made) == 1


def test_a_failure_is_not_kept() -> None:
    outcomes = iter([OSError("full"), None])

    def make() -> str:
        if error := next(outcomes):
            raise error
        return "made"

    once = Once(make)
    with pytest.raises(OSError, match="full"):
        once.get()
    assert once.get() == "made"
