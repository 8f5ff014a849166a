/** The sources below an answer. */

import { html } from "../../lib/html.js";
import { percent } from "../../lib/format.js";

/** @param {{message: any, onOpen: (number: number) => void}} props */
export function Sources({ message, onOpen }) {
  const cited = message.sources.filter((source) => source.cited);
  const others = message.sources.filter((source) => !source.cited);
  if (!message.sources.length) return null;
  return html`
    <section class="sources" aria-label="Sources">
      ${cited.length > 0 && html`<${List} sources=${cited} onOpen=${onOpen} />`}
      ${others.length > 0 && html`
        <details>
          <summary>${cited.length ? "Also found" : "Found, not cited"} (${others.length})</summary>
          <${List} sources=${others} onOpen=${onOpen} />
        </details>`}
    </section>`;
}

function List({ sources, onOpen }) {
  return html`
    <ol>
      ${sources.map((source) => html`
        <li key=${source.number}>
          <button type="button" class="source" onClick=${() => onOpen(source.number)}>
            <span class="number">${source.number}</span>
            <bdi class="clipped">${source.source}</bdi>
            ${source.page && html`<span class="quiet">page ${source.page}</span>`}
            <span class="quiet" title="Relevance">${percent(source.relevanceScore)}</span>
          </button>
        </li>`)}
    </ol>`;
}
