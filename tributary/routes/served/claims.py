"""Files as a served graph's input names them."""

from collections.abc import Sequence
from typing import Any, NotRequired

from pydantic import ConfigDict
from typing_extensions import TypedDict

from tributary.domain.attachments import AttachmentClaim


class ClaimInput(TypedDict):
    """An uploaded file and the token that opens it; none is needed where its conversation has used it."""

    __pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[misc]

    id: str
    accessToken: NotRequired[str | None]


def claims_of(given: Sequence[dict[str, Any]] | None) -> list[AttachmentClaim]:
    return [_claim(each) for each in given or ()]


def _claim(given: dict[str, Any]) -> AttachmentClaim:
    claim = AttachmentClaim(id=given["id"])
    if token := given.get("accessToken"):
        claim["accessToken"] = token
    return claim
