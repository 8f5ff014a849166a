/** The knowledge graph as a picture that can be walked, and the same as a list for keyboards and screen readers. */

import { api, path } from "../../lib/api.js";
import { connect } from "../../lib/graph_canvas.js";
import { html, useEffect, useState } from "../../lib/html.js";
import { go, href } from "../../lib/router.js";
import { Icon } from "../../parts/icon.js";
import { GraphPicture } from "./graph_picture.js";
import { place } from "./layout.js";

const MOST = 100;
const LISTED = 100;

/** @param {{baseId: string, around: string, changed: unknown}} props `around` is an entity's id, or ""; asks again as `changed` changes */
export function Graph({ baseId, around, changed }) {
  const [hops, setHops] = useState(1);
  const [sought, setSought] = useState("");
  const [wanted, setWanted] = useState("");
  const [graph, setGraph] = useState(/** @type {any} */ (null));
  const [problem, setProblem] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setWanted(sought.trim()), 250);
    return () => clearTimeout(timer);
  }, [sought]);
  useEffect(() => {
    const abort = new AbortController();
    const query = around ? { around, hops, limit: MOST } : { q: wanted, limit: MOST };
    api.get(path`/knowledge/kb/${baseId}/graph`, query, { signal: abort.signal }).then(
      (found) => (setProblem(""), setGraph(linked(found, around))),
      (error) => error.name !== "AbortError" && setProblem(error.detail ?? String(error)),
    );
    return () => abort.abort();
  }, [baseId, around, hops, wanted, changed]);
  const walk = (/** @type {any} */ node) => node && go("knowledge", baseId, "graph", node.id);
  const chosen = graph?.around === around ? graph.chosen : null;
  return html`
    <div class="graph-tools">
      ${around
        ? html`<a href=${href("knowledge", baseId, "graph")}><${Icon} name="back" />All entities</a>
            <label>Within <select aria-label="Steps" value=${hops} onChange=${(event) => setHops(Number(event.target.value))}>
              <option value="1">1 step</option><option value="2">2 steps</option></select></label>`
        : html`<label class="search"><${Icon} name="search" />
            <input type="search" aria-label="Find an entity" placeholder="Find an entity" maxlength="200" value=${sought}
              onInput=${(event) => setSought(event.target.value)} /></label>`}
      <p class="hint" role="status">${graph ? said(graph) : ""}</p>
    </div>
    ${problem && html`<p class="notice error" role="alert" dir="auto">${problem}</p>`}
    ${graph && !graph.nodes.length && html`<p class="hint nothing">No entity${wanted ? " has that in its name" : " yet: they come from the documents"}.</p>`}
    ${graph?.nodes.length > 0 && html`
      <div class="graph">
        <${GraphPicture} graph=${graph} chosen=${chosen} onChoose=${walk} />
        <section class="graph-list" aria-label="Entities" tabindex="0">
          ${chosen && html`<${Entity} node=${chosen} baseId=${baseId} />`}
          <h3>${around ? "All in the picture" : "Most mentioned"}</h3>
          <ul>${graph.nodes.slice(0, LISTED).map((node) => html`<li key=${node.id}><${Name} node=${node} baseId=${baseId} />${" "}
            <small class="quiet">${node.type} · ${node.mentions}</small></li>`)}</ul>
        </section>
      </div>`}`;
}

function said({ nodes, edges, more }) {
  const entities = `${nodes.length} ${nodes.length === 1 ? "entity" : "entities"}`;
  return `${more ? "The first " : ""}${entities}, ${edges.length} ${edges.length === 1 ? "connection" : "connections"}`;
}

/** With nodes at their places, and edges that hold them. */
function linked(found, around) {
  const nodes = found.nodes.map((node) => ({ ...node }));
  const chosen = nodes.find((node) => node.id === around) ?? null;
  if (chosen) nodes.unshift(...nodes.splice(nodes.indexOf(chosen), 1));
  const known = new Map(nodes.map((node) => [node.id, node]));
  const edges = found.edges
    .map((edge) => ({ ...edge, source: known.get(edge.source), target: known.get(edge.target) }))
    .filter((edge) => edge.source && edge.target);
  connect(nodes, edges);
  place(nodes, edges);
  return { nodes, edges, chosen, around, more: Boolean(found.nextCursor) };
}

function Name({ node, baseId }) {
  return html`<a href=${href("knowledge", baseId, "graph", node.id)}><bdi>${node.name}</bdi></a>`;
}

function Entity({ node, baseId }) {
  return html`
    <article class="entity" aria-label=${node.name}>
      <h2><bdi>${node.name}</bdi></h2>
      <p class="hint">${node.type} · mentioned ${node.mentions} ${node.mentions === 1 ? "time" : "times"} ·
        ${" "}<a href=${href("knowledge", baseId, "search", node.name)}>Search for it</a></p>
      ${node.description && html`<p dir="auto">${node.description}</p>`}
      <ul aria-label="Connections">
        ${node.near.map((edge, index) => html`
          <li key=${index}>
            ${edge.source === node ? html`<span class="quiet">${edge.relation} →</span>` : html`<span class="quiet">← ${edge.relation}</span>`}
            ${" "}<${Name} node=${edge.source === node ? edge.target : edge.source} baseId=${baseId} />
            ${edge.description && html`<p class="hint" dir="auto">${edge.description}</p>`}
          </li>`)}
      </ul>
    </article>`;
}
