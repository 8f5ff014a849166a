/** The files that are on their way, and those that were refused with the reason. */

import { html } from "../../lib/html.js";
import { IconButton } from "../../parts/button.js";
import { Icon } from "../../parts/icon.js";
import { UploadState } from "../../parts/upload_state.js";

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
            <${UploadState} file=${file} />
          </div>
          <${IconButton} icon="close" label="${file.state === "refused" ? "Dismiss" : "Cancel"} ${file.name}"
            onClick=${() => uploads.forget(file.key)} />
        </li>`)}
    </ul>
    ${others.length > SHOWN && html`<p class="hint">${others.length - SHOWN} more wait</p>`}
    ${refused.length > 1 && html`
      <button type="button" class="plain" onClick=${() => uploads.clear("refused")}>Dismiss all refusals</button>`}`;
}
