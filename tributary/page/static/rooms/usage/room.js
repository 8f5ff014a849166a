/** The room for usage. */

import { html } from "../../lib/html.js";

export function Main() {
  return html`<div class="empty"><h1>Usage</h1></div>`;
}
