/** The room for chat. */

import { html } from "../../lib/html.js";

export function Main() {
  return html`<div class="empty"><h1>Chat</h1></div>`;
}
