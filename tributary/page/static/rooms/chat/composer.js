/** Where a question is written. */

import { html, useId, useLayoutEffect, useRef } from "../../lib/html.js";
import { say, telling } from "../../lib/toasts.js";
import { IconButton } from "../../parts/button.js";
import { Icon } from "../../parts/icon.js";
import { bots } from "./bots.js";
import { DraftList } from "./draft_list.js";
import { ACCEPT } from "./kinds.js";

const MOST = 200_000;
/** On a touch screen Enter makes a new line, as everywhere there. */
const touch = matchMedia("(hover: none) and (pointer: coarse)");

/** @param {{place: import("./places.js").Place, bot: any, ask: (asked: any) => Promise<void>}} props */
export function Composer({ place, bot, ask }) {
  const { thread, text, drafts, edited } = place;
  const area = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  const hint = useId();
  const running = thread.running.value;
  useLayoutEffect(() => area.current.focus(), [edited.value]);
  const empty = !text.value.trim() && !drafts.ready.value.length;
  const send = telling(async () => {
    // Bots that are still being loaded are no reason to lose a question.
    if (running || (!bot && bots.value) || place.sending.value) return;
    if (drafts.busy.value && !(await uploaded(place))) return;
    if (text.value.trim() || drafts.ready.value.length) await submit(place, ask);
  });
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Escape" && edited.value) place.clear();
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || touch.matches) return;
    event.preventDefault();
    send();
  };
  return html`
    <form class="composer" aria-label="Question" onSubmit=${(event) => (event.preventDefault(), send())}>
      <${Refusal} thread=${thread} />
      ${edited.value && html`<p class="editing"><${Icon} name="edit" />You edit your question. <button type="button" class="plain" onClick=${() => place.clear()}>Keep it as it was</button></p>`}
      <${DraftList} drafts=${drafts} />
      <textarea ref=${area} rows="1" maxlength=${MOST} value=${text.value} aria-label="Your question" aria-describedby=${hint}
        placeholder=${bot ? `Ask ${bot.name}` : "Make a bot first"} onKeyDown=${onKeyDown}
        onInput=${(event) => (text.value = event.target.value)}></textarea>
      <div class="composer-actions">
        <${Attach} onFiles=${(files) => drafts.add(files)} />
        <small id=${hint} class="hint">${place.sending.value ? "Sends when the files are there…" : touch.matches ? "" : "Enter sends, Shift+Enter makes a new line"}</small>
        <span class="space"></span>
        ${running
          ? html`<button type="button" class="round stop" aria-label="Stop" title="Stop" disabled=${running.stopping.value}
              onClick=${telling(() => thread.stop())}><${Icon} name="stop" /></button>`
          : html`<button class="round primary" aria-label="Send" title="Send"
              disabled=${(empty && !drafts.busy.value) || place.sending.value || !bot}><${Icon} name="send" /></button>`}
      </div>
    </form>`;
}

/**
 * Waits until all files are there. False where one was refused on the way: whether to go without it is for people to say.
 * @param {import("./places.js").Place} place
 */
async function uploaded({ drafts, sending }) {
  const refused = () => drafts.files.value.filter((file) => file.state === "refused").length;
  const before = refused();
  sending.value = true;
  await drafts.settled();
  sending.value = false;
  if (refused() <= before) return true;
  say("A file was refused: look at it, and send again", "error");
  return false;
}

/** Sends what was written. What is refused comes back to be changed, unless something else was written meanwhile. */
async function submit(/** @type {import("./places.js").Place} */ place, /** @type {(asked: any) => Promise<void>} */ ask) {
  const { text, drafts, edited, thread } = place;
  const kept = { text: text.value, files: drafts.files.value, edited: edited.value };
  const attachments = drafts.ready.value.map(({ claim, name, size, preview }) => ({ ...claim, filename: name, size, preview }));
  drafts.files.value = [];
  text.value = "";
  edited.value = null;
  await ask({ text: kept.text.trim(), attachments, replaces: kept.edited?.id ?? null });
  if (!thread.refusal.value || text.value || drafts.files.value.length) {
    for (const { preview } of kept.files) if (preview) URL.revokeObjectURL(preview);
    return;
  }
  text.value = kept.text;
  drafts.files.value = kept.files;
  edited.value = kept.edited;
}

function Refusal({ thread }) {
  const problem = thread.refusal.value;
  if (!problem) return null;
  return html`
    <div class="notice error" role="alert">
      <${Icon} name="note" />
      <p dir="auto">${problem.detail}</p>
      <span class="space"></span>
      <${IconButton} icon="close" label="Dismiss" onClick=${() => (thread.refusal.value = null)} />
    </div>`;
}

function Attach({ onFiles }) {
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  const onChange = () => {
    onFiles([...input.current.files]);
    input.current.value = "";
  };
  return html`
    <input ref=${input} type="file" multiple accept=${ACCEPT} hidden onChange=${onChange} aria-label="Files" />
    <${IconButton} icon="attach" label="Attach files" onClick=${() => input.current.click()} />`;
}
