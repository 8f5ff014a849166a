/** A source of an answer in the panel. */

import { html } from "../../lib/html.js";
import { percent } from "../../lib/format.js";
import { openPanel } from "../../lib/panel.js";

/**
 * Opens a source beside the conversation.
 * @param {{id: string | null, sources: any[]}} message an answer; without an id while it is being written
 * @param {number} number of the source
 */
export function openSource(message, number) {
  const source = message.sources.find((each) => each.number === number);
  if (!source) return;
  const title = `[${number}] ${source.source}`;
  openPanel({ title, key: `source ${source.chunkId} ${message.id} ${number}`, content: () => html`<${Source} source=${source} />` });
}

/** @param {{source: any}} props */
function Source({ source }) {
  return html`
    <p class="hint">${source.page ? `Page ${source.page} · ` : ""}Relevance ${percent(source.relevanceScore)}</p>
    <p class="passage" dir="auto">${source.text}</p>`;
}
