/** Making and changing a bot. */

import { all } from "../../lib/api.js";
import { html, useEffect, useId, useState } from "../../lib/html.js";
import { session } from "../../lib/session.js";
import { complain, say } from "../../lib/toasts.js";
import { confirmed, Dialog } from "../../parts/dialog.js";
import { bots, deleteBot, saveBot } from "./bots.js";
import { Weights } from "./weights.js";

const NEW = { name: "", prompt: "", model: "", knowledgeBaseIds: [], weights: { vector: 0.6, text: 0.25, importance: 0.15 }, shrinkImages: false };

/** @param {{bot: any, onClose: () => void}} props `bot` is null for a new one */
export function BotForm({ bot, onClose }) {
  const [fields, setFields] = useState(bot ?? { ...NEW, model: session.value?.chatModel ?? "" });
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const set = (/** @type {any} */ change) => setFields((before) => ({ ...before, ...change }));
  const save = async (/** @type {Event} */ event) => {
    event.preventDefault();
    setBusy(true);
    const { name, prompt, model, knowledgeBaseIds, weights, shrinkImages } = fields;
    try {
      await saveBot(bot?.id ?? null, { name, prompt, model: model || null, knowledgeBaseIds, weights, shrinkImages });
      say(`${name} is saved`);
      onClose();
    } catch (error) {
      setProblem(error.detail ?? String(error));
      setBusy(false);
    }
  };
  return html`
    <${Dialog} title=${bot ? "Change bot" : "New bot"} onClose=${onClose} wide>
      <form class="form" onSubmit=${save}>
        <${Text} label="Name" value=${fields.name} onInput=${(name) => set({ name })} required maxlength="200" autofocus />
        <${Prompt} value=${fields.prompt} onInput=${(prompt) => set({ prompt })} />
        <${Model} value=${fields.model} onInput=${(model) => set({ model })} />
        <${Knowledge} chosen=${fields.knowledgeBaseIds} onChange=${(knowledgeBaseIds) => set({ knowledgeBaseIds })} />
        <${Weights} weights=${fields.weights} onChange=${(weights) => set({ weights })} />
        <label class="check">
          <input type="checkbox" checked=${fields.shrinkImages} onChange=${(event) => set({ shrinkImages: event.target.checked })} />
          Make pictures smaller that are too large for the model
        </label>
        ${problem && html`<p class="notice error" role="alert">${problem}</p>`}
        <footer>
          ${bot && html`<button type="button" class="danger" onClick=${() => remove(bot, onClose)}>Delete bot</button>`}
          <span class="space"></span>
          <button type="button" onClick=${onClose}>Cancel</button>
          <button class="primary" disabled=${busy}>Save</button>
        </footer>
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

function Text({ label, hint = "", onInput, ...others }) {
  const id = useId();
  return html`
    <div class="field">
      <label for=${id}>${label}</label>
      <input id=${id} ...${others} onInput=${(event) => onInput(event.target.value)} />
      ${hint && html`<small>${hint}</small>`}
    </div>`;
}

function Prompt({ value, onInput }) {
  const id = useId();
  return html`
    <div class="field">
      <label for=${id}>Prompt</label>
      <textarea id=${id} rows="5" maxlength="100000" value=${value} onInput=${(event) => onInput(event.target.value)}
        placeholder="Who the bot is, and how it shall answer"></textarea>
    </div>`;
}

function Model({ value, onInput }) {
  const id = useId();
  const known = [...new Set([session.value?.chatModel, ...(bots.value ?? []).map((bot) => bot.model)])].filter(Boolean);
  return html`
    <div class="field">
      <label for=${id}>Model</label>
      <input id=${id} list="${id}-known" value=${value} maxlength="200" spellcheck=${false} autocapitalize="off"
        placeholder=${session.value?.chatModel} onInput=${(event) => onInput(event.target.value)} />
      <datalist id="${id}-known">${known.map((name) => html`<option value=${name} />`)}</datalist>
      <small>local/extractive, openrouter/…, google/… or openai/…; the operator's keys make them available</small>
    </div>`;
}

function Knowledge({ chosen, onChange }) {
  const [bases, setBases] = useState(/** @type {any[] | null} */ (null));
  useEffect(() => {
    all("/knowledge/kb").then(setBases, complain);
  }, []);
  const toggle = (/** @type {string} */ id) =>
    onChange(chosen.includes(id) ? chosen.filter((each) => each !== id) : [...chosen, id]);
  return html`
    <fieldset class="field">
      <legend>Knowledge bases</legend>
      ${bases === null && html`<small>Loading…</small>`}
      ${bases?.length === 0 && html`<small>There is none yet: make one in the room Knowledge.</small>`}
      ${bases?.map((base) => html`
        <label class="check" key=${base.id}>
          <input type="checkbox" checked=${chosen.includes(base.id)} onChange=${() => toggle(base.id)} />
          <bdi>${base.name}</bdi>
        </label>`)}
    </fieldset>`;
}
