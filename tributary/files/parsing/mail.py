"""Pages of HTML in the form in which they travel by mail (MHTML), or as they are."""

from collections.abc import Iterator
from email import policy
from email.parser import BytesParser

_MIME = (b"mime-version:", b"content-type:", b"from:", b"subject:", b"date:")


def pages_of(data: bytes) -> Iterator[bytes]:
    """The HTML in `data`; nothing where it is none, such as a document of another kind."""
    head = data[:1024].lstrip().lower()
    if head.startswith(_MIME):
        message = BytesParser(policy=policy.compat32).parsebytes(data)
        for part in message.walk():
            content = part.get_payload(decode=True) if part.get_content_type() == "text/html" else None
            if isinstance(content, bytes):
                yield content
    elif b"<" in head and not data.startswith(b"PK"):
        yield data
