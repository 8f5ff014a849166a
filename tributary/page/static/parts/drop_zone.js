/** A place that takes files which are dropped or pasted anywhere in it. */

import { html, useRef, useState } from "../lib/html.js";

/** @param {{onFiles: ((files: File[]) => void) | null, hint: string, class: string, children: any}} props nothing is taken where `onFiles` is null */
export function DropZone({ onFiles, hint, class: name, children }) {
  const [over, setOver] = useState(false);
  // Moving over what is inside leaves and enters all the time.
  const depth = useRef(0);
  const brings = (/** @type {DragEvent} */ event) => onFiles && event.dataTransfer?.types.includes("Files");
  const move = (/** @type {number} */ step) => (/** @type {DragEvent} */ event) => {
    if (!brings(event)) return;
    depth.current = Math.max(0, depth.current + step);
    setOver(depth.current > 0);
  };
  const onDrop = (/** @type {DragEvent} */ event) => {
    event.preventDefault();
    depth.current = 0;
    setOver(false);
    if (onFiles && event.dataTransfer.files.length) onFiles([...event.dataTransfer.files]);
  };
  const onPaste = (/** @type {ClipboardEvent} */ event) => {
    if (!onFiles || !event.clipboardData.files.length) return;
    // From a word processor come the text and a picture of it: the text is meant.
    if (event.clipboardData.types.includes("text/plain")) return;
    event.preventDefault();
    onFiles([...event.clipboardData.files]);
  };
  return html`
    <div class=${name} onDragEnter=${move(1)} onDragLeave=${move(-1)} onDrop=${onDrop} onPaste=${onPaste}>
      ${children}
      ${over && html`<div class="drop-here" aria-hidden="true"><p>Drop files here<small>${hint}</small></p></div>`}
    </div>`;
}
