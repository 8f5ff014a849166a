/** One document in the panel: what it says of itself, and what can be done with it. */

import { html, useEffect, useRef, useState } from "../../lib/html.js";
import { moment, percent, size } from "../../lib/format.js";
import { closePanel } from "../../lib/panel.js";
import { mayManage } from "../../lib/session.js";
import { say, telling } from "../../lib/toasts.js";
import { sendFile } from "../../lib/upload_queue.js";
import { confirmed } from "../../parts/dialog.js";
import { Field } from "../../parts/form.js";
import { Fate } from "./document_list.js";
import { isWorking } from "./documents.js";
import { openText } from "./passage.js";

/** @param {{documents: import("./documents.js").Documents, id: string}} props */
export function DocumentDetail({ documents, id }) {
  const document = documents.of(id);
  if (!document) return html`<p role="status">This document is gone.</p>`;
  return html`
    <div class="form document-detail">
      <${Fate} document=${document} />
      ${document.summary && html`<section><h3>Summary</h3><p class="passage" dir="auto">${document.summary}</p></section>`}
      ${document.topics.length > 0 && html`
        <section><h3>Topics</h3><p class="chips">${document.topics.map((topic) => html`<bdi class="chip" key=${topic}>${topic}</bdi>`)}</p></section>`}
      <dl class="facts">
        <dt>File</dt><dd><bdi>${document.filename}</bdi>, ${size(document.size)}</dd>
        <dt>Kind</dt><dd>${document.type || "unknown"} (${document.contentType})</dd>
        <dt>Importance</dt><dd>${percent(document.importance)}</dd>
        <dt>Added</dt><dd>${moment(document.createdAt)}</dd>
        <dt>Changed</dt><dd>${moment(document.updatedAt)}</dd>
      </dl>
      ${document.status === "ready" && html`
        <div><button type="button" onClick=${() => openText(documents, document)}>Read it</button></div>`}
      ${mayManage.value && html`<${Changes} key=${id} documents=${documents} document=${document} /><${Actions} documents=${documents} document=${document} />`}
    </div>`;
}

function Changes({ documents, document }) {
  const [title, setTitle] = useState(document.title);
  const [importance, setImportance] = useState(document.importance);
  useEffect(() => setTitle(document.title), [document.title]);
  useEffect(() => setImportance(document.importance), [document.importance]);
  const save = telling(async (/** @type {Event} */ event) => {
    event.preventDefault();
    await documents.change(document.id, { title: title.trim(), importance });
    say("Saved");
  });
  const same = title.trim() === document.title && importance === document.importance;
  return html`
    <form class="form" onSubmit=${save}>
      <${Field} label="Title">${(id) => html`
        <input id=${id} required maxlength="500" value=${title} onInput=${(event) => setTitle(event.target.value)} />`}<//>
      <${Field} label="Importance" hint="Raises or lowers its passages among others, from 0 to 1">${(id) => html`
        <span class="importance">
          <input id=${id} type="range" min="0" max="1" step="0.05" value=${importance}
            onInput=${(event) => setImportance(Number(event.target.value))} />
          <output for=${id}>${importance.toFixed(2)}</output>
        </span>`}<//>
      <div><button class="primary" disabled=${same || !title.trim()}>Save changes</button></div>
    </form>`;
}

function Actions({ documents, document }) {
  const [part, setPart] = useState(/** @type {number | null} */ (null));
  const [reason, setReason] = useState("");
  const picker = useRef(/** @type {HTMLInputElement | null} */ (null));
  const replace = async (/** @type {File | undefined} */ file) => {
    if (!file) return;
    setReason("");
    setPart(0);
    try {
      documents.put(await sendFile("PUT", documents.one(document.id), file, { onProgress: setPart }));
    } catch (error) {
      setReason(`${file.name}: ${error.detail ?? error}`);
    }
    setPart(null);
    picker.current.value = "";
  };
  const remove = telling(async () => {
    const text = `“${document.title}” goes with its passages and what only it says in the graph.`;
    if (!(await confirmed({ title: "Delete this document?", text, action: "Delete" }))) return;
    await documents.remove(document.id);
    closePanel();
    say("Deleted");
  });
  return html`
    ${part !== null && html`<progress aria-label="Upload of the replacement" max="1" value=${part < 1 ? part : undefined}></progress>`}
    ${reason && html`<p class="notice error" role="alert" dir="auto">${reason}</p>`}
    <footer class="document-actions">
      <input type="file" hidden ref=${picker} aria-label="File that replaces it" onChange=${(event) => replace(event.target.files[0])} />
      <button type="button" disabled=${part !== null} onClick=${() => picker.current.click()}>Replace…</button>
      <button type="button" disabled=${isWorking(document)} onClick=${telling(() => documents.reingest(document.id))}>Read again</button>
      <button type="button" class="danger" onClick=${remove}>Delete</button>
    </footer>`;
}
