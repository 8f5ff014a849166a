/** Opens the sources of answers in the panel. What shows them is loaded with the first one. */

import { html, signal } from "../../lib/html.js";
import { openPanel } from "../../lib/panel.js";
import { complain } from "../../lib/toasts.js";

/** What the panel shows. @type {import("../../lib/html.js").Signal<{message: any, number: number} | null>} */
const shown = signal(null);
let opened = 0;

/**
 * Opens a source beside the conversation.
 * @param {{id: string | null, sources: any[]}} message an answer; without an id while it is being written
 * @param {number} number of the source
 */
export async function openSource(message, number) {
  const source = message.sources.find((each) => each.number === number);
  if (!source) return;
  try {
    const { Viewer } = await import("./viewer.js");
    shown.value = { message, number };
    opened += 1;
    openPanel({ title: titleOf(source), key: `source ${opened}`, content: () => html`<${Viewer} shown=${shown} />` });
  } catch (error) {
    complain(error);
  }
}

/** @param {{number: number, source: string}} source */
export const titleOf = (source) => `[${source.number}] ${source.source}`;
