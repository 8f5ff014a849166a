/** Making and changing a bot. */

import { html, useEffect, useId, useState } from "../../lib/html.js";
import { session } from "../../lib/session.js";
import { useSubmission } from "../../lib/submission.js";
import { complain, say } from "../../lib/toasts.js";
import { confirmed, Dialog } from "../../parts/dialog.js";
import { Field, FormEnd } from "../../parts/form.js";
import { bases, loadBases } from "../knowledge/bases.js";
import { bots, deleteBot, saveBot } from "./bots.js";
import { Weights } from "./weights.js";

const NEW = { name: "", prompt: "", model: "", knowledgeBaseIds: [], weights: { vector: 0.6, text: 0.25, importance: 0.15 }, shrinkImages: false };

/** @param {{bot: any, onClose: () => void}} props `bot` is null for a new one */
export function BotForm({ bot, onClose }) {
  const [fields, setFields] = useState(bot ?? { ...NEW, model: session.value?.chatModel ?? "" });
  const set = (/** @type {any} */ change) => setFields((before) => ({ ...before, ...change }));
  const { busy, problem, submit } = useSubmission(async () => {
    const { name, prompt, model, knowledgeBaseIds, weights, shrinkImages } = fields;
    await saveBot(bot?.id ?? null, { name, prompt, model: model || null, knowledgeBaseIds, weights, shrinkImages });
    say(`${name} is saved`);
    onClose();
  });
  return html`
    <${Dialog} title=${bot ? "Change bot" : "New bot"} onClose=${onClose} wide>
      <form class="form" onSubmit=${submit}>
        <${Field} label="Name">${(id) => html`
          <input id=${id} required maxlength="200" autofocus value=${fields.name} onInput=${(event) => set({ name: event.target.value })} />`}<//>
        <${Prompt} value=${fields.prompt} onInput=${(prompt) => set({ prompt })} />
        <${Model} value=${fields.model} onInput=${(model) => set({ model })} />
        <${Knowledge} chosen=${fields.knowledgeBaseIds} onChange=${(knowledgeBaseIds) => set({ knowledgeBaseIds })} />
        <${Weights} weights=${fields.weights} onChange=${(weights) => set({ weights })} />
        <label class="check">
          <input type="checkbox" checked=${fields.shrinkImages} onChange=${(event) => set({ shrinkImages: event.target.checked })} />
          Make pictures smaller that are too large for the model
        </label>
        <${FormEnd} busy=${busy} problem=${problem} onCancel=${onClose}>
          ${bot && html`<button type="button" class="danger" onClick=${() => remove(bot, onClose)}>Delete bot</button>`}
        <//>
      </form>
    <//>`;
}

async function remove(/** @type {any} */ bot, /** @type {() => void} */ onClose) {
  const text = `“${bot.name}” answers no more. What it answered stays only where its conversations stay.`;
  if (!(await confirmed({ title: "Delete this bot?", text, action: "Delete" }))) return;
  try {
    await deleteBot(bot.id);
    onClose();
  } catch (error) {
    complain(error);
  }
}

function Prompt({ value, onInput }) {
  return html`
    <${Field} label="Prompt">${(id) => html`
      <textarea id=${id} rows="5" maxlength="100000" value=${value} onInput=${(event) => onInput(event.target.value)}
        placeholder="Who the bot is, and how it shall answer"></textarea>`}<//>`;
}

function Model({ value, onInput }) {
  const list = useId();
  const known = [...new Set([session.value?.chatModel, ...(bots.value ?? []).map((bot) => bot.model)])].filter(Boolean);
  return html`
    <${Field} label="Model" hint="local/extractive, openrouter/…, google/… or openai/…; the operator's keys make them available">${(id) => html`
      <input id=${id} list=${list} value=${value} maxlength="200" spellcheck=${false} autocapitalize="off"
        placeholder=${session.value?.chatModel} onInput=${(event) => onInput(event.target.value)} />`}<//>
    <datalist id=${list}>${known.map((name) => html`<option value=${name} />`)}</datalist>`;
}

function Knowledge({ chosen, onChange }) {
  useEffect(() => {
    if (!bases.value) loadBases().catch(complain);
  }, []);
  const toggle = (/** @type {string} */ id) =>
    onChange(chosen.includes(id) ? chosen.filter((each) => each !== id) : [...chosen, id]);
  return html`
    <fieldset class="field">
      <legend>Knowledge bases</legend>
      ${bases.value === null && html`<small>Loading…</small>`}
      ${bases.value?.length === 0 && html`<small>There is none yet: make one in the room Knowledge.</small>`}
      ${bases.value?.map((base) => html`
        <label class="check" key=${base.id}>
          <input type="checkbox" checked=${chosen.includes(base.id)} onChange=${() => toggle(base.id)} />
          <bdi>${base.name}</bdi>
        </label>`)}
    </fieldset>`;
}
