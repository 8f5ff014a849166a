/** One knowledge base: its documents, searching in it, its graph. */

import { html, useEffect, useMemo, useRef, useState } from "../../lib/html.js";
import { go, href } from "../../lib/router.js";
import { mayManage } from "../../lib/session.js";
import { complain, telling } from "../../lib/toasts.js";
import { IconButton } from "../../parts/button.js";
import { confirmed } from "../../parts/dialog.js";
import { DropZone } from "../../parts/drop_zone.js";
import { Icon } from "../../parts/icon.js";
import { BaseForm } from "./base_form.js";
import { removeBase } from "./bases.js";
import { DocumentList } from "./document_list.js";
import { Documents } from "./documents.js";
import { Graph } from "./graph.js";
import { Search } from "./search.js";
import { UploadList } from "./upload_list.js";
import { Uploads } from "./uploads.js";

const ACCEPTED = "Text, Markdown, HTML, PDF, DOCX, PPTX, XLSX, CSV and pictures";
const TABS = { documents: "Documents", search: "Search", graph: "Graph" };

/** Uploads go on while somebody looks elsewhere in the page. @type {Map<string, {documents: Documents, uploads: Uploads}>} */
const places = new Map();

function placeOf(/** @type {string} */ id) {
  if (!places.has(id)) {
    const documents = new Documents(id);
    places.set(id, { documents, uploads: new Uploads(documents) });
  }
  return places.get(id);
}

/** @param {{base: import("./bases.js").Base, parts: string[]}} props */
export function Base({ base, parts: [tab = "documents", given = ""] }) {
  const { documents, uploads } = useMemo(() => placeOf(base.id), [base.id]);
  const working = documents.working.value > 0;
  useEffect(() => {
    documents.load().catch(complain);
    return documents.follow();
  }, [documents]);
  useEffect(() => {
    document.title = `${base.name} · Tributary`;
  }, [base.name]);
  return html`
    <${DropZone} class="knowledge" hint=${ACCEPTED} onFiles=${mayManage.value ? (files) => uploads.add(files) : null}>
      <${Head} base=${base} />
      <nav class="tabs" aria-label="Parts of the knowledge base">
        ${Object.entries(TABS).map(([key, name]) => html`
          <a key=${key} href=${href("knowledge", base.id, key)} aria-current=${key === tab ? "page" : undefined}>${name}</a>`)}
      </nav>
      ${tab === "search" ? html`<${Search} key=${base.id} documents=${documents} query=${given} />`
        : tab === "graph" ? html`<${Graph} key=${base.id} baseId=${base.id} around=${given} changed=${working} />`
        : html`<${Uploading} uploads=${uploads} /><${DocumentList} documents=${documents} />`}
    <//>`;
}

function Head({ base }) {
  const [changing, setChanging] = useState(false);
  const remove = telling(async () => {
    const text = `“${base.name}” goes with all its documents. Bots that are linked to it find nothing in it any more.`;
    if (!(await confirmed({ title: "Delete this knowledge base?", text, action: "Delete" }))) return;
    await removeBase(base.id);
    places.delete(base.id);
    go("knowledge");
  });
  return html`
    <header class="base-head">
      <div><h1><bdi>${base.name}</bdi></h1>
        ${base.description && html`<p class="quiet" dir="auto">${base.description}</p>`}
        <p class="hint">Embedding <bdi>${base.embedding}</bdi></p></div>
      ${mayManage.value && html`<span class="base-actions">
        <${IconButton} icon="edit" label="Change knowledge base" onClick=${() => setChanging(true)} />
        <${IconButton} icon="delete" label="Delete knowledge base" onClick=${remove} /></span>`}
      ${changing && html`<${BaseForm} base=${base} onClose=${() => setChanging(false)} />`}
    </header>`;
}

function Uploading({ uploads }) {
  const picker = useRef(/** @type {HTMLInputElement | null} */ (null));
  if (!mayManage.value) return null;
  const picked = (/** @type {any} */ event) => {
    uploads.add([...event.target.files]);
    event.target.value = "";
  };
  return html`
    <div class="upload-bar">
      <input type="file" multiple hidden ref=${picker} aria-label="Files to add" onChange=${picked} />
      <button type="button" class="primary" onClick=${() => picker.current.click()}><${Icon} name="plus" />Add files</button>
      <p class="hint">or drop them here: ${ACCEPTED}</p>
    </div>
    <${UploadList} uploads=${uploads} />`;
}
