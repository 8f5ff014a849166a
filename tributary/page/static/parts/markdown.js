/** A text in Markdown, whole or as it comes. */

import { html, useEffect, useRef } from "../lib/html.js";
import { LiveMarkdown } from "../markdown/live.js";
import { copy } from "./copy.js";

/** A drawing waits this many times as long as the last one took, so that typing and scrolling come first. */
const REST = 3;

/**
 * @param {{text: import("../lib/html.js").ReadonlySignal<string> | string, numbers: number[],
 *          onCite?: (number: number) => void, onDrawn?: () => void}} props
 *   `text` as a signal is drawn as it changes, at most once a frame
 */
export function Markdown({ text, numbers, onCite, onDrawn }) {
  const element = useRef(/** @type {HTMLElement | null} */ (null));
  const live = useRef(/** @type {LiveMarkdown | null} */ (null));
  const known = numbers.join();
  useEffect(() => {
    live.current ??= new LiveMarkdown(element.current);
    live.current.cite(numbers);
    return typeof text === "string" ? drawOnce(live.current, text, onDrawn) : drawAsItComes(live.current, text, onDrawn);
  }, [text, known]);
  const onClick = (/** @type {MouseEvent} */ event) => {
    const button = /** @type {HTMLElement} */ (event.target).closest("button");
    if (button?.matches(".citation")) onCite?.(Number(button.dataset.number));
    if (button?.matches(".copy")) copy(button.nextElementSibling.textContent);
  };
  return html`<div class="prose" ref=${element} onClick=${onClick}></div>`;
}

function drawOnce(/** @type {LiveMarkdown} */ live, /** @type {string} */ text, /** @type {(() => void) | undefined} */ onDrawn) {
  live.show(text);
  onDrawn?.();
}

function drawAsItComes(/** @type {LiveMarkdown} */ live, text, /** @type {(() => void) | undefined} */ onDrawn) {
  let waiting = 0;
  let rested = 0;
  const draw = (/** @type {number} */ now) => {
    waiting = 0;
    if (now < rested) {
      waiting = requestAnimationFrame(draw);
      return;
    }
    const began = performance.now();
    live.show(text.peek());
    rested = performance.now() + (performance.now() - began) * REST;
    onDrawn?.();
  };
  const stop = text.subscribe(() => (waiting ||= requestAnimationFrame(draw)));
  return () => {
    stop();
    cancelAnimationFrame(waiting);
  };
}
