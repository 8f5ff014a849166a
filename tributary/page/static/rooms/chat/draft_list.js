/** The files that go with a question: how far each is, and why one does not go. */

import { html } from "../../lib/html.js";
import { telling } from "../../lib/toasts.js";
import { IconButton } from "../../parts/button.js";
import { Icon } from "../../parts/icon.js";
import { UploadState } from "../../parts/upload_state.js";
import { iconOf } from "./attached.js";

/** @param {{drafts: import("./drafts.js").Drafts}} props */
export function DraftList({ drafts }) {
  const files = drafts.files.value;
  return html`
    <ul class="drafts" aria-label="Files of the question" aria-live="polite" hidden=${!files.length}>
      ${files.map((file) => html`
        <li key=${file.key} class="draft ${file.state}">
          ${file.preview ? html`<img src=${file.preview} alt="" />` : html`<${Icon} name=${iconOf(file.name)} />`}
          <div>
            <bdi class="clipped" title=${file.name}>${file.name}</bdi>
            <${UploadState} file=${file} />
          </div>
          <${IconButton} icon="close" label="Remove ${file.name}" onClick=${telling(() => drafts.remove(file.key))} />
        </li>`)}
    </ul>`;
}
