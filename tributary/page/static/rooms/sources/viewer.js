/** A source of an answer: its place in its document, how it was found, and the way to its neighbours. */

import { html, useEffect, useState } from "../../lib/html.js";
import { titlePanel } from "../../lib/panel.js";
import { complain } from "../../lib/toasts.js";
import { IconButton } from "../../parts/button.js";
import { Icon } from "../../parts/icon.js";
import { Facts } from "./facts.js";
import { findSource } from "./load.js";
import { PagePicture } from "./page_picture.js";
import { Passage } from "./passage.js";
import { Scores } from "./scores.js";
import { titleOf } from "./source.js";

/** @param {{shown: import("../../lib/html.js").Signal<{message: any, number: number}>}} props */
export function Viewer({ shown }) {
  const { message, number } = shown.value;
  const at = message.sources.findIndex((each) => each.number === number);
  const source = message.sources[at];
  const go = (/** @type {number} */ step) => {
    const next = message.sources[at + step];
    // The buttons are never disabled as such: at the last source the focus would be lost, and Escape with it.
    if (!next) return;
    shown.value = { message, number: next.number };
    titlePanel(titleOf(next));
  };
  return html`
    <div class="record">
      <nav class="source-steps" aria-label="Sources of the answer">
        <${IconButton} icon="back" label="Previous source" aria-disabled=${at === 0} onClick=${() => go(-1)} />
        <span role="status">Source ${at + 1} of ${message.sources.length}${source.cited === false ? ", not cited" : ""}</span>
        <${IconButton} icon="next" label="Next source" aria-disabled=${at === message.sources.length - 1} onClick=${() => go(1)} />
      </nav>
      <${Place} key=${source.chunkId} source=${source} />
      <${Scores} source=${source} />
      <${Facts} key=${`${message.id} ${source.chunkId}`} message=${message} source=${source} />
    </div>`;
}

const LOST = {
  gone: "The document was deleted since. This is the beginning of the passage, as the answer kept it.",
  changed: "The document has changed since. This is the beginning of the passage, as the answer kept it.",
};

function Place({ source }) {
  const [found, setFound] = useState(/** @type {import("./load.js").Found | null} */ (null));
  useEffect(() => {
    let left = false;
    findSource(source).then((here) => left || setFound(here), complain);
    return () => (left = true);
  }, [source.chunkId]);
  if (found === null) return html`<p class="passage" dir="auto">${source.text}</p>`;
  if (found.state !== "here") {
    return html`
      <p class="notice" role="note"><${Icon} name="note" /><span>${LOST[found.state]}</span></p>
      <p class="passage" dir="auto">${source.text}</p>`;
  }
  const pictured = found.kind !== "text";
  return html`
    ${pictured && html`<${PagePicture} source=${source} marked=${found.kind === "pdf"} />`}
    ${found.passage
      ? html`<${Passage} passage=${found.passage} still=${pictured} />`
      : html`<p class="passage" dir="auto">${source.text}</p>`}`;
}
