/** A turn as it ran, in the panel. */

import { api, path } from "../../lib/api.js";
import { html, useEffect, useState } from "../../lib/html.js";
import { openPanel } from "../../lib/panel.js";
import { complain } from "../../lib/toasts.js";

/**
 * Opens the turn that made an answer.
 * @param {{id: string}} message
 */
export function openTurn(message) {
  openPanel({ title: "How it was made", key: `turn ${message.id}`, content: () => html`<${Turn} id=${message.id} />` });
}

/** @param {{id: string}} props */
function Turn({ id }) {
  const [trace, setTrace] = useState(/** @type {any} */ (null));
  useEffect(() => {
    api.get(path`/api/messages/${id}/trace`).then(setTrace, complain);
  }, [id]);
  return trace ? html`<pre class="raw">${JSON.stringify(trace, null, 2)}</pre>` : html`<p class="hint">Loading…</p>`;
}
