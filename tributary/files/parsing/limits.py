"""How much of a document is read, and the refusals beyond it."""

from tributary.domain.errors import EmptyFile, FileTooLarge

#: Characters of a document's text: about 2.5 million tokens, some 8,000 chunks.
MAX_CHARACTERS = 10_000_000
MAX_PAGES = 5_000
#: What the sandbox allows one document, in seconds, before it kills the parser.
PARSE_SECONDS = 120.0


def check_pages(count: int) -> None:
    """Raises `FileTooLarge` above `MAX_PAGES`: a document is taken whole or not at all, never cut silently."""
    if count > MAX_PAGES:
        raise FileTooLarge(f"The document has {count:,} pages; a knowledge base takes {MAX_PAGES:,} at most.")


def check_characters(count: int) -> None:
    """Raises `FileTooLarge` above `MAX_CHARACTERS`."""
    if count > MAX_CHARACTERS:
        raise FileTooLarge(
            f"The document's text has over {MAX_CHARACTERS:,} characters, which is the most that a document may have."
        )


def check_not_blank(text: str) -> None:
    """Raises `EmptyFile` where there is nothing but white space."""
    if not text.strip():
        raise EmptyFile("The file has no text.")
