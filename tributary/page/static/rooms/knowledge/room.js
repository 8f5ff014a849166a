/** The room for knowledge. */

import { html } from "../../lib/html.js";

export function Main() {
  return html`<div class="empty"><h1>Knowledge</h1></div>`;
}
