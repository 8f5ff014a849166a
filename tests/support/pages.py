"""PDFs with text on their pages."""

import io
from collections.abc import Sequence

from reportlab.lib.pagesizes import A5
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate


def pdf_of(pages: Sequence[str]) -> bytes:
    """A PDF with one paragraph a page."""
    style = getSampleStyleSheet()["BodyText"]
    story: list[object] = []
    for text in pages:
        story += [Paragraph(text, style), PageBreak()]
    buffer = io.BytesIO()
    SimpleDocTemplate(buffer, pagesize=A5, invariant=1).build(story[:-1])
    return buffer.getvalue()
