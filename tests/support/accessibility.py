"""What axe-core says of the page that a browser shows."""

from pathlib import Path
from typing import Any

from playwright.sync_api import Page

_AXE = (Path(__file__).parent / "axe" / "axe.min.js").read_text()


def serious_faults(page: Page) -> list[str]:
    """What it finds serious or critical. Evaluated from outside, which the page's policy does not concern."""
    page.evaluate(_AXE)
    found: dict[str, Any] = page.evaluate("axe.run()")
    return [
        f"{each['id']}: {[node['target'] for node in each['nodes']]} {each['nodes'][0].get('failureSummary')}"
        for each in found["violations"]
        if each["impact"] in ("serious", "critical")
    ]
