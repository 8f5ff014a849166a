/** How far a file is on its way to the server, or why it does not go. */

import { html } from "../lib/html.js";
import { percent, size } from "../lib/format.js";

/** @param {{file: import("../lib/upload_queue.js").Entry}} props */
export function UploadState({ file }) {
  if (file.state === "refused") return html`<p class="reason" dir="auto">${file.reason}</p>`;
  if (file.state === "ready") return html`<small>${size(file.size)}</small>`;
  if (file.wait) return html`<small>The server asks to wait ${file.wait} seconds…</small>`;
  // The last of it is on the way when all is sent: the server looks into the file then.
  const sent = file.part >= 1;
  return html`<progress aria-label="Upload of ${file.name}" max="1" value=${sent ? undefined : file.part}></progress>
    <small aria-hidden="true">${file.state === "waiting" ? size(file.size) : sent ? "Checking…" : percent(file.part)}</small>`;
}
