/** Which bot answers; and the way to make and change bots. */

import { html, useState } from "../../lib/html.js";
import { mayManage } from "../../lib/session.js";
import { IconButton } from "../../parts/button.js";
import { BotForm } from "./bot_form.js";
import { bots, chooseBot } from "./bots.js";

/** @param {{bot: any, fixed: boolean, title?: string}} props `fixed`: the conversation is this bot's */
export function BotBar({ bot, fixed, title }) {
  /** What the form is open for: "new", or a bot. */
  const [form, setForm] = useState(/** @type {any} */ (null));
  return html`
    <header class="bot-bar">
      ${fixed
        ? html`<p class="clipped"><bdi class="conversation-title">${title}</bdi> ${bot && html`<span class="quiet">with <bdi>${bot.name}</bdi></span>`}</p>`
        : html`<${BotChoice} bot=${bot} />`}
      <span class="space"></span>
      ${mayManage.value && html`
        ${bot && html`<${IconButton} icon="settings" label="Change bot ${bot.name}" onClick=${() => setForm(bot)} />`}
        <${IconButton} icon="plus" label="New bot" onClick=${() => setForm("new")} />`}
      ${form && html`<${BotForm} bot=${form === "new" ? null : form} onClose=${() => setForm(null)} />`}
    </header>`;
}

function BotChoice({ bot }) {
  if (!bots.value) return html`<p class="quiet">Loading bots…</p>`;
  if (!bot) return html`<p class="quiet">There is no bot yet.</p>`;
  return html`
    <div class="bot-choice">
      <span class="quiet" aria-hidden="true">Ask</span>
      <select aria-label="Bot to ask" value=${bot.id} onChange=${(event) => chooseBot(event.target.value)}>
        ${bots.value.map((each) => html`<option key=${each.id} value=${each.id}>${each.name}</option>`)}
      </select>
    </div>`;
}
