"""Files that people drag from their desktop onto a page, and pictures that they paste."""

import base64
from pathlib import Path

from playwright.sync_api import Locator, Page

_COPY = 1
_PUT = """async (encoded) => {
    const bytes = Uint8Array.from(atob(encoded), (each) => each.charCodeAt(0));
    await navigator.clipboard.write([new ClipboardItem({ 'image/png': new Blob([bytes], { type: 'image/png' }) })]);
}"""


class Drag:
    """Files in the air: `over` a place of the page, then dropped there. What the page does not take, is not dropped."""

    def __init__(self, page: Page, *files: Path) -> None:
        self._session = page.context.new_cdp_session(page)
        self._data = {"items": [], "files": [str(file) for file in files], "dragOperationsMask": _COPY}
        self._place = {"x": 0.0, "y": 0.0}

    def over(self, place: Locator) -> None:
        box = place.bounding_box()
        assert box is not None
        self._place = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
        self._send("dragEnter")
        self._send("dragOver")

    def drop(self) -> None:
        self._send("drop")

    def _send(self, kind: str) -> None:
        self._session.send("Input.dispatchDragEvent", {"type": kind, **self._place, "data": self._data})


def paste_picture(page: Page, png: bytes) -> None:
    """Pastes it where the focus is, through the browser's clipboard."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate(_PUT, base64.b64encode(png).decode())
    page.keyboard.press("ControlOrMeta+V")
