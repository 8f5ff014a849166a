/** The room for usage: tokens and cost over time, by model and kind, and what is left of quota and budget. */

import { api } from "../../lib/api.js";
import { atMostEvery, hear } from "../../lib/changes.js";
import { count, dollars } from "../../lib/format.js";
import { html, useEffect, useState } from "../../lib/html.js";
import { Icon } from "../../parts/icon.js";
import { Table } from "../../parts/table.js";
import { Chart } from "./chart.js";
import { Limits } from "./limits.js";
import { daysOf, SPANS, spanOf } from "./spans.js";

/** Milliseconds between two looks, while things change. */
const REST = 5_000;
const DENIED = "This key may chat, but not see what the organisation used. One of the scope “full” may.";

export function Main() {
  const [span, setSpan] = useState("month");
  const [measure, setMeasure] = useState("totalTokens");
  const [usage, setUsage] = useState(/** @type {any} */ (null));
  const [problem, setProblem] = useState("");
  const look = async () => {
    try {
      setUsage(await load(span));
      setProblem("");
    } catch (error) {
      setProblem(error.status === 403 ? DENIED : error.message);
    }
  };
  useEffect(() => {
    void look();
    // Answers and documents in work are what is paid for.
    const again = atMostEvery(REST, look);
    const ends = /** @type {const} */ (["conversation", "document"]).map((kind) => hear(kind, () => void again()));
    return () => ends.forEach((end) => end());
  }, [span]);
  if (problem && !usage) {
    return html`
      <div class="usage"><h1>Usage</h1>
        <p class="notice" role="status"><${Icon} name="note" /><span>${problem}</span></p>
        ${problem !== DENIED && html`<div><button type="button" onClick=${look}>Try again</button></div>`}
      </div>`;
  }
  if (!usage) return html`<p class="waiting">Loading…</p>`;
  return html`
    <div class="usage">
      <header>
        <h1>Usage</h1>
        <${Choice} label="Days" value=${span} options=${SPANS} onChange=${setSpan} />
        <${Choice} label="Measure" value=${measure} options=${MEASURES} onChange=${setMeasure} />
      </header>
      ${problem && html`<p class="notice" role="status"><${Icon} name="note" /><span>These figures are not the newest: ${problem}</span></p>`}
      <${Totals} totals=${usage.totals} />
      <${Chart} days=${usage.days} measure=${measure} />
      <${Limits} storage=${usage.storage} month=${usage.month} />
      <${Models} groups=${usage.models} />
    </div>`;
}

const MEASURES = { totalTokens: "Tokens", costUsd: "Cost" };

async function load(/** @type {string} */ span) {
  const query = spanOf(span);
  const [byDay, byModel] = await Promise.all([
    api.get("/api/usage", { ...query, groupBy: "day" }),
    api.get("/api/usage", { ...query, groupBy: ["model", "kind"] }),
  ]);
  return { ...byDay, days: daysOf(byDay), models: byModel.groups };
}

function Choice({ label, value, options, onChange }) {
  return html`
    <select aria-label=${label} value=${value} onChange=${(event) => onChange(event.target.value)}>
      ${Object.entries(options).map(([each, name]) => html`<option value=${each} selected=${each === value}>${name}</option>`)}
    </select>`;
}

function Totals({ totals }) {
  return html`
    <dl class="totals">
      <div><dt>Tokens</dt><dd>${count(totals.totalTokens)}</dd></div>
      <div><dt>Cost</dt><dd>${dollars(totals.costUsd)}</dd></div>
      <div><dt>Calls of models</dt><dd>${count(totals.calls)}</dd></div>
    </dl>
    ${totals.unpricedCalls > 0 && html`<p class="hint">The cost of ${count(totals.unpricedCalls)} calls is not known, and not in these figures.</p>`}
    ${totals.estimatedCalls > 0 && html`<p class="hint">The tokens of ${count(totals.estimatedCalls)} calls are estimated, since the provider did not count them.</p>`}`;
}

function Models({ groups }) {
  const rows = [...groups].sort((one, other) => other.totalTokens - one.totalTokens);
  return html`
    <section aria-label="By model">
      <h2>By model</h2>
      <${Table} caption="Usage by model" empty="No model was called in these days."
        heads=${["Model", "For", { figure: "Calls" }, { figure: "Read" }, { figure: "Written" }, { figure: "Cost" }]}
        rows=${rows.map((each) => [
          html`<bdi>${each.model}</bdi>`, each.kind, count(each.calls), count(each.inputTokens), count(each.outputTokens), dollars(each.costUsd),
        ])} />
    </section>`;
}
