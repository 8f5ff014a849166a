"""Requests that bring several files: each has its own result, and one file's failure does not lose the others."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from tributary.domain.errors import Problem, TributaryError
from tributary.routes.multipart import ReceivedFile

#: What one file came to: the fields of its result.
Outcome = dict[str, Any]


async def one_by_one(
    files: Sequence[ReceivedFile], work: Callable[[ReceivedFile], Awaitable[Outcome]]
) -> tuple[list[Outcome], Problem | None]:
    """The results in the order of the files, as `{filename, error: {code, detail}}` where a file was refused; and the
    first problem, where all of them were."""
    results: list[Outcome] = []
    problems: list[Problem] = []
    for file in files:
        try:
            if file.error is not None:
                raise file.error
            results.append(await work(file))
        except TributaryError as error:
            results.append({"filename": file.filename, "error": {"code": error.code, "detail": error.detail}})
            problems.append(error.problem())
    return results, problems[0] if len(problems) == len(results) else None
