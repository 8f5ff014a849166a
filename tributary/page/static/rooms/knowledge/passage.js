/** A passage where it stands: on its page as a picture, and in its text, marked in both. */

import { api } from "../../lib/api.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "../../lib/html.js";
import { percent } from "../../lib/format.js";
import { openPanel } from "../../lib/panel.js";
import { PagePicture } from "../sources/page_picture.js";

/** Characters that are shown around a passage at first, and more with each wish. */
const AROUND = 1500;
const MORE = 10_000;

/**
 * Opens the passage of a result.
 * @param {import("./documents.js").Documents} documents
 * @param {{documentId: string, chunkId: string, filename: string, page: number | null}} hit
 */
export function openPassage(documents, hit) {
  const title = documents.of(hit.documentId)?.title ?? hit.filename;
  const content = () => html`<${Passage} documents=${documents} hit=${hit} />`;
  openPanel({ title, key: `passage ${hit.chunkId}`, content });
}

/** Opens the text of a document from its beginning. */
export function openText(/** @type {any} */ documents, /** @type {any} */ document) {
  const content = () => html`<${Text} path=${documents.one(document.id)} start=${0} end=${0} />`;
  openPanel({ title: document.title, key: `text ${document.id} ${document.updatedAt}`, content });
}

function Passage({ documents, hit }) {
  const path = documents.one(hit.documentId);
  const [chunk, problem] = useAnswer(`${path}/chunks/${encodeURIComponent(hit.chunkId)}`);
  if (problem) return html`<p class="notice error" role="alert">${problem}</p>`;
  if (!chunk) return html`<p class="waiting">Loading…</p>`;
  const type = documents.of(hit.documentId)?.contentType ?? "";
  const image = type.startsWith("image/");
  // Other kinds have pages, too (slides, sheets), but no pictures of them.
  const drawn = image || (type === "application/pdf" && chunk.page);
  return html`
    <p class="hint">${chunk.page ? `Page ${chunk.page} · ` : ""}Importance ${percent(chunk.importance)}</p>
    ${drawn && html`<${PagePicture} source=${{ ...chunk, knowledgeBaseId: documents.baseId }} marked=${!image} />`}
    ${chunk.metadata.heading && html`<h3 dir="auto">${chunk.metadata.heading}</h3>`}
    <${Text} path=${path} start=${chunk.start} end=${chunk.end} still=${Boolean(drawn)} />`;
}

/** @param {{path: string, start: number, end: number, still?: boolean}} props `still`: the passage is in sight elsewhere */
function Text({ path, start, end, still = false }) {
  const [text, problem] = useAnswer(`${path}/text`);
  const [before, setBefore] = useState(AROUND);
  const [after, setAfter] = useState(AROUND * 2);
  const mark = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => {
    if (!still) mark.current?.scrollIntoView({ block: "center" });
  }, [text]);
  if (problem) return html`<p class="notice error" role="alert">${problem}</p>`;
  if (!text) return html`<p class="waiting">Loading…</p>`;
  // Offsets count characters; JavaScript counts those beyond the basic plane twice.
  const from = Math.max(0, start - before);
  const [head, marked, tail] = cut(text.text, [from, start, end, end + after]);
  const more = head.at + head.text.length + marked.text.length + tail.text.length < text.text.length;
  return html`
    ${from > 0 && html`<button type="button" class="plain" onClick=${() => setBefore(before + MORE)}>Show what stands before</button>`}
    <p class="passage" dir="auto">${head.text}${marked.text && html`<mark ref=${mark}>${marked.text}</mark>`}${tail.text}</p>
    ${more && html`<button type="button" class="plain" onClick=${() => setAfter(after + MORE)}>Show what follows</button>`}`;
}

/**
 * The pieces of a text between rising offsets in characters, each with its place in units of JavaScript.
 * @param {string} text
 * @param {number[]} offsets
 */
export function cut(text, offsets) {
  const places = [];
  let unit = 0;
  let character = 0;
  for (const offset of offsets) {
    for (; character < offset && unit < text.length; character += 1) unit += text.codePointAt(unit) > 0xffff ? 2 : 1;
    places.push(unit);
  }
  return places.slice(1).map((place, index) => ({ at: places[index], text: text.slice(places[index], place) }));
}

/** The answer of a route, or why there is none. @returns {[any, string]} */
function useAnswer(/** @type {string} */ path) {
  const [state, setState] = useState(/** @type {[any, string]} */ ([null, ""]));
  useEffect(() => {
    const abort = new AbortController();
    setState([null, ""]);
    api.get(path, {}, { signal: abort.signal }).then(
      (answer) => setState([answer, ""]),
      (error) => error.name !== "AbortError" && setState([null, error.detail ?? String(error)]),
    );
    return () => abort.abort();
  }, [path]);
  return state;
}
