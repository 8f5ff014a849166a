"""The API's description, and the page that shows it. Made in a thread at the first request: it takes a second of work,
which no turn should wait for."""

import asyncio

import orjson
from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.responses import HTMLResponse

router = APIRouter(include_in_schema=False)


class Description:
    """OpenAPI of an application, made once."""

    def __init__(self, app: FastAPI) -> None:
        self._app = app
        self._made: bytes | None = None
        self._making = asyncio.Lock()

    async def body(self) -> bytes:
        async with self._making:
            if self._made is None:
                self._made = await asyncio.to_thread(lambda: orjson.dumps(self._app.openapi()))
            return self._made


@router.get("/openapi.json")
async def openapi(request: Request) -> Response:
    description: Description = request.app.state.description
    return Response(await description.body(), media_type="application/json")


@router.get("/docs")
async def docs(request: Request) -> HTMLResponse:
    root = str(request.scope.get("root_path", "")).rstrip("/")
    return get_swagger_ui_html(openapi_url=f"{root}/openapi.json", title=f"{request.app.title} - API")
