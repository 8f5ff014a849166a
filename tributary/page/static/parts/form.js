/** What forms are made of. */

import { html, useId } from "../lib/html.js";

/** @param {{label: string, hint?: string, children: (id: string) => any}} props `children` draws the input of that id */
export function Field({ label, hint = "", children }) {
  const id = useId();
  return html`<div class="field"><label for=${id}>${label}</label>${children(id)}${hint && html`<small>${hint}</small>`}</div>`;
}

/**
 * The end of a form in a dialog: what is wrong with it, and the ways out.
 * @param {{busy: boolean, problem: string, onCancel: () => void, children?: any}} props `children` stand before the ways out
 */
export function FormEnd({ busy, problem, onCancel, children }) {
  return html`
    ${problem && html`<p class="notice error" role="alert" dir="auto">${problem}</p>`}
    <footer>
      ${children}
      <span class="space"></span>
      <button type="button" onClick=${onCancel}>Cancel</button>
      <button class="primary" disabled=${busy}>${busy ? "Saving…" : "Save"}</button>
    </footer>`;
}
