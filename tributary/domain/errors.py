"""Every error that Tributary raises on purpose, by who must act.

    TributaryError
    ├── CallerError              the request must change (4xx)
    │   ├── Unauthorized         401 unauthorized
    │   ├── WrongToken           403 wrong_token
    │   ├── Forbidden            403 forbidden
    │   │   └── ForeignOrigin    403 forbidden        a page of another site, with a cookie of ours
    │   ├── NotFound             404 not_found        unknown, or another organisation's
    │   ├── Conflict             409 conflict
    │   │   └── EmbeddingChanged 409 conflict
    │   ├── FileTooLarge         413 file_too_large
    │   ├── MessageTooLarge      413 message_too_large
    │   ├── UnsupportedType      415 unsupported_type
    │   ├── InvalidRequest       422 invalid_request
    │   │   ├── TooManyFiles     422 too_many_files
    │   │   ├── EmptyFile        422 empty_file
    │   │   └── DamagedFile      422 damaged_file
    │   └── QuotaExceeded        429 quota_exceeded
    │       ├── BudgetExceeded   429 budget_exceeded
    │       └── RateLimited      429 rate_limited
    └── DependencyError          something we call failed (5xx)
        ├── ProviderError        502 provider_error
        ├── ProviderTimeout      504 provider_timeout           (transient)
        └── DependencyUnavailable 503 dependency_unavailable    (transient)

Anything else that is raised is a bug: it is logged, answered with 500, and never caught on the way.
"""

import copyreg
from collections.abc import Sequence
from typing import Any, ClassVar

from typing_extensions import TypedDict


class Problem(TypedDict, total=False):
    """An error as RFC 9457 problem+json; also the form in which a refusal travels as data."""

    type: str
    title: str
    status: int
    code: str
    detail: str
    retryAfter: int
    files: list[dict[str, Any]]
    #: Of a turn whose question was stored: what `replaceMessageId` needs to ask it again.
    conversationId: str
    questionId: str
    #: The part of the request that is meant, over interfaces that name it.
    param: str


class TributaryError(Exception):
    """Base of the tree. `detail` is written for the person who reads the response."""

    status: ClassVar[int] = 500
    code: ClassVar[str] = "internal_error"
    title: ClassVar[str] = "Internal error"
    #: Whether the same call may succeed when repeated; what the graphs' retry policies look at.
    transient: bool = False

    def __init__(self, detail: str, *, retry_after: float | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.retry_after = retry_after

    def __reduce__(self) -> tuple[Any, ...]:
        """Errors cross process borders. Rebuilt without `__init__`, whose parameters differ among subclasses."""
        return copyreg.__newobj__, (type(self), *self.args), self.__dict__  # type: ignore[attr-defined] # left out of typeshed

    def problem(self) -> Problem:
        """The error as problem+json, without anything that only an operator may see."""
        problem = Problem(
            type=f"urn:tributary:problem:{self.code}",
            title=self.title,
            status=self.status,
            code=self.code,
            detail=self.detail,
        )
        if self.retry_after is not None:
            problem["retryAfter"] = max(1, round(self.retry_after))
        return problem


class CallerError(TributaryError):
    """The caller must change the request; repeating it as it is can't help."""

    status = 400
    code = "invalid_request"
    title = "Invalid request"


class Unauthorized(CallerError):
    """No API key, or one that is unknown, malformed or revoked."""

    status = 401
    code = "unauthorized"
    title = "A valid API key is required"


class WrongToken(CallerError):
    """The access token does not open this attachment."""

    status = 403
    code = "wrong_token"
    title = "Wrong access token"


class Forbidden(CallerError):
    """The key is valid, and its scope does not include this."""

    status = 403
    code = "forbidden"
    title = "The key's scope does not include this"


class ForeignOrigin(Forbidden):
    """A browser sends our cookie for a page that is not ours."""

    title = "The request comes from another site"


class NotFound(CallerError):
    """The object is unknown, or it belongs to another organisation: the two look the same."""

    status = 404
    code = "not_found"
    title = "Not found"

    def __init__(self, kind: str, identifier: object) -> None:
        super().__init__(f"{kind} {identifier} does not exist")


class Conflict(CallerError):
    """The request contradicts what is stored."""

    status = 409
    code = "conflict"
    title = "Conflict with what is stored"


class EmbeddingChanged(Conflict):
    """The vectors were made for a space that the knowledge base has left."""


class FileTooLarge(CallerError):
    """One file is over the limit of an upload."""

    status = 413
    code = "file_too_large"
    title = "File too large"


class MessageTooLarge(CallerError):
    """The message with its files can't fit the model's context window. `files` are its files as `{id, filename,
    size}`, those first that it helps most to leave out."""

    status = 413
    code = "message_too_large"
    title = "Message too large"

    def __init__(self, detail: str, *, retry_after: float | None = None, files: Sequence[dict[str, Any]] = ()) -> None:
        super().__init__(detail, retry_after=retry_after)
        self.files = list(files)

    def problem(self) -> Problem:
        problem = super().problem()
        if self.files:
            problem["files"] = self.files
        return problem


class UnsupportedType(CallerError):
    """The bytes are of a type that is not accepted here."""

    status = 415
    code = "unsupported_type"
    title = "Unsupported type"


class InvalidRequest(CallerError):
    """The body or a parameter is not as described."""

    status = 422
    code = "invalid_request"
    title = "Invalid request"


class TooManyFiles(InvalidRequest):
    code = "too_many_files"
    title = "Too many files"


class EmptyFile(InvalidRequest):
    code = "empty_file"
    title = "Empty file"


class DamagedFile(InvalidRequest):
    """The bytes claim a type and can't be decoded as it."""

    code = "damaged_file"
    title = "Damaged file"


class QuotaExceeded(CallerError):
    """A limit of the organisation is reached."""

    status = 429
    code = "quota_exceeded"
    title = "Quota exceeded"


class BudgetExceeded(QuotaExceeded):
    code = "budget_exceeded"
    title = "Budget exceeded"


class RateLimited(QuotaExceeded):
    code = "rate_limited"
    title = "Too many requests"


class DependencyError(TributaryError):
    """Something that we call failed; the caller did nothing wrong."""

    status = 502
    code = "provider_error"
    title = "A provider failed"


class ProviderError(DependencyError):
    """A model provider answered with an error, or with something that is no answer.

    `transient` is true for overload and server faults (429, 5xx, a cut connection): worth another try.
    """

    def __init__(self, detail: str, *, transient: bool = False, retry_after: float | None = None) -> None:
        super().__init__(detail, retry_after=retry_after)
        self.transient = transient


class ProviderTimeout(DependencyError):
    status = 504
    code = "provider_timeout"
    title = "A provider did not answer in time"
    transient = True


class DependencyUnavailable(DependencyError):
    """A store (PostgreSQL, Neo4j, S3) can't be reached or lost the connection."""

    status = 503
    code = "dependency_unavailable"
    title = "A dependency is unavailable"
    transient = True
