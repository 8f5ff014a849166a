"""Pictures of the page, small enough to be kept."""

import io
from pathlib import Path
from typing import Literal

from PIL import Image
from playwright.sync_api import Page

#: Bytes of a picture.
MOST = 200_000
_COLOURS = 256


class Album:
    """A folder of PNGs."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder

    def take(self, page: Page, name: str, scheme: Literal["light", "dark"]) -> None:
        """What the browser shows, in these colours, without the pointer over anything."""
        page.emulate_media(color_scheme=scheme)
        page.mouse.move(2, 2)
        shot = page.screenshot(animations="disabled")
        buffer = io.BytesIO()
        with Image.open(io.BytesIO(shot)) as image:
            few = image.convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE)
            few.save(buffer, "PNG", optimize=True)
        assert buffer.tell() < MOST, f"{name} has {buffer.tell():,} bytes"
        (self._folder / f"{name}.png").write_bytes(buffer.getvalue())
