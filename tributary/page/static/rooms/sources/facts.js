/** What the knowledge graph told in the turn about what a source names: the paths that lead to it. */

import { api, path } from "../../lib/api.js";
import { html, useEffect, useState } from "../../lib/html.js";
import { mayManage } from "../../lib/session.js";

const MOST = 12;

/** @param {{message: any, source: any}} props */
export function Facts({ message, source }) {
  const [relations, setRelations] = useState(/** @type {any[]} */ ([]));
  const asked = message.id && mayManage.value && (source.branches ?? []).includes("graph");
  useEffect(() => {
    if (!asked) return undefined;
    let left = false;
    // A turn whose trace is gone has no paths to show; the source says already that the graph found it.
    api.get(path`/api/messages/${message.id}/trace`).then((trace) => left || setRelations(relationsIn(trace, source)), () => {});
    return () => (left = true);
  }, [asked]);
  if (!relations.length) return null;
  return html`
    <section aria-label="Paths in the knowledge graph">
      <h3>In the knowledge graph</h3>
      <ul class="paths">${relations.map((each) => html`<li><${Path} relation=${each} /></li>`)}</ul>
    </section>`;
}

/** @param {{relation: {source: string, relation: string, target: string, description?: string}}} props */
export function Path({ relation }) {
  return html`
    <span class="path"><bdi>${relation.source}</bdi> <span class="quiet">→ ${relation.relation} →</span> <bdi>${relation.target}</bdi></span>
    ${relation.description && html`<small class="hint" dir="auto">${relation.description}</small>`}`;
}

/** The relations of a turn, those first whose ends the passage names. */
function relationsIn(/** @type {any} */ trace, /** @type {any} */ source) {
  const text = source.text.toLowerCase();
  const named = (/** @type {any} */ each) =>
    Number(text.includes(each.source.toLowerCase())) + Number(text.includes(each.target.toLowerCase()));
  return (trace.facts ?? [])
    .flatMap((/** @type {any} */ each) => each.relations)
    .filter((/** @type {any} */ each) => named(each) > 0)
    .sort((/** @type {any} */ one, /** @type {any} */ other) => named(other) - named(one))
    .slice(0, MOST);
}
