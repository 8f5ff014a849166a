"""Whether the process lives, whether it can serve, and its figures."""

from typing import Literal

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse
from prometheus_client import CONTENT_TYPE_LATEST

from tributary.readiness import Readiness
from tributary.routes.access import ServicesOf
from tributary.routes.shapes import Shape

router = APIRouter(tags=["operations"])


class HealthShape(Shape):
    status: Literal["ok"]


class ReadinessShape(Shape):
    status: Literal["ready", "degraded", "unavailable"]
    dependencies: dict[str, str]


@router.get("/healthz", response_model=HealthShape)
async def healthz() -> dict[str, str]:
    """Answers while the event loop turns."""
    return {"status": "ok"}


@router.get(
    "/readyz",
    response_model=ReadinessShape,
    responses={503: {"model": ReadinessShape, "description": "A turn could not be answered"}},
)
async def readyz(services: ServicesOf) -> JSONResponse:
    """Each dependency by name: `ok`, or what is the matter. 503 when one is missing that a turn can't do without."""
    report = await services.dependencies.report()
    ready = report.status is not Readiness.UNAVAILABLE
    body = {"status": report.status.value, "dependencies": dict(report.dependencies)}
    return JSONResponse(body, status_code=200 if ready else 503)


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"description": "Figures of this process, for Prometheus", "content": {"text/plain": {}}}},
)
async def metrics(services: ServicesOf) -> Response:
    """Prometheus' text format. Nothing in it is of an organisation."""
    return Response(await services.gauges.exposition(), headers={"Content-Type": CONTENT_TYPE_LATEST})
