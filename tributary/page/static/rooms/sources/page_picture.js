/** The page of a source as a picture, with the passage marked by the server. */

import { address, path } from "../../lib/api.js";
import { html, useState } from "../../lib/html.js";

/** Pixels across: sharp in the panel, and where somebody opens the picture by itself. */
const WIDTH = 1000;
const LARGE = 2000;

/** @param {{source: any, marked: boolean}} props */
export function PagePicture({ source, marked }) {
  const [state, setState] = useState("loading");
  const page = source.page ?? 1;
  const file = path`/knowledge/kb/${source.knowledgeBaseId}/documents/${source.documentId}/pages/${page}.png`;
  const passage = marked ? { start: source.start, end: source.end } : {};
  if (state === "failed") return html`<p class="hint">Page ${page} can't be drawn. The passage stands below.</p>`;
  const name = marked ? `Page ${page} of ${source.filename}, with the passage marked` : source.filename;
  return html`
    <figure class="source-page" aria-busy=${state === "loading"}>
      <a href=${address(file, { ...passage, width: LARGE })} target="_blank" rel="noopener" title="Open it large">
        <img src=${address(file, { ...passage, width: WIDTH })} alt=${name}
          onLoad=${() => setState("loaded")} onError=${() => setState("failed")} />
      </a>
      ${marked && html`<figcaption class="hint">Page ${page}</figcaption>`}
    </figure>`;
}
