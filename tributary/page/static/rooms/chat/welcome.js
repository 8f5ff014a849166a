/** A conversation that has not begun. */

import { html } from "../../lib/html.js";
import { ACCEPTED } from "./kinds.js";
import { bots } from "./bots.js";

const IDEAS = ["What do you know?", "Summarise the files that I attach", "Which formats can I put into a knowledge base?"];

/** @param {{bot: any, onPick: (text: string) => void}} props */
export function Welcome({ bot, onPick }) {
  if (bots.value && !bot) {
    return html`<div class="empty messages"><h2>Make a bot first</h2><p>A bot is a model, a prompt and the knowledge bases that it searches. The + above makes one.</p></div>`;
  }
  return html`
    <div class="empty messages">
      <h2>Ask <bdi>${bot?.name ?? "…"}</bdi></h2>
      <p>Answers say where every statement comes from. Drop files anywhere: ${ACCEPTED}.</p>
      <ul class="ideas">
        ${IDEAS.map((idea) => html`<li><button type="button" onClick=${() => onPick(idea)}>${idea}</button></li>`)}
      </ul>
    </div>`;
}
