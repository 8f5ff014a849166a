"""Who calls: the API key of a request, and what its scope allows."""

from typing import Annotated, cast

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from tributary.domain.errors import Forbidden, Unauthorized
from tributary.domain.identity import Caller, Scope
from tributary.services import Services

_bearer = HTTPBearer(auto_error=False, description="An API key, as `tributary keys create` prints it")


def services_of(request: Request) -> Services:
    """The application's services, opened by the lifespan."""
    return cast(Services, request.app.state.services)


ServicesOf = Annotated[Services, Depends(services_of)]


async def authenticated(
    services: ServicesOf, credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]
) -> Caller:
    """The caller behind the request's key."""
    if credentials is None:
        raise Unauthorized("Send your API key as `Authorization: Bearer …`")
    return await services.identity.authenticate(credentials.credentials)


CallerOf = Annotated[Caller, Depends(authenticated)]


async def fully_scoped(caller: CallerOf) -> Caller:
    """The caller, if its key may do more than chat."""
    if caller.scope is not Scope.FULL:
        raise Forbidden("This key may chat, and nothing else")
    return caller


OwnerOf = Annotated[Caller, Depends(fully_scoped)]
