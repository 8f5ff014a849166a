/** A passage amid the text that it stands in. */

import { html, useLayoutEffect, useRef } from "../../lib/html.js";

/**
 * @param {{passage: {before: string, passage: string, after: string, cutBefore: boolean, cutAfter: boolean}, still: boolean}} props
 *   `still`: a picture comes first, and the panel stays at it
 */
export function Passage({ passage, still }) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const mark = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => {
    // Within its box only: the panel itself keeps its place.
    box.current.scrollTop = mark.current.offsetTop - box.current.offsetTop - box.current.clientHeight / 4;
  }, [passage]);
  return html`
    <section aria-label="Text">
      ${still && html`<h3>Text</h3>`}
      <div class="surroundings ${still ? "small" : ""}" ref=${box} tabindex="0" role="group" aria-label="The text around the passage" dir="auto">
        ${passage.cutBefore && "… "}${passage.before}<mark ref=${mark}>${passage.passage}</mark>${passage.after}${passage.cutAfter && " …"}
      </div>
    </section>`;
}
