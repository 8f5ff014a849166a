"""Whether a PDF opens."""

from pathlib import Path
from typing import Any

from tributary.domain.errors import DamagedFile

#: PDFium's codes for a document that it can't open.
_WRONG_PASSWORD = 4
_UNKNOWN_PROTECTION = 5


def pdf_pages(path: Path) -> int:
    """How many pages a PDF has that opens without a password; its first page was loaded. An owner's password, which
    only forbids printing and copying, is no hindrance.

    Raises:
        DamagedFile: it needs a password, has no page, or is broken beyond repair.
    """
    import pypdfium2

    pdfium: Any = pypdfium2  # it carries no types
    try:
        with pdfium.PdfDocument(without_needless_password(path)) as document:
            pages = len(document)
            if pages > 0:
                document[0].close()
    except pdfium.PdfiumError as error:
        raise DamagedFile(_reason(error.err_code)) from error
    if pages < 1:
        raise DamagedFile("The PDF has no pages.")
    return pages


def needs_password(path: Path) -> bool:
    """Whether nobody can read the PDF who does not know its password."""
    import pypdfium2

    pdfium: Any = pypdfium2
    try:
        pdfium.PdfDocument(without_needless_password(path)).close()
    except pdfium.PdfiumError as error:
        return bool(error.err_code == _WRONG_PASSWORD)
    return False


def without_needless_password(path: Path) -> Path | bytes:
    """What to give to PDFium: the path, or the bytes of a document that PDFium alone would ask a password for."""
    import pypdfium2

    pdfium: Any = pypdfium2
    try:
        pdfium.PdfDocument(path).close()
    except pdfium.PdfiumError as error:
        if error.err_code == _WRONG_PASSWORD:
            from tributary.files.protection import open_to_all

            return open_to_all(path.read_bytes()) or path
    return path


def _reason(code: int | None) -> str:
    if code == _WRONG_PASSWORD:
        return "The PDF needs a password to open."
    if code == _UNKNOWN_PROTECTION:
        return "The PDF is protected in a way that can't be opened here."
    return "The PDF is damaged: no reader can open it."
