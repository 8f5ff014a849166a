"""A real browser: the machine's Chromium, else the one that playwright brings."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, Error, Playwright, sync_playwright

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@contextmanager
def run_browser(*arguments: str) -> Iterator[Browser]:
    """`arguments` are Chromium's own."""
    with sync_playwright() as playwright:
        browser = _launch(playwright, ["--no-sandbox", *arguments])
        try:
            yield browser
        finally:
            browser.close()


def _launch(playwright: Playwright, arguments: list[str]) -> Browser:
    installed = next((path for name in _NAMES if (path := shutil.which(name))), None)
    try:
        return playwright.chromium.launch(executable_path=installed, args=arguments)
    except Error:
        if installed:
            raise
    # With the libraries of the system that it needs, where we may install them.
    subprocess.run([sys.executable, "-m", "playwright", "install", "--with-deps", "chromium"], check=True, timeout=170)
    return playwright.chromium.launch(args=arguments)
