/** How well a source answers, and what found it. */

import { percent } from "../../lib/format.js";
import { html } from "../../lib/html.js";

export const BRANCHES = { text: "the search in texts", image: "the search in pictures", map: "the list of documents", graph: "the knowledge graph" };

/** @param {{source: any}} props */
export function Scores({ source }) {
  const found = source.branches ?? [];
  return html`
    <section aria-label="Scores">
      <h3>Why this source</h3>
      <dl class="scores">
        <${Score} name="Relevance" value=${source.relevanceScore} whole />
        <${Score} name="Meaning" value=${source.vectorScore} />
        <${Score} name="Words" value=${source.textScore} />
        <${Score} name="Importance" value=${source.importance} />
      </dl>
      ${found.length > 0 && html`<p class="hint">Found by ${found.map((branch) => BRANCHES[branch] ?? branch).join(" and ")}.</p>`}
    </section>`;
}

function Score({ name, value, whole = false }) {
  return html`
    <div class=${whole ? "whole" : undefined}>
      <dt>${name}</dt>
      <dd><progress aria-hidden="true" max="1" value=${value ?? 0}></progress><span>${percent(value ?? 0)}</span></dd>
    </div>`;
}
