/** The files that are on their way, and those that were refused with the reason. */

import { html } from "../../lib/html.js";
import { percent, size } from "../../lib/format.js";
import { IconButton } from "../../parts/button.js";
import { Icon } from "../../parts/icon.js";

/** Of thousands, as many are drawn: the rest waits unseen. */
const SHOWN = 50;

/** @param {{uploads: import("./uploads.js").Uploads}} props */
export function UploadList({ uploads }) {
  const files = uploads.files.value;
  const refused = files.filter((file) => file.state === "refused");
  const others = files.filter((file) => file.state !== "refused");
  const shown = [...refused, ...others.slice(0, SHOWN)];
  return html`
    <ul class="uploads" aria-label="Uploads" aria-live="polite" hidden=${!files.length}>
      ${shown.map((file) => html`
        <li key=${file.key} class="draft ${file.state}">
          <${Icon} name=${file.state === "refused" ? "note" : "document"} />
          <div>
            <bdi class="clipped" title=${file.name}>${file.name}</bdi>
            <${State} file=${file} />
          </div>
          <${IconButton} icon="close" label="${file.state === "refused" ? "Dismiss" : "Cancel"} ${file.name}"
            onClick=${() => uploads.forget(file.key)} />
        </li>`)}
    </ul>
    ${others.length > SHOWN && html`<p class="hint">${others.length - SHOWN} more wait</p>`}
    ${refused.length > 1 && html`
      <button type="button" class="plain" onClick=${() => uploads.forgetRefused()}>Dismiss all refusals</button>`}`;
}

function State({ file }) {
  if (file.state === "refused") return html`<p class="reason" dir="auto">${file.reason}</p>`;
  const sent = file.part >= 1;
  return html`<progress aria-label="Upload of ${file.name}" max="1" value=${sent ? undefined : file.part}></progress>
    <small aria-hidden="true">${file.state === "waiting" ? size(file.size) : sent ? "Checking…" : percent(file.part)}</small>`;
}
