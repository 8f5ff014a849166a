"""`Idempotency-Key` with a served graph: a repeated run gets the first one's output, and happens once."""

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any

import orjson
from fastapi import Response

from tributary.routes.idempotency import Result, fingerprint, once
from tributary.routes.served.runs import Run


class _Passing(Exception):
    """An output that is not kept: the same run may end otherwise the next time."""

    def __init__(self, response: Response) -> None:
        super().__init__()
        self.response = response


async def invoked_once(
    run: Run, graph: str, key: str | None, given: object, invoke: Callable[[], Awaitable[Response]]
) -> Response:
    """Runs `invoke` and keeps its answer under the caller's key, unless a failure that may pass came of it.

    Raises:
        Conflict: the key was used with another input, or the first run is still at work.
    """
    if key is None:
        return await invoke()

    async def work() -> Result:
        response = await invoke()
        body: dict[str, Any] = orjson.loads(response.body)
        if _may_pass(body["output"]):
            raise _Passing(response)
        return HTTPStatus.OK, body

    store, organisation_id = run.services.idempotency, run.caller.organisation_id
    try:
        return await once(
            store, organisation_id, route=f"graphs {graph}", key=key, mark=fingerprint(repr(given)), work=work
        )
    except _Passing as passing:
        return passing.response


def _may_pass(output: dict[str, Any]) -> bool:
    status = output.get("error", {}).get("status", HTTPStatus.OK)
    return bool(status >= HTTPStatus.INTERNAL_SERVER_ERROR or status == HTTPStatus.TOO_MANY_REQUESTS)
