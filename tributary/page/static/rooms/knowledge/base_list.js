/** The list of knowledge bases beside the room. */

import { html, useEffect, useState } from "../../lib/html.js";
import { count } from "../../lib/format.js";
import { href } from "../../lib/router.js";
import { useRows } from "../../lib/rows.js";
import { mayManage } from "../../lib/session.js";
import { complain } from "../../lib/toasts.js";
import { Icon } from "../../parts/icon.js";
import { BaseForm } from "./base_form.js";
import { bases, loadBases } from "./bases.js";

/** @param {{parts: string[]}} props */
export function BaseList({ parts: [current] }) {
  const [making, setMaking] = useState(false);
  const [sought, setSought] = useState("");
  useEffect(() => {
    loadBases().catch(complain);
  }, []);
  const found = (bases.value ?? []).filter((base) => base.name.toLocaleLowerCase().includes(sought.toLocaleLowerCase().trim()));
  const rows = useRows("a", found.map((base) => base.id), current);
  return html`
    <div class="list-head">
      ${mayManage.value && html`
        <button type="button" class="new-base" onClick=${() => setMaking(true)}><${Icon} name="plus" />New knowledge base</button>`}
      <label class="search">
        <${Icon} name="search" />
        <input type="search" placeholder="Find a knowledge base" aria-label="Find a knowledge base" value=${sought}
          onInput=${(event) => setSought(event.target.value)} />
      </label>
    </div>
    <nav class="conversations" aria-label="Knowledge bases">
      <ul onKeyDown=${rows.onKeyDown} onFocusIn=${rows.onFocusIn}>
        ${found.map((base) => html`
          <li key=${base.id} class=${base.id === current ? "current" : ""}>
            <a href=${href("knowledge", base.id)} data-row=${base.id} tabindex=${base.id === rows.stop ? 0 : -1} aria-current=${base.id === current ? "page" : undefined} title=${base.name}>
              <bdi class="clipped">${base.name}</bdi>
              <small class="quiet"><span aria-hidden="true">${count(base.documentCount)}</span>
                <span class="visually-hidden">${count(base.documentCount)} ${base.documentCount === 1 ? "document" : "documents"}</span></small>
            </a>
          </li>`)}
      </ul>
      ${bases.value && !found.length && html`<p class="hint">${sought ? "None has that in its name" : "None yet"}</p>`}
    </nav>
    ${making && html`<${BaseForm} base=${null} onClose=${() => setMaking(false)} />`}`;
}
