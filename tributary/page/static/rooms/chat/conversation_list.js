/** The list of conversations: to search, rename and delete. */

import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../../lib/html.js";
import { moment, when } from "../../lib/format.js";
import { go, href } from "../../lib/router.js";
import { useRows } from "../../lib/rows.js";
import { complain, telling } from "../../lib/toasts.js";
import { IconButton } from "../../parts/button.js";
import { confirmed } from "../../parts/dialog.js";
import { Icon } from "../../parts/icon.js";
import { conversations, loadAll, loadConversations, loadOlder, older, remove, rename } from "./conversations.js";
import { forget } from "./places.js";

/** As many are drawn at once. */
const STEP = 100;

/** @param {{parts: string[]}} props */
export function ConversationList({ parts: [current] }) {
  const [sought, setSought] = useState("");
  const [shown, setShown] = useState(STEP);
  useEffect(() => {
    if (!conversations.value) loadConversations().catch(complain);
  }, []);
  const search = (/** @type {string} */ text) => {
    setSought(text);
    setShown(STEP);
    if (text && older.value) loadAll().catch(complain);
  };
  const found = useMemo(() => filtered(conversations.value, sought), [conversations.value, sought]);
  const drawn = found.slice(0, shown);
  const rows = useRows("a", drawn.map((each) => each.id), current);
  const more = telling(async () => {
    if (found.length <= shown && older.value) await loadOlder();
    setShown(shown + STEP);
  });
  return html`
    <div class="list-head">
      <a class="new" href=${href("chat")}><${Icon} name="plus" />New conversation</a>
      <label class="search">
        <${Icon} name="search" />
        <input type="search" placeholder="Search conversations" aria-label="Search conversations" value=${sought}
          onInput=${(event) => search(event.target.value)} />
      </label>
    </div>
    <nav class="conversations" aria-label="Conversations">
      <ul onKeyDown=${rows.onKeyDown} onFocusIn=${rows.onFocusIn}>
        ${drawn.map((each) => html`<${Row} key=${each.id} conversation=${each} current=${each.id === current} stop=${each.id === rows.stop} />`)}
      </ul>
      ${conversations.value && !found.length && html`<p class="hint">${sought ? "None has that in its title" : "None yet: ask something, and it stands here"}</p>`}
      ${(older.value || found.length > shown) && html`<button type="button" class="plain" onClick=${more}>Show older ones</button>`}
    </nav>`;
}

function filtered(/** @type {any[] | null} */ all, /** @type {string} */ sought) {
  const words = sought.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  return (all ?? []).filter((each) => words.every((word) => each.title.toLocaleLowerCase().includes(word)));
}

function Row({ conversation, current, stop }) {
  const [editing, setEditing] = useState(false);
  const link = useRef(/** @type {HTMLElement | null} */ (null));
  const ended = () => {
    setEditing(false);
    // The field that had the focus is gone with the renaming.
    requestAnimationFrame(() => document.activeElement === document.body && link.current?.focus());
  };
  if (editing) return html`<${Renaming} conversation=${conversation} onEnd=${ended} />`;
  const tabindex = stop ? 0 : -1;
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "F2") setEditing(true);
    if (event.key === "Delete") telling(() => removeIt(conversation, current, link.current))();
  };
  return html`
    <li class=${current ? "current" : ""}>
      <a ref=${link} href=${href("chat", conversation.id)} aria-current=${current ? "page" : undefined} data-row=${conversation.id}
        tabindex=${tabindex} title="${conversation.title}\n${moment(conversation.createdAt)}" onKeyDown=${onKeyDown}
        aria-keyshortcuts="F2 Delete">
        <bdi class="clipped">${conversation.title}</bdi>
        ${conversation.running && html`<span class="running-mark" title="An answer is being written"><span class="visually-hidden">An answer is being written</span></span>`}
        <time dateTime=${conversation.createdAt}>${when(conversation.createdAt)}</time>
      </a>
      <span class="row-actions">
        <${IconButton} icon="edit" label="Rename ${conversation.title}" tabindex=${tabindex} onClick=${() => setEditing(true)} />
        <${IconButton} icon="delete" label="Delete ${conversation.title}" tabindex=${tabindex}
          onClick=${telling(() => removeIt(conversation, current, link.current))} />
      </span>
    </li>`;
}

async function removeIt(/** @type {any} */ conversation, /** @type {boolean} */ current, /** @type {HTMLElement} */ link) {
  const text = `“${conversation.title}” goes with its messages and their files.`;
  if (!(await confirmed({ title: "Delete this conversation?", text, action: "Delete" }))) return;
  const row = link.closest("li");
  const next = row?.nextElementSibling ?? row?.previousElementSibling;
  await remove(conversation.id);
  forget(conversation.id);
  if (current) go("chat");
  else /** @type {HTMLElement} */ (next?.querySelector("a") ?? document.querySelector("a.new"))?.focus();
}

function Renaming({ conversation, onEnd }) {
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  // Before the next key: an effect after painting would lose the first letters of who types at once.
  useLayoutEffect(() => {
    input.current.focus();
    input.current.select();
  }, []);
  const ended = useRef(false);
  const save = telling(async (/** @type {Event} */ event) => {
    event.preventDefault();
    // Leaving the field saves; and what was saved or given up leaves the field.
    if (ended.current) return;
    ended.current = true;
    const title = input.current.value.trim();
    try {
      if (title && title !== conversation.title) await rename(conversation.id, title);
    } finally {
      onEnd();
    }
  });
  const giveUp = (/** @type {Event} */ event) => {
    event.stopPropagation();
    ended.current = true;
    onEnd();
  };
  return html`
    <li>
      <form onSubmit=${save}>
        <input ref=${input} aria-label="Title" maxlength="300" value=${conversation.title} onBlur=${save}
          onKeyDown=${(event) => event.key === "Escape" && giveUp(event)} />
      </form>
    </li>`;
}
