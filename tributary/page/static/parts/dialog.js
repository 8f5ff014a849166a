/** Dialogs: the browser's own, which keep the focus inside and close with Escape. */

import { html, signal, useId, useLayoutEffect, useRef } from "../lib/html.js";
import { IconButton } from "./button.js";

/** @param {{title: string, onClose: () => void, children: any, wide?: boolean}} props */
export function Dialog({ title, onClose, children, wide = false }) {
  const element = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const id = useId();
  // Before the next key, which must not go to what lies below.
  useLayoutEffect(() => {
    const dialog = element.current;
    const before = /** @type {HTMLElement} */ (document.activeElement);
    dialog.showModal();
    return () => {
      dialog.close();
      (before?.isConnected ? before : document.getElementById("main"))?.focus();
    };
  }, []);
  return html`
    <dialog ref=${element} class=${wide ? "dialog wide" : "dialog"} aria-labelledby=${id}
      onCancel=${(event) => (event.preventDefault(), onClose())}>
      <header><h2 id=${id}>${title}</h2><${IconButton} icon="close" label="Close" onClick=${onClose} /></header>
      ${children}
    </dialog>`;
}

/** @type {import("../lib/html.js").Signal<{title: string, text: string, action: string, resolve: (yes: boolean) => void} | null>} */
const question = signal(null);

/**
 * Asks before something is done that can't be undone.
 * @param {{title: string, text: string, action: string}} asked `action` names what is done: "Delete"
 * @returns {Promise<boolean>}
 */
export const confirmed = (asked) => new Promise((resolve) => (question.value = { ...asked, resolve }));

/** Draws what `confirmed` asks; stands once in the page. */
export function Confirmation() {
  const asked = question.value;
  if (!asked) return null;
  const answer = (/** @type {boolean} */ yes) => {
    question.value = null;
    asked.resolve(yes);
  };
  return html`
    <${Dialog} title=${asked.title} onClose=${() => answer(false)}>
      <p>${asked.text}</p>
      <footer>
        <button type="button" autofocus onClick=${() => answer(false)}>Keep</button>
        <button type="button" class="danger" onClick=${() => answer(true)}>${asked.action}</button>
      </footer>
    <//>`;
}
