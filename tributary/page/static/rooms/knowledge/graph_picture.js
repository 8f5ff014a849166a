/** The graph's canvas, with buttons for who has no wheel. */

import { GraphCanvas } from "../../lib/graph_canvas.js";
import { html, useLayoutEffect, useRef } from "../../lib/html.js";
import { theme } from "../../lib/theme.js";

/** @param {{graph: any, chosen: any, onChoose: (node: any) => void}} props */
export function GraphPicture({ graph, chosen, onChoose }) {
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const drawing = useRef(/** @type {GraphCanvas | null} */ (null));
  const choose = useRef(onChoose);
  choose.current = onChoose;
  useLayoutEffect(() => {
    const { nodes, edges } = graph;
    const made = new GraphCanvas(canvas.current, { nodes, edges, inks: () => inks(canvas.current), onChoose: (node) => choose.current(node) });
    drawing.current = made;
    made.fit();
    made.choose(graph.chosen);
    const observer = new ResizeObserver(() => (made.fit(), made.draw()));
    observer.observe(canvas.current);
    const colours = matchMedia("(prefers-color-scheme: dark)");
    const again = () => made.draw();
    colours.addEventListener("change", again);
    return () => {
      observer.disconnect();
      colours.removeEventListener("change", again);
    };
  }, [graph]);
  useLayoutEffect(() => drawing.current?.draw(), [theme.value]);
  const zoom = (/** @type {number} */ factor) => () => drawing.current.zoom(factor);
  const whole = () => (drawing.current.fit(), drawing.current.draw());
  return html`
    <div class="graph-picture">
      <canvas ref=${canvas} role="img" aria-label=${`Drawing of ${graph.nodes.length} entities${chosen ? ` around ${chosen.name}` : ""}; the list says the same`}></canvas>
      <div class="graph-zoom">
        <button type="button" aria-label="Nearer" onClick=${zoom(1.3)}>+</button>
        <button type="button" aria-label="Farther" onClick=${zoom(1 / 1.3)}>−</button>
        <button type="button" onClick=${whole}>All</button>
      </div>
    </div>`;
}

/** The colours of the page as it is shown now. A canvas knows no custom properties. */
function inks(/** @type {HTMLElement} */ element) {
  const style = getComputedStyle(element);
  const { color: text, outlineColor: lit, borderTopColor: line, caretColor: quiet, backgroundColor: ground } = style;
  return { text, lit, line, quiet, ground };
}
