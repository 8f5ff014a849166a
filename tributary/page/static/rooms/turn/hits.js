/** What the branches found, before and after the rerank. */

import { api, path } from "../../lib/api.js";
import { html, useEffect, useState } from "../../lib/html.js";
import { Table } from "../../parts/table.js";
import { openSource } from "../sources/source.js";

/** Hits shown before the rerank, and documents whose names are asked for. */
const MOST = 60;
const MOST_NAMES = 20;

const SHORT = { text: "texts", image: "pictures", graph: "graph", map: "documents" };
const TERMS = [{ figure: "Meaning" }, { figure: "Words" }, { figure: "Importance" }];

/** @param {{trace: any, message: any, bases: Map<string, string>}} props */
export function Hits({ trace, message, bases }) {
  const hits = trace.hits ?? [];
  const ranked = trace.ranked ?? [];
  const names = useNames([...ranked, ...hits], message.sources);
  if (!trace.plan) return null;
  const sources = new Map(message.sources.map((/** @type {any} */ source) => [source.chunkId, source]));
  const shown = [...hits].sort((one, other) => other.vector + other.text - one.vector - one.text).slice(0, MOST);
  const cells = (/** @type {any} */ hit) => [figure(hit.vector), figure(hit.text), figure(hit.importance)];
  const place = (/** @type {any} */ hit) => html`
    <${Name} source=${sources.get(hit.chunkId)} name=${names[hit.documentId]} base=${bases.get(hit.knowledgeBaseId)} message=${message} />`;
  const found = (/** @type {any} */ hit) => hit.branches.map((/** @type {string} */ each) => SHORT[each] ?? each).join(", ");
  return html`
    <section aria-label="Hits">
      <h3>After the rerank</h3>
      <${Table} caption="Hits after the rerank" heads=${["Passage", { figure: "Score" }, ...TERMS, "Found in"]} empty="Nothing was found."
        rows=${ranked.map((/** @type {any} */ hit) => [place(hit), figure(hit.score), ...cells(hit), found(hit)])} />
      <details>
        <summary>Before the rerank (${hits.length > MOST ? `the best ${MOST} of ${hits.length}` : hits.length})</summary>
        <${Table} caption="Hits before the rerank" heads=${["Passage", ...TERMS, { figure: "Evidence" }, "Found in"]} empty="Nothing was found."
          rows=${shown.map((hit) => [place(hit), ...cells(hit), figure(hit.evidence), found(hit)])} />
      </details>
    </section>`;
}

function Name({ source, name, base, message }) {
  const text = html`<bdi>${source?.filename ?? name ?? "another document"}</bdi>`;
  if (!source) return html`<span title=${base}>${text}</span>`;
  return html`
    <button type="button" class="plain hit" title=${base} onClick=${() => openSource(message, source.number)}>
      <span class="number">${source.number}</span>${text}${source.page ? html` <span class="quiet">page ${source.page}</span>` : ""}
    </button>`;
}

const figure = (/** @type {number} */ value) => (value ?? 0).toFixed(3);

/** File names by document, as far as they are known; those of sources come with the answer. */
function useNames(/** @type {any[]} */ hits, /** @type {any[]} */ sources) {
  const [names, setNames] = useState(/** @type {Record<string, string>} */ ({}));
  useEffect(() => {
    let left = false;
    const known = Object.fromEntries(sources.map((source) => [source.documentId, source.filename]));
    setNames(known);
    const others = [...new Map(hits.map((hit) => [hit.documentId, hit])).values()].filter((hit) => !known[hit.documentId]);
    const asked = others.slice(0, MOST_NAMES).map(({ knowledgeBaseId, documentId }) => api.get(path`/knowledge/kb/${knowledgeBaseId}/documents/${documentId}`));
    Promise.allSettled(asked).then((answers) => {
      if (left) return;
      const more = answers.flatMap((answer) => (answer.status === "fulfilled" ? [[answer.value.id, answer.value.filename]] : []));
      setNames({ ...known, ...Object.fromEntries(more) });
    });
    return () => (left = true);
  }, []);
  return names;
}
