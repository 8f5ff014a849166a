/** Searching in a knowledge base: by words, or by a picture. */

import { address, api, path } from "../../lib/api.js";
import { html, useEffect, useRef, useState } from "../../lib/html.js";
import { percent } from "../../lib/format.js";
import { goInstead } from "../../lib/router.js";
import { Icon } from "../../parts/icon.js";
import { openPassage } from "./passage.js";

const MOST = 10;

/** @param {{documents: import("./documents.js").Documents, query: string}} props `query` is searched for at once */
export function Search({ documents, query }) {
  const [words, setWords] = useState(query);
  const [found, setFound] = useState(/** @type {{results: any[], image: string | null} | null} */ (null));
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const picker = useRef(/** @type {HTMLInputElement | null} */ (null));
  const latest = useRef(0);
  const image = useRef(/** @type {string | null} */ (null));
  const show = (/** @type {typeof found} */ next) => {
    if (image.current && image.current !== next?.image) URL.revokeObjectURL(image.current);
    image.current = next?.image ?? null;
    setFound(next);
  };
  useEffect(() => () => show(null), []);

  const search = async (/** @type {string} */ kind, /** @type {any} */ asked, /** @type {File | null} */ file = null) => {
    const turn = (latest.current += 1);
    setBusy(true);
    setProblem("");
    try {
      const body = { ...(file ? { mimeType: file.type || "image/png", imageBase64: await base64(file) } : asked), topK: MOST };
      const { results } = await api.post(path`/knowledge/kb/${documents.baseId}/` + kind, body);
      if (turn === latest.current) show({ results, image: file && URL.createObjectURL(file) });
    } catch (error) {
      if (turn === latest.current) setProblem(error.detail ?? String(error));
    }
    if (turn === latest.current) setBusy(false);
  };
  useEffect(() => {
    if (!query) return;
    setWords(query);
    search("search", { query });
  }, [query, documents]);
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    const wanted = words.trim();
    if (!wanted) return;
    if (wanted === query) search("search", { query });
    else goInstead("knowledge", documents.baseId, "search", wanted);
  };
  return html`
    <form class="search-form" role="search" onSubmit=${submit}>
      <input type="search" aria-label="Search in the documents" placeholder="What do you want to know?" maxlength="20000"
        value=${words} onInput=${(event) => setWords(event.target.value)} />
      <button class="primary" disabled=${busy}>Search</button>
      <input type="file" hidden ref=${picker} accept="image/jpeg,image/png,image/webp" aria-label="Picture to search by"
        onChange=${(event) => (event.target.files[0] && search("search/image", null, event.target.files[0]), (event.target.value = ""))} />
      <button type="button" disabled=${busy} onClick=${() => picker.current.click()}><${Icon} name="image" />By a picture…</button>
    </form>
    ${problem && html`<p class="notice error" role="alert" dir="auto">${problem}</p>`}
    <p class="hint" role="status">${busy ? "Searching…" : found ? `${found.results.length || "No"} passages found` : ""}</p>
    ${found?.image && html`<img class="sought" src=${found.image} alt="The picture that was searched by" />`}
    ${found && html`
      <ol class="hits" aria-label="Results">
        ${found.results.map((hit) => html`<${Hit} key=${hit.chunkId} hit=${hit} documents=${documents} pictures=${Boolean(found.image)} />`)}
      </ol>`}`;
}

/** @returns {Promise<string>} */
const base64 = (/** @type {File} */ file) =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).split(",")[1] ?? "");
    reader.onerror = () => reject(new Error("The file can't be read"));
    reader.readAsDataURL(file);
  });

function Hit({ hit, documents, pictures }) {
  const document = documents.of(hit.documentId);
  const image = document?.contentType.startsWith("image/");
  const page = image ? 1 : pictures ? hit.page : null;
  return html`
    <li>
      <button type="button" class="found" onClick=${() => openPassage(documents, hit)}>
        ${page && html`<img class="thumbnail" loading="lazy" alt="" src=${address(`${documents.one(hit.documentId)}/pages/${page}.png`, { width: 200 })} />`}
        <span class="found-text">
          <span class="found-head"><bdi class="clipped">${document?.title ?? hit.filename}</bdi>
            ${hit.page && html`<span class="quiet">page ${hit.page}</span>`}</span>
          <span class="excerpt" dir="auto">${hit.text}</span>
          <span class="hit-scores">
            <${Score} name="Score" value=${hit.score} strong />
            <${Score} name="Similarity" value=${hit.vectorScore} />
            <${Score} name="Words" value=${hit.textScore} />
            <${Score} name="Importance" value=${hit.importance} />
          </span>
        </span>
      </button>
    </li>`;
}

function Score({ name, value, strong = false }) {
  return html`
    <span class="hit-score ${strong ? "strong" : ""}">${name} <b>${percent(value)}</b>
      <span class="bar" aria-hidden="true"><i style=${{ width: percent(value) }}></i></span></span>`;
}
