"""Why a document has no text to show."""

from collections.abc import Mapping

from tributary.domain.errors import Conflict


def text_missing(failure: Mapping[str, str] | None) -> Conflict:
    """`failure`: the document's error, where it could not be ingested."""
    if failure is None:
        return Conflict("The document is not indexed yet")
    return Conflict(f"The document could not be read: {failure['detail']}")
