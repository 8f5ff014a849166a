"""Whether the process lives, and whether it can serve."""

from fastapi import APIRouter
from fastapi.responses import JSONResponse

from tributary.domain.errors import DependencyError
from tributary.routes.access import ServicesOf

router = APIRouter(tags=["operations"])


@router.get("/healthz")
async def healthz() -> dict[str, str]:
    """Answers while the event loop turns."""
    return {"status": "ok"}


@router.get("/readyz")
async def readyz(services: ServicesOf) -> JSONResponse:
    """Asks each dependency; 503 when one that a turn can't do without is missing."""
    states: dict[str, str] = {}
    for name, check in services.checks.items():
        try:
            await check()
            states[name] = "ok"
        except DependencyError as error:
            states[name] = error.detail
    ready = all(state == "ok" for state in states.values())
    body = {"status": "ready" if ready else "unavailable", "dependencies": states}
    return JSONResponse(body, status_code=200 if ready else 503)
