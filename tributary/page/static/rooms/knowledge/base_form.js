/** Making and changing a knowledge base. */

import { html, useId, useState } from "../../lib/html.js";
import { go } from "../../lib/router.js";
import { session } from "../../lib/session.js";
import { useSubmission } from "../../lib/submission.js";
import { say } from "../../lib/toasts.js";
import { Dialog } from "../../parts/dialog.js";
import { Field, FormEnd } from "../../parts/form.js";
import { saveBase } from "./bases.js";

const EMBEDDINGS = ["local/multilingual-e5-small", "local/minilm", "gemini/gemini-embedding-2"];

/** @param {{base: import("./bases.js").Base | null, onClose: () => void}} props `base` is null for a new one */
export function BaseForm({ base, onClose }) {
  const [fields, setFields] = useState({ name: base?.name ?? "", description: base?.description ?? "", embedding: "" });
  const set = (/** @type {any} */ change) => setFields((before) => ({ ...before, ...change }));
  const { busy, problem, submit } = useSubmission(async () => {
    const { name, description, embedding } = fields;
    const saved = await saveBase(base?.id ?? null, base ? { name, description } : { name, description, embedding: embedding || null });
    say(`${saved.name} is saved`);
    onClose();
    if (!base) go("knowledge", saved.id);
  });
  return html`
    <${Dialog} title=${base ? "Change knowledge base" : "New knowledge base"} onClose=${onClose}>
      <form class="form" onSubmit=${submit}>
        <${Field} label="Name">${(id) => html`
          <input id=${id} required maxlength="200" autofocus value=${fields.name} onInput=${(event) => set({ name: event.target.value })} />`}<//>
        <${Field} label="Description" hint="What it is about; for people who choose among several">${(id) => html`
          <textarea id=${id} rows="3" maxlength="10000" value=${fields.description}
            onInput=${(event) => set({ description: event.target.value })}></textarea>`}<//>
        ${base ? html`<p class="hint">Embedding ${base.embedding}, ${base.dimension} dimensions. It stays until the base is indexed anew on the command line.</p>`
          : html`<${Embedding} value=${fields.embedding} onInput=${(embedding) => set({ embedding })} />`}
        <${FormEnd} busy=${busy} problem=${problem} onCancel=${onClose} />
      </form>
    <//>`;
}

function Embedding({ value, onInput }) {
  const list = useId();
  return html`
    <${Field} label="Embedding" hint="Fixed once the base is made. A remote one sends its texts to that provider.">${(id) => html`
      <input id=${id} list=${list} maxlength="200" value=${value} placeholder=${session.value?.embedding ?? ""}
        onInput=${(event) => onInput(event.target.value)} />`}<//>
    <datalist id=${list}>
      ${[...new Set([session.value?.embedding, ...EMBEDDINGS].filter(Boolean))].map((each) => html`<option key=${each} value=${each} />`)}
    </datalist>`;
}
