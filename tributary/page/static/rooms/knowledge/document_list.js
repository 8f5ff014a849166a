/** The documents of a knowledge base: how far each is, what became of it, and a way into it. */

import { html, useMemo, useState } from "../../lib/html.js";
import { count, percent, size } from "../../lib/format.js";
import { openPanel } from "../../lib/panel.js";
import { useRows } from "../../lib/rows.js";
import { mayManage } from "../../lib/session.js";
import { Icon } from "../../parts/icon.js";
import { DocumentDetail } from "./document_detail.js";
import { isWorking } from "./documents.js";

const STEP = 100;
const FILTERS = { all: "All", working: "In work", ready: "Ready", failed: "Failed" };

/** @param {{documents: import("./documents.js").Documents}} props */
export function DocumentList({ documents }) {
  const [sought, setSought] = useState("");
  const [filter, setFilter] = useState("all");
  const [shown, setShown] = useState(STEP);
  const items = documents.items.value;
  const found = useMemo(() => filtered(items ?? [], sought, filter), [items, sought, filter]);
  const drawn = found.slice(0, shown);
  const rows = useRows("button", drawn.map((each) => each.id));
  if (!items) return html`<p class="waiting">Loading…</p>`;
  if (!items.length) {
    return html`<p class="hint nothing">No document yet.${mayManage.value ? " Add files above, or drop them anywhere here: bots that are linked to this knowledge base answer from them." : ""}</p>`;
  }
  const failed = items.filter((each) => each.status === "failed").length;
  return html`
    <div class="document-tools">
      <label class="search"><${Icon} name="search" />
        <input type="search" aria-label="Find a document" placeholder="Find a document" value=${sought}
          onInput=${(event) => setSought(event.target.value)} /></label>
      <select aria-label="Which documents" value=${filter} onChange=${(event) => setFilter(event.target.value)}>
        ${Object.entries(FILTERS).map(([key, name]) => html`<option key=${key} value=${key}>${name}</option>`)}
      </select>
      <p class="hint" role="status">${said(items.length, documents.working.value, failed)}</p>
    </div>
    <ul class="documents" aria-label="Documents" onKeyDown=${rows.onKeyDown} onFocusIn=${rows.onFocusIn}>
      ${drawn.map((each) => html`<${Row} key=${each.id} document=${each} documents=${documents} stop=${each.id === rows.stop} />`)}
    </ul>
    ${!found.length && html`<p class="hint nothing">None is like that.</p>`}
    ${found.length > shown && html`
      <button type="button" onClick=${() => setShown(shown + STEP)}>Show more (${count(found.length - shown)})</button>`}`;
}

function said(/** @type {number} */ all, /** @type {number} */ working, /** @type {number} */ failed) {
  const parts = [`${count(all)} ${all === 1 ? "document" : "documents"}`];
  if (working) parts.push(`${count(working)} in work`);
  if (failed) parts.push(`${count(failed)} failed`);
  return parts.join(", ");
}

function filtered(/** @type {import("./documents.js").Document[]} */ items, /** @type {string} */ sought, /** @type {string} */ filter) {
  const words = sought.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  return items.filter((each) => {
    if (filter !== "all" && (filter === "working" ? !isWorking(each) : each.status !== filter)) return false;
    const text = `${each.title} ${each.filename} ${each.topics.join(" ")}`.toLocaleLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** Opens a document beside the list. */
export function openDocument(/** @type {import("./documents.js").Documents} */ documents, /** @type {string} */ id) {
  const title = documents.of(id)?.title ?? "Document";
  openPanel({ title, key: `document ${id}`, content: () => html`<${DocumentDetail} documents=${documents} id=${id} />` });
}

function Row({ document, documents, stop }) {
  return html`
    <li class="document ${document.status}">
      <button type="button" class="document-open" data-row=${document.id} tabindex=${stop ? 0 : -1} onClick=${() => openDocument(documents, document.id)}>
        <${Icon} name=${document.contentType.startsWith("image/") ? "image" : "document"} />
        <span class="document-name">
          <bdi class="clipped" title=${document.title}>${document.title}</bdi>
          ${document.title !== document.filename && html`<small class="clipped quiet"><bdi>${document.filename}</bdi></small>`}
        </span>
        <small class="quiet">${size(document.size)}</small>
      </button>
      <${Fate} document=${document} />
    </li>`;
}

/** How far a document is, or what became of it. @param {{document: import("./documents.js").Document}} props */
export function Fate({ document }) {
  if (document.status === "failed") return html`<p class="reason" dir="auto">${document.error?.detail ?? "It failed"}</p>`;
  if (isWorking(document)) {
    return html`
      <div class="fate"><progress aria-label="Progress of ${document.title}" max="1" value=${document.progress}></progress>
        <small>${document.stage} · ${percent(document.progress)}</small></div>`;
  }
  return html`
    <div class="fate">
      <span class="chip good"><${Icon} name="check" />Ready</span>
      ${document.type && html`<span class="chip">${document.type}</span>`}
      ${document.topics.slice(0, 3).map((topic) => html`<span class="chip" key=${topic}><bdi class="clipped">${topic}</bdi></span>`)}
    </div>`;
}
