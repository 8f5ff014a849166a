/** The panel beside a room: a source, a turn. One at a time; `parts/panel.js` draws it. */

import { signal } from "./html.js";
import { route } from "./router.js";

/** @typedef {{title: string, content: () => any, key: string}} Panel `content` is a component */

/** @type {import("./html.js").Signal<Panel | null>} */
export const panel = signal(null);

/** @type {HTMLElement | null} */
let opener = null;

/** @param {Panel} shown */
export function openPanel(shown) {
  opener = /** @type {HTMLElement} */ (document.activeElement);
  panel.value = shown;
}

/** Gives what is shown another title; the focus stays where it is. @param {string} title */
export function titlePanel(title) {
  if (panel.value) panel.value = { ...panel.value, title };
}

/** Closes it, and gives the focus back to what opened it. */
export function closePanel() {
  if (!panel.value) return;
  panel.value = null;
  (opener?.isConnected ? opener : document.getElementById("main"))?.focus();
}

route.subscribe(() => (panel.value = null));
