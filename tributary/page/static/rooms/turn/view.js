/** A turn as it ran. */

import { api, path } from "../../lib/api.js";
import { count, dollars } from "../../lib/format.js";
import { html, useEffect, useState } from "../../lib/html.js";
import { Icon } from "../../parts/icon.js";
import { LeftOut } from "../chat/left_out.js";
import { Path } from "../sources/facts.js";
import { Hits } from "./hits.js";
import { Lanes } from "./lanes.js";

const MISSING = {
  403: "This key may chat, but not look into how answers were made. One of the scope “full” may.",
  404: "Nothing was kept of how this answer was made.",
};

/** @param {{message: any}} props */
export function Turn({ message }) {
  const [trace, setTrace] = useState(/** @type {any} */ (null));
  const [problem, setProblem] = useState("");
  useEffect(() => {
    let left = false;
    api.get(path`/api/messages/${message.id}/trace`).then(
      (found) => left || setTrace(found),
      (error) => left || setProblem(MISSING[error.status] ?? error.message),
    );
    return () => (left = true);
  }, [message.id]);
  if (problem) return html`<p class="notice" role="status"><${Icon} name="note" /><span>${problem}</span></p>`;
  if (!trace) return html`<p class="hint">Loading…</p>`;
  const bases = new Map((trace.plan?.knowledgeBases ?? []).map((/** @type {any} */ base) => [base.id, base.name]));
  return html`
    <div class="record">
      <${Summary} message=${message} trace=${trace} />
      <${LeftOut} message=${message} />
      <${Lanes} nodes=${trace.nodes ?? []} bases=${bases} />
      <${Hits} trace=${trace} message=${message} bases=${bases} />
      <${Relations} facts=${trace.facts ?? []} />
      <${Given} text=${trace.context} />
    </div>`;
}

function Summary({ message, trace }) {
  const { usage } = message;
  const searched = trace.plan?.query;
  return html`
    <dl class="pairs">
      ${message.model && html`<div><dt>Model</dt><dd><bdi>${message.model}</bdi></dd></div>`}
      ${usage && html`<div><dt>Tokens</dt><dd>${count(usage.inputTokens)} read, ${count(usage.outputTokens)} written</dd></div>`}
      ${usage && usage.costUsd !== undefined && html`<div><dt>Cost</dt><dd>${dollars(usage.costUsd)}</dd></div>`}
      ${searched && html`<div><dt>Searched for</dt><dd dir="auto">${searched}</dd></div>`}
      ${trace.plan?.images?.length > 0 && html`<div><dt>Pictures</dt><dd>${count(trace.plan.images.length)} searched with</dd></div>`}
    </dl>`;
}

function Relations({ facts }) {
  const relations = facts.flatMap((each) => each.relations);
  if (!relations.length) return null;
  return html`
    <details>
      <summary>Connections in the knowledge graph (${relations.length})</summary>
      <ul class="paths">${relations.map((each) => html`<li><${Path} relation=${each} /></li>`)}</ul>
    </details>`;
}

function Given({ text }) {
  if (!text) return null;
  return html`
    <details>
      <summary>The context as the model got it</summary>
      <pre class="raw" dir="auto" tabindex="0" aria-label="The context">${text}</pre>
    </details>`;
}
