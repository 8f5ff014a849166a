"""Questions of several tasks that go out together: the way to a server and back takes longer than most answers."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

Q = TypeVar("Q")
A = TypeVar("A")


class AskedTogether(Generic[Q, A]):
    """Takes questions one by one, and has those answered at once that are asked at the same moment."""

    def __init__(self, answer: Callable[[Sequence[Q]], Awaitable[Sequence[A]]]) -> None:
        self._answer = answer
        self._asked: list[tuple[Q, asyncio.Future[A]]] = []

    async def ask(self, question: Q) -> A:
        """The answer to this question. An error is that of each who asked at that moment."""
        answer: asyncio.Future[A] = asyncio.get_running_loop().create_future()
        self._asked.append((question, answer))
        # By now whoever asks at the same moment has asked, too, and the first to go on takes all.
        try:
            await asyncio.sleep(0)
        except asyncio.CancelledError:
            self._asked = [each for each in self._asked if each[1] is not answer]
            raise
        if any(each is answer for _, each in self._asked):
            together, self._asked = self._asked, []
            await self._answer_all(together)
        return await answer

    async def _answer_all(self, asked: Sequence[tuple[Q, "asyncio.Future[A]"]]) -> None:
        """Whoever is cancelled meanwhile waits for no answer."""
        waiting = [future for _, future in asked]
        try:
            answers = await self._answer([question for question, _ in asked])
            answered = list(zip(waiting, answers, strict=True))
        except Exception as error:  # noqa: BLE001 - it is raised where each waits for its answer
            for future in waiting:
                if not future.done():
                    future.set_exception(error)
        else:
            for future, answer in answered:
                if not future.done():
                    future.set_result(answer)
        finally:
            # Has an effect only where the answer was cancelled.
            for future in waiting:
                future.cancel()
