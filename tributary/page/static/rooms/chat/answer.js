/** An answer: its text, its sources, what was left out of it, and what can be done with it. */

import { html } from "../../lib/html.js";
import { count, dollars } from "../../lib/format.js";
import { mayManage } from "../../lib/session.js";
import { copy } from "../../parts/copy.js";
import { Icon } from "../../parts/icon.js";
import { Markdown } from "../../parts/markdown.js";
import { openSource } from "../sources/source.js";
import { openTurn } from "../turn/turn.js";
import { LeftOut } from "./left_out.js";
import { Sources } from "./source_list.js";

const ENDED = {
  stopped: "You stopped here.",
  interrupted: "The server stopped here.",
  failed: "The answer broke off here.",
};

/** @param {{message: any, before: any, last: boolean, again: (question: any) => void}} props */
export function Answer({ message, before, last, again }) {
  const numbers = message.sources.map((source) => source.number);
  const ended = ENDED[message.status] ?? (message.finishReason === "length" ? "The answer reached the model's limit of length here." : "");
  return html`
    <article class="answer" aria-label="Answer">
      <${Markdown} text=${message.content} numbers=${numbers} onCite=${(number) => openSource(message, number)} />
      ${ended && html`<p class="notice ${message.status === "stopped" ? "" : "error"}"><${Icon} name="note" /><span dir="auto">${ended} ${message.error?.detail ?? ""}</span></p>`}
      <${LeftOut} message=${message} />
      <${Sources} message=${message} onOpen=${(number) => openSource(message, number)} />
      <div class="actions">
        <button type="button" class="plain" onClick=${() => copy(message.content)}><${Icon} name="copy" />Copy</button>
        ${last && before?.role === "user" && html`<button type="button" class="plain" onClick=${() => again(before)}><${Icon} name="retry" />Try again</button>`}
        ${mayManage.value && html`<button type="button" class="plain" onClick=${() => openTurn(message)}><${Icon} name="turn" />How it was made</button>`}
        <${Cost} message=${message} />
      </div>
    </article>`;
}

function Cost({ message }) {
  if (!message.usage) return null;
  const { totalTokens, costUsd } = message.usage;
  const parts = [message.model, `${count(totalTokens)} tokens`, ...(costUsd ? [dollars(costUsd)] : [])];
  return html`<small class="cost">${parts.filter(Boolean).join(" · ")}</small>`;
}

/** @param {{running: import("./running.js").RunningAnswer, onDrawn: () => void}} props */
export function LiveAnswer({ running, onDrawn }) {
  const sources = running.sources.value;
  const message = { id: null, sources };
  return html`
    <article class="answer live" aria-label="Answer" aria-busy="true">
      <${Markdown} text=${running.text} numbers=${sources.map((source) => source.number)} onDrawn=${onDrawn}
        onCite=${(number) => openSource(message, number)} />
      <p class="progress-note"><span class="dots" aria-hidden="true"><i></i><i></i><i></i></span>
        ${running.stopping.value ? "Stopping…" : running.step.value || "Waiting…"}</p>
    </article>`;
}
