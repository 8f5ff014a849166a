/** What was left out of an answer, told where it matters. */

import { html } from "../../lib/html.js";
import { Icon } from "../../parts/icon.js";

const BRANCHES = {
  text: "the search in texts",
  image: "the search in pictures",
  map: "the list of documents",
  graph: "the knowledge graph",
};

const NOT_SENT = {
  unsupported: "it takes no files of this kind",
  too_large: "too large to be sent",
  missing: "its content is gone",
  unreadable: "it can't be read",
};

/** Why the model did not get a file. */
export const whyNotSent = (/** @type {string} */ reason) => NOT_SENT[reason] ?? reason;

/** @param {{message: any}} props */
export function LeftOut({ message }) {
  const { degraded = [], notSent = [] } = message;
  return html`
    ${degraded.length > 0 && html`
      <div class="notice" role="note">
        <${Icon} name="note" />
        <div>
          <p>This answer does without a part of what was to be searched:</p>
          <ul>${degraded.map((each) => html`<li dir="auto">${BRANCHES[each.branch] ?? each.branch}: ${each.reason}</li>`)}</ul>
        </div>
      </div>`}
    ${notSent.length > 0 && html`
      <div class="notice" role="note">
        <${Icon} name="note" />
        <div>
          <p>The model did not see:</p>
          <ul>${notSent.map((each) => html`<li><bdi>${each.filename}</bdi>: ${whyNotSent(each.reason)}</li>`)}</ul>
        </div>
      </div>`}`;
}
