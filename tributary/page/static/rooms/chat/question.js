/** A question, with what became of it where there is no answer. */

import { html } from "../../lib/html.js";
import { Icon } from "../../parts/icon.js";
import { Attached } from "./attached.js";

const ENDED = {
  interrupted: "The server stopped before the answer was written.",
  failed: "The answer failed.",
  stopped: "You stopped before the answer began.",
};

/** @param {{message: any, next?: any, last?: boolean, pending?: boolean, place: any, again?: (question: any) => void}} props */
export function Question({ message, next, last = false, pending = false, place, again }) {
  const notSent = next?.notSent ?? message.notSent ?? [];
  const unanswered = !pending && !next && ENDED[message.status];
  return html`
    <article class="question ${pending ? "pending" : ""}" aria-label="Your question">
      <${Attached} files=${message.attachments} notSent=${notSent} />
      ${message.content && html`<p class="bubble" dir="auto">${message.content}</p>`}
      ${last && html`
        <div class="actions">
          <button type="button" class="plain" onClick=${() => place.edit(message)}><${Icon} name="edit" />Edit</button>
          ${unanswered && html`<button type="button" class="plain" onClick=${() => again(message)}><${Icon} name="retry" />Try again</button>`}
        </div>`}
      ${unanswered && html`<p class="notice ${message.status === "stopped" ? "" : "error"}" role=${last ? "alert" : undefined}>
        <${Icon} name="note" /><span dir="auto">${unanswered} ${message.error?.detail ?? ""}</span></p>`}
    </article>`;
}
