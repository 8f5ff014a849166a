"""How long until the page shows something, and until one can write.

    python -m bench.first_paint [--rounds 9]

On the embedded default with its demo, in Chromium: the page of a signed-in browser, with nothing kept (cold) and with
what the visit before left (warm). From the start of the navigation to the first paint with content, and to the focus
in the field of the question; and what was asked of the server until then.
"""

import argparse
import re
import shutil
import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from playwright.async_api import Browser, BrowserContext, async_playwright, expect

from bench.figures import Bound, Figure, Report
from bench.harness import spread
from bench.server import started
from bench.steps import Steps, bench_parser, run

#: Milliseconds.
PAINT_BOUND = Bound(1000.0)
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_LINK = re.compile(r"(?P<link>/sign-in/link\?secret=\S+)")
#: Notes when the field has the focus, and the script that put it there has ended.
WATCH = """
addEventListener("focusin", (event) => {
    if (event.target.matches("textarea")) globalThis.usable ??= performance.now();
});
"""
PAINT = "performance.getEntriesByName('first-contentful-paint').length"
SEEN = """() => {
    const [paint] = performance.getEntriesByName("first-contentful-paint");
    const asked = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
        .filter((each) => each.startTime <= globalThis.usable && !each.name.endsWith("/api/events"));
    const sent = asked.filter((each) => each.transferSize > 0);
    const bytes = sent.reduce((sum, each) => sum + each.transferSize, 0);
    return { paint: paint.startTime, usable: globalThis.usable, requests: sent.length, kilobytes: bytes / 1024 };
}"""


@dataclass(frozen=True, slots=True)
class View:
    """Of one visit: milliseconds to the first paint and to the focus, and what was fetched until then."""

    paint: float
    usable: float
    requests: float
    kilobytes: float


async def measure(options: argparse.Namespace, steps: Steps) -> Report:
    steps.expect(2 * options.rounds + 1)
    steps.begin("starting")
    with tempfile.TemporaryDirectory(prefix="tributary-bench-") as folder:
        async with started(Path(folder) / "data", {}, demo=True) as server, async_playwright() as playwright:
            path = next((found for name in BROWSERS if (found := shutil.which(name))), None)
            browser = await playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
            link = _LINK.search(server.printed)
            if link is None:
                raise RuntimeError(f"the server showed no link: {server.printed}")
            views = await _visits(browser, server.url, link["link"], options.rounds, steps)
            await browser.close()
    return report(*views)


async def _visits(
    browser: Browser, url: str, link: str, rounds: int, steps: Steps
) -> tuple[Sequence[View], Sequence[View]]:
    """Of each round the cold one and the warm one."""
    first = await _context(browser)
    page = await first.new_page()
    await page.goto(url + link)
    await expect(page.locator("textarea")).to_be_focused()
    signed_in = await first.storage_state()
    await first.close()
    steps.advance()
    cold: list[View] = []
    warm: list[View] = []
    for number in range(rounds):
        context = await _context(browser, signed_in)
        for kind, views in (("cold", cold), ("warm", warm)):
            steps.begin(f"{kind}, round {number + 1}")
            views.append(await visit(context, url))
            steps.advance()
        await context.close()
    return cold, warm


async def _context(browser: Browser, state: object = None) -> BrowserContext:
    context = await browser.new_context(viewport={"width": 1280, "height": 800}, storage_state=state)  # type: ignore[arg-type] # as it gave it
    await context.add_init_script(WATCH)
    return context


async def visit(context: BrowserContext, url: str) -> View:
    """A tab of its own, from nothing to the focus."""
    page = await context.new_page()
    await page.goto(url)
    await expect(page.locator("textarea")).to_be_focused()
    while not await page.evaluate(PAINT):
        await page.wait_for_timeout(20)
    seen = View(**await page.evaluate(SEEN))
    await page.close()
    return seen


def report(cold: Sequence[View], warm: Sequence[View]) -> Report:
    def figure(question: str, values: Sequence[float], unit: str, bound: Bound | None = None) -> Figure:
        return Figure(f"page: {question}", statistics.median(values), unit, bound, spread(values))

    figures = []
    for name, views in (("first visit", cold), ("with its files kept", warm)):
        figures += [
            figure(f"first paint, {name}", [each.paint for each in views], "ms", PAINT_BOUND),
            figure(f"to the focus in the question, {name}", [each.usable for each in views], "ms", PAINT_BOUND),
            Figure(f"page: requests until then, {name}", statistics.median(each.requests for each in views)),
            Figure(f"page: fetched until then, {name}", statistics.median(each.kilobytes for each in views), "KB"),
        ]
    details = {"cold": [asdict(each) for each in cold], "warm": [asdict(each) for each in warm]}
    return Report("first_paint", figures, details)


def main() -> None:
    parser = bench_parser("first_paint", __doc__)
    parser.add_argument("--rounds", type=int, default=9)
    run(parser, measure)


if __name__ == "__main__":
    main()
