"""The graphs under `/graphs/<name>/`, as LangServe's clients call them (SPEC §9)."""

from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Body, Depends, Request, Response

from tributary.domain.errors import Forbidden, InvalidRequest, Unauthorized
from tributary.domain.identity import Caller, Scope
from tributary.routes.access import CallerOf, authenticated, bearer, services_of
from tributary.routes.described import events, problems
from tributary.routes.idempotency import Key
from tributary.routes.served.bodies import BatchAnswer, BatchBody, FilteredBody, RunAnswer, RunBody
from tributary.routes.served.graph import ServedGraph
from tributary.routes.served.handlers import GRAPHS, PREFIX, handler_of
from tributary.routes.served.playground import playground
from tributary.routes.served.repeats import invoked_once
from tributary.routes.served.runs import Run, begin
from tributary.routes.served.streams import ended_well
from tributary.routes.sign_in import sign_in_first

_DATA = "`metadata`, `data` (a chunk), then one `end` or one `error` (a problem, with `status_code` and `message`)"
_STREAMED = {200: {"description": "The run as it goes on", "content": events(_DATA)}}


def _routes(graph: ServedGraph) -> APIRouter:
    """All routes of one graph. Those with `c/{config_hash}` are what the playground shares as links; the config in them
    is not looked at: there is nothing to configure, and unpacked it can be ten thousand times as long."""
    router = APIRouter(prefix=f"{PREFIX}/{graph.path}", tags=[f"graphs: {graph.path}"], responses=problems())
    for prefix, described in (("", True), ("/c/{config_hash}", False)):
        _runs(router, graph, prefix, described)
        _streams(router, graph, prefix, described)
        _schemas(router, graph, prefix, described)
        _playground(router, graph, prefix)
    return router


def _begun(graph: ServedGraph) -> Any:
    """A dependency: the caller may run the graph, and the run is theirs."""

    async def allowed(request: Request, caller: CallerOf) -> None:
        _require_scope(graph, caller)
        if "idempotency-key" in request.headers and not request.url.path.endswith("/invoke"):
            raise InvalidRequest("An Idempotency-Key replays one whole output: it goes with invoke")
        begin(request, caller)

    return Depends(allowed)


def _require_scope(graph: ServedGraph, caller: Caller) -> None:
    if caller.scope is not Scope.FULL and not graph.for_chat:
        raise Forbidden("This key may chat, and nothing else")


def _of(body: Any, graph: ServedGraph) -> Any:
    """The body with the graph's input in it."""
    return body[graph.given]


def _runs(router: APIRouter, graph: ServedGraph, prefix: str, described: bool) -> None:
    options: dict[str, Any] = {"dependencies": [_begun(graph)], "include_in_schema": described, "response_model": None}
    one: Any = _of(RunBody, graph)
    many: Any = _of(BatchBody, graph)

    @router.post(f"{prefix}/invoke", **_answering(options, RunAnswer, graph))
    async def invoke(request: Request, body: Annotated[one, Body()], key: Key = None) -> Response:
        """One run. A refusal is an output: `{error: problem}`."""

        async def run() -> Response:
            return await (await handler_of(graph)).invoke(request)

        return await invoked_once(request.state.run, graph.path, key, body.input, run)

    @router.post(f"{prefix}/batch", **_answering(options, BatchAnswer, graph))
    async def batch(request: Request, body: Annotated[many, Body()]) -> Response:
        """Runs side by side; their outputs in the order of the inputs, a refused one among them."""
        if isinstance(body.config, list) and len(body.config) != len(body.inputs):
            raise InvalidRequest("A list of configs has one for each input")
        return await (await handler_of(graph)).batch(request)


def _answering(options: dict[str, Any], model: Any, graph: ServedGraph) -> dict[str, Any]:
    answered = {200: {"model": model[graph.answer], "description": "What came of it"}}
    return {**options, "responses": {**answered, **problems(409)}}


def _streams(router: APIRouter, graph: ServedGraph, prefix: str, described: bool) -> None:
    options: dict[str, Any] = {
        "dependencies": [_begun(graph)],
        "include_in_schema": described,
        "response_model": None,
        "responses": _STREAMED,
    }
    plain: Any = _of(RunBody, graph)
    filtered: Any = _of(FilteredBody, graph)

    @router.post(f"{prefix}/stream", **options)
    async def stream(request: Request, _: Annotated[plain, Body()]) -> Response:
        """Chunks that add up to the output, with the `steps` beside it."""
        return _ending(await (await handler_of(graph)).stream(request), request)

    @router.post(f"{prefix}/stream_log", **options)
    async def stream_log(request: Request, _: Annotated[filtered, Body()]) -> Response:
        """The same as changes (JSON patches) to a log of the run and its steps."""
        return _ending(await (await handler_of(graph)).stream_log(request), request)

    @router.post(f"{prefix}/stream_events", **options)
    async def stream_events(request: Request, _: Annotated[filtered, Body()]) -> Response:
        """The same as LangChain's events: of the run, its steps, and the model's tokens."""
        return _ending(await (await handler_of(graph)).astream_events(request), request)


def _ending(response: Any, request: Request) -> Response:
    run: Run = request.state.run
    response.body_iterator = ended_well(response.body_iterator, run)
    response.headers["Cache-Control"] = "no-store"
    answered: Response = response
    return answered


def _schemas(router: APIRouter, graph: ServedGraph, prefix: str, described: bool) -> None:
    options: dict[str, Any] = {"dependencies": [_begun(graph)], "include_in_schema": described}

    @router.get(f"{prefix}/input_schema", **options)
    async def input_schema(request: Request) -> dict[str, Any]:
        """The JSON schema of an input."""
        return dict(await (await handler_of(graph)).input_schema(request))

    @router.get(f"{prefix}/output_schema", **options)
    async def output_schema(request: Request) -> dict[str, Any]:
        """The JSON schema of an output."""
        return dict(await (await handler_of(graph)).output_schema(request))

    @router.get(f"{prefix}/config_schema", **options)
    async def config_schema(request: Request) -> dict[str, Any]:
        """The JSON schema of a config: there is nothing to configure."""
        return dict(await (await handler_of(graph)).config_schema(request))


def _playground(router: APIRouter, graph: ServedGraph, prefix: str) -> None:
    @router.get(f"{prefix}/playground/{{file_path:path}}", include_in_schema=False, response_model=None)
    async def page(request: Request, file_path: str) -> Response:
        """The playground in a browser that is signed in; one that is not is led to the sign-in."""
        try:
            caller = await authenticated(request, services_of(request), await bearer(request))
        except Unauthorized:
            if request.headers.get("sec-fetch-mode") == "navigate":
                return sign_in_first(quote(request.url.path))
            raise
        _require_scope(graph, caller)
        return await playground(graph, request, file_path)


router = APIRouter()
for _graph in GRAPHS:
    router.include_router(_routes(_graph))
