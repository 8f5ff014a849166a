/** A conversation that has not begun. */

import { html, useState } from "../../lib/html.js";
import { href } from "../../lib/router.js";
import { mayManage } from "../../lib/session.js";
import { BotForm } from "./bot_form.js";
import { ACCEPTED } from "./kinds.js";
import { bots } from "./bots.js";

const IDEAS = ["What do you know?", "Summarise the files that I attach", "Which formats can I put into a knowledge base?"];

/** @param {{bot: any, onPick: (text: string) => void}} props */
export function Welcome({ bot, onPick }) {
  if (bots.value && !bot) return html`<${First} />`;
  return html`
    <div class="empty messages">
      <h2>Ask <bdi>${bot?.name ?? "…"}</bdi></h2>
      <p>Answers say where every statement comes from. Drop files anywhere: ${ACCEPTED}.</p>
      ${bot?.knowledgeBaseIds.length === 0 && mayManage.value && html`
        <p class="hint">It searches no documents yet. <a href=${href("knowledge")}>Add some</a>, and link them to it under the gear above.</p>`}
      <ul class="ideas">
        ${IDEAS.map((idea) => html`<li><button type="button" onClick=${() => onPick(idea)}>${idea}</button></li>`)}
      </ul>
    </div>`;
}

/** Where nobody has made a bot. */
function First() {
  const [making, setMaking] = useState(false);
  return html`
    <div class="empty messages">
      <h2>Make a bot first</h2>
      <p>A bot is a model, a prompt and the knowledge bases that it searches.</p>
      ${mayManage.value
        ? html`<button type="button" class="primary" onClick=${() => setMaking(true)}>Make a bot</button>`
        : html`<p class="hint">This key may chat. Somebody whose key may do more makes the first bot.</p>`}
      ${making && html`<${BotForm} bot=${null} onClose=${() => setMaking(false)} />`}
    </div>`;
}
