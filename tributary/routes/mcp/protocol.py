"""The tools behind the official SDK. Imported at the first call: the SDK takes a second."""

import logging
from collections.abc import Mapping
from typing import Any

import mcp_types as types
import orjson
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, ValidationError

from tributary import __version__
from tributary.domain.errors import DependencyError, InvalidRequest, Problem, TributaryError
from tributary.routes.limits import MAX_BODY_BYTES
from tributary.routes.mcp.endpoint import CALLER
from tributary.routes.mcp.tools import TOOLS, Call, Progress, Tool
from tributary.services import Services

INSTRUCTIONS = (
    "Knowledge bases of documents, and bots that answer from them with citations. Search a knowledge base for "
    "passages, map it to see what it holds, search its graph for how things are connected, or ask a bot for an answer."
)
_BY_NAME = {tool.name: tool for tool in TOOLS}
Context = ServerRequestContext[Any, Any]

logger = logging.getLogger(__name__)


def session_manager(services: Services) -> StreamableHTTPSessionManager:
    """The SDK's end of `/mcp`. Without sessions: each request stands for itself, whichever process gets it. Answers to
    calls that tell their progress are streams."""

    async def call_tool(context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        if (tool := _BY_NAME.get(params.name)) is None:
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name}")
        assert context.request is not None, "every call comes over HTTP"
        call = Call(context.request.scope[CALLER], services, _progress(context))
        return await _run(tool, call, params.arguments or {})

    server = Server(
        "tributary",
        title="Tributary",
        version=__version__,
        instructions=INSTRUCTIONS,
        on_list_tools=_list_tools,
        on_call_tool=call_tool,
    )
    return StreamableHTTPSessionManager(server, stateless=True, max_request_body_size=MAX_BODY_BYTES)


async def _list_tools(_: Context, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
    return types.ListToolsResult(tools=[_described(tool) for tool in TOOLS])


def _described(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input.model_json_schema(),
        output_schema=tool.output.model_json_schema(mode="serialization"),
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=tool.reads_only,
            destructive_hint=False,
            idempotent_hint=tool.reads_only,
            open_world_hint=False,
        ),
    )


async def _run(tool: Tool, call: Call, arguments: dict[str, Any]) -> types.CallToolResult:
    try:
        result = await tool.run(call, _given(tool, arguments))
    except DependencyError as error:
        logger.warning("the tool %s failed: %s", tool.name, error.code)
        return _failed(error.problem())
    except TributaryError as error:
        return _failed(error.problem())
    shaped = result if isinstance(result, BaseModel) else tool.output.model_validate(result)
    data = shaped.model_dump(mode="json", by_alias=True)
    return types.CallToolResult(content=[_text(data)], structured_content=data)


def _given(tool: Tool, arguments: dict[str, Any]) -> BaseModel:
    try:
        return tool.input.model_validate(arguments, by_name=False)
    except ValidationError as error:
        places = (
            f"{'.'.join(str(part) for part in each['loc'])}: {each['msg']}"
            for each in error.errors(include_url=False, include_input=False)[:5]
        )
        raise InvalidRequest("; ".join(places)) from error


def _failed(problem: Problem) -> types.CallToolResult:
    """An error that the model sees: REST's problem. As text alone, since structured content is the tool's answer."""
    return types.CallToolResult(content=[_text(problem)], is_error=True)


def _text(data: Mapping[str, Any]) -> types.TextContent:
    return types.TextContent(text=orjson.dumps(data).decode())


def _progress(context: Context) -> Progress:
    """Steps are counted: how many there will be is not known before."""
    done = 0

    async def tell(message: str) -> None:
        nonlocal done
        done += 1
        await context.session.report_progress(done, message=message)

    return tell
