/** The nodes of a turn over time, those that ran at once below each other; and the same as a table. */

import { html } from "../../lib/html.js";
import { Table } from "../../parts/table.js";

const ROW = 18;
const BAR = 12;
const WIDTH = 400;
const LEAST = 2;
/** What the longest name takes. */
const LABEL = 110;

/**
 * @param {{nodes: {node: string, started: number, finished?: number, state?: string, knowledgeBaseId?: string}[],
 *          bases: Map<string, string>}} props  times are milliseconds since the turn began
 */
export function Lanes({ nodes, bases }) {
  const ran = [...nodes].sort((one, other) => one.started - other.started);
  const whole = Math.max(1, ...ran.map((each) => each.finished ?? each.started));
  const place = (/** @type {any} */ each) => (each.knowledgeBaseId ? bases.get(each.knowledgeBaseId) ?? "another knowledge base" : "");
  return html`
    <section aria-label="Steps">
      <h3>Steps</h3>
      <${Drawing} ran=${ran} whole=${whole} />
      <${Table} caption="Steps of the turn" heads=${["Step", "Knowledge base", { figure: "Began" }, { figure: "Took" }, "Ended"]}
        rows=${ran.map((each) => [
          nameOf(each.node),
          html`<bdi>${place(each)}</bdi>`,
          milliseconds(each.started),
          each.finished === undefined ? "" : milliseconds(each.finished - each.started),
          STATES[each.state] ?? "not ended",
        ])} />
    </section>`;
}

const STATES = { finished: "well", failed: "in failure" };

function Drawing({ ran, whole }) {
  const scale = WIDTH / whole;
  return html`
    <svg class="lanes" viewBox="0 0 ${WIDTH} ${ran.length * ROW}" aria-hidden="true" focusable="false">
      ${ran.map((each, at) => {
        const x = Math.min(each.started * scale, WIDTH - LEAST);
        const width = Math.max(LEAST, ((each.finished ?? whole) - each.started) * scale);
        // Its name stands behind a bar, before it where there is more room, and else on no side.
        const behind = WIDTH - x - width;
        const right = behind < LABEL && x > behind;
        return html`
          <g class=${`${each.state ?? "open"} ${each.knowledgeBaseId ? "branch" : ""}`}>
            <title>${nameOf(each.node)}</title>
            <line x1="0" x2=${WIDTH} y1=${(at + 1) * ROW - 0.5} y2=${(at + 1) * ROW - 0.5} />
            <rect x=${x} y=${at * ROW + (ROW - BAR) / 2} width=${Math.min(width, WIDTH - x)} height=${BAR} rx="2" />
            <text x=${right ? x - 5 : Math.min(x + width, WIDTH) + 5} y=${at * ROW + 12.5} text-anchor=${right ? "end" : "start"}>${right || behind >= LABEL ? nameOf(each.node) : ""}</text>
          </g>`;
      })}
    </svg>`;
}

/** “search_text” as “search text”. */
const nameOf = (/** @type {string} */ node) => node.replaceAll("_", " ");

const milliseconds = (/** @type {number} */ value) => (value < 1000 ? `${Math.round(value)} ms` : `${(value / 1000).toFixed(2)} s`);
