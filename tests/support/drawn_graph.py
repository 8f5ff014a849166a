"""Where the names and dots of a graph stand on its canvas: read off what the page draws, as eyes would."""

from playwright.sync_api import BrowserContext, Page, Position

from tests.support.visiting import eventually

_CANVAS = ".graph-picture canvas"
#: Notes what is drawn since the last drawing began. It changes nothing of the drawing.
_SPY = """
const pen = CanvasRenderingContext2D.prototype;
const drawn = (window.drawn = { names: [], dots: [] });
const at = (pen, x, y) => { const { x: across, y: down } = new DOMPoint(x, y).matrixTransform(pen.getTransform());
                            return { x: across / devicePixelRatio, y: down / devicePixelRatio } };
const { setTransform, fillText, arc } = pen;
pen.setTransform = function (...given) { drawn.names = []; drawn.dots = []; return setTransform.apply(this, given) };
pen.fillText = function (text, x, y) {
    drawn.names.push({ text, ...at(this, x, y) });
    return fillText.call(this, text, x, y);
};
pen.arc = function (x, y, ...more) { drawn.dots.push(at(this, x, y)); return arc.call(this, x, y, ...more) };
"""
#: The dot that stands left of a name, at its height; null while the name is not drawn.
_DOT = """(name) => {
    const text = drawn.names.findLast((each) => each.text === name);
    if (!text) return null;
    const before = drawn.dots.filter((dot) => dot.x < text.x && Math.abs(dot.y - text.y) < 12);
    return before.sort((one, other) => other.x - one.x)[0] ?? null;
}"""


def watch_drawings(context: BrowserContext) -> None:
    """For pages that are opened from now on."""
    context.add_init_script(_SPY)


def names_drawn(page: Page) -> list[str]:
    names: list[str] = page.evaluate("drawn.names.map((each) => each.text)")
    return names


def dot_of(page: Page, name: str) -> Position:
    """Where the entity of that name stands on the canvas, as soon as it is drawn."""
    dot: Position = eventually(page, _DOT, name)
    return dot


def click_entity(page: Page, name: str) -> None:
    page.locator(_CANVAS).click(position=dot_of(page, name))
