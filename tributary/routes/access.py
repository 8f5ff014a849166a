"""Who calls: the API key of a request, or the sign-in of a browser, and what its scope allows."""

from typing import Annotated, cast

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from tributary.domain.errors import Forbidden, Unauthorized
from tributary.domain.identity import Caller, Scope
from tributary.routes.origin import require_own_origin
from tributary.services import Services
from tributary.telemetry.context import also_about

#: The cookie of a sign-in.
COOKIE = "tributary_session"

bearer = HTTPBearer(auto_error=False, description="An API key, as `tributary keys create` prints it")


def services_of(request: Request) -> Services:
    """The application's services, opened by the lifespan."""
    return cast(Services, request.app.state.services)


ServicesOf = Annotated[Services, Depends(services_of)]


async def authenticated(
    request: Request, services: ServicesOf, credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)]
) -> Caller:
    """The caller behind the request's key, or behind its cookie where it sends none."""
    if credentials is not None:
        return await services.identity.authenticate(credentials.credentials)
    if secret := request.cookies.get(COOKIE):
        require_own_origin(request)
        return await services.sign_in.caller(secret)
    raise Unauthorized("Send your API key as `Authorization: Bearer …`")


async def known(caller: Annotated[Caller, Depends(authenticated)]) -> Caller:
    """The same; from here on the log says whose request it is."""
    also_about(organisation=str(caller.organisation_id))
    return caller


CallerOf = Annotated[Caller, Depends(known)]


async def fully_scoped(caller: CallerOf) -> Caller:
    """The caller, if its key may do more than chat."""
    if caller.scope is not Scope.FULL:
        raise Forbidden("This key may chat, and nothing else")
    return caller


OwnerOf = Annotated[Caller, Depends(fully_scoped)]
