/** The room for knowledge: one knowledge base, beside the list of all. */

import { html, useEffect, useState } from "../../lib/html.js";
import { mayManage } from "../../lib/session.js";
import { complain } from "../../lib/toasts.js";
import { Base } from "./base.js";
import { BaseForm } from "./base_form.js";
import { baseOf, bases, loadBases } from "./bases.js";

export { BaseList as Side } from "./base_list.js";

/** @param {{parts: string[]}} props */
export function Main({ parts: [id, ...rest] }) {
  useEffect(() => {
    if (!bases.value) loadBases().catch(complain);
  }, []);
  const base = baseOf(id ?? null);
  if (base) return html`<${Base} key=${base.id} base=${base} parts=${rest} />`;
  if (!bases.value) return html`<p class="waiting">Loading…</p>`;
  return html`<${Nothing} missing=${Boolean(id)} />`;
}

function Nothing({ missing }) {
  const [making, setMaking] = useState(false);
  return html`
    <div class="empty">
      <h1>${missing ? "This knowledge base is not here" : "Knowledge"}</h1>
      <p>${missing ? "It was deleted, or the address is wrong."
        : "Documents that bots find their answers in. Choose a knowledge base in the list" + (mayManage.value ? ", or make one." : ".")}</p>
      ${mayManage.value && html`<button type="button" class="primary" onClick=${() => setMaking(true)}>Make a knowledge base</button>`}
      ${making && html`<${BaseForm} base=${null} onClose=${() => setMaking(false)} />`}
    </div>`;
}
