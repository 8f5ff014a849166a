/** Usage day by day as bars, and as a table. */

import { count, dollars } from "../../lib/format.js";
import { html } from "../../lib/html.js";
import { Table } from "../../parts/table.js";

const HEIGHT = 100;
const STEP = 10;
/** A month is drawn as wide as this many days at least, so that the first day of it is no wall. */
const LEAST_DAYS = 28;

const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", timeZone: "UTC" });
const nameOf = (/** @type {string} */ date) => day.format(new Date(date));

/** @param {{days: {day: string, totalTokens: number, costUsd: number | null, calls: number}[], measure: "totalTokens" | "costUsd"}} props */
export function Chart({ days, measure }) {
  const said = measure === "costUsd" ? dollars : (/** @type {number} */ value) => count(value);
  const values = days.map((each) => each[measure] ?? 0);
  const highest = Math.max(...values);
  const slots = Math.max(days.length, LEAST_DAYS);
  return html`
    <section aria-label="Day by day">
      <h2>Day by day</h2>
      <div class="chart">
        <p class="hint" aria-hidden="true">${highest > 0 ? said(highest) : ""}</p>
        <svg viewBox="0 0 ${slots * STEP} ${HEIGHT}" preserveAspectRatio="none" aria-hidden="true" focusable="false">
          <line x1="0" x2=${slots * STEP} y1="0.5" y2="0.5" />
          <line x1="0" x2=${slots * STEP} y1=${HEIGHT - 0.5} y2=${HEIGHT - 0.5} />
          ${values.map((value, at) => {
            const height = highest > 0 ? (value / highest) * HEIGHT : 0;
            return html`<rect x=${at * STEP + 1} width=${STEP - 2} y=${HEIGHT - height} height=${height}><title>${nameOf(days[at].day)}: ${said(value)}</title></rect>`;
          })}
        </svg>
        ${highest === 0 && html`<p class="hint" role="status">${measure === "costUsd" ? "Nothing was spent in these days, as far as is known." : "No model was called in these days."}</p>`}
        <p class="hint axis" aria-hidden="true"><span>${nameOf(days[0].day)}</span>${days.length >= LEAST_DAYS && html`<span>${nameOf(days.at(-1).day)}</span>`}</p>
      </div>
      <details>
        <summary>As a table</summary>
        <${Table} caption="Usage day by day" heads=${["Day", { figure: "Calls" }, { figure: "Tokens" }, { figure: "Cost" }]} empty="No model was called in these days."
          rows=${days.filter((each) => each.calls > 0).reverse().map((each) => [nameOf(each.day), count(each.calls), count(each.totalTokens), dollars(each.costUsd)])} />
      </details>
    </section>`;
}
