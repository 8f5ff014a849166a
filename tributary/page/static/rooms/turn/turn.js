/** Opens turns in the panel. What shows them is loaded with the first one. */

import { html } from "../../lib/html.js";
import { openPanel } from "../../lib/panel.js";
import { complain } from "../../lib/toasts.js";

/**
 * Opens the turn that made an answer.
 * @param {{id: string}} message the answer
 */
export async function openTurn(message) {
  try {
    const { Turn } = await import("./view.js");
    openPanel({ title: "How it was made", key: `turn ${message.id}`, content: () => html`<${Turn} message=${message} />` });
  } catch (error) {
    complain(error);
  }
}
