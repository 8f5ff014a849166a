/** Files of a question that was asked. */

import { address, path } from "../../lib/api.js";
import { html, useState } from "../../lib/html.js";
import { size } from "../../lib/format.js";
import { Icon } from "../../parts/icon.js";
import { whyNotSent } from "./left_out.js";

const PICTURE = /\.(jpe?g|png|webp)$/i;
const SOUND = /\.(mp3|wav)$/i;
/** Bytes up to which a picture is shown as itself. */
const SHOWN = 8 * 2 ** 20;

export const iconOf = (/** @type {string} */ name) =>
  PICTURE.test(name) ? "image" : SOUND.test(name) ? "audio" : "document";

/** @param {{files: any[], notSent?: {id: string, reason: string}[]}} props */
export function Attached({ files, notSent = [] }) {
  if (!files.length) return null;
  return html`
    <ul class="attached" aria-label="Files">
      ${files.map((file) => html`
        <li key=${file.id}>
          <${File} file=${file} />
          ${notSent.filter((each) => each.id === file.id).map((each) => html`<p class="reason"><${Icon} name="note" />The model did not get it: ${whyNotSent(each.reason)}</p>`)}
        </li>`)}
    </ul>`;
}

function File({ file }) {
  const [broken, setBroken] = useState(false);
  const source = address(path`/api/bot/attachments/${file.id}`);
  const picture = file.preview ?? (file.contentType?.startsWith("image/") && file.size < SHOWN ? source : null);
  return html`
    <a class="file" href=${source} download=${file.filename} title="Download ${file.filename}">
      ${picture && !broken
        ? html`<img src=${picture} alt="" loading="lazy" onError=${() => setBroken(true)} />`
        : html`<${Icon} name=${iconOf(file.filename)} />`}
      <bdi class="clipped">${file.filename}</bdi>
      <small>${size(file.size)}</small>
    </a>`;
}
