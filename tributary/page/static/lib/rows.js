/** A list that is one stop of the tabulator: arrows, Home and End move in it, and Tab goes on to what its row can do. */

import { useState } from "./html.js";

/**
 * @param {string} selector of what takes the focus in each row; it carries the row's id as `data-row`
 * @param {string[]} ids of the rows, in their order
 * @param {string | null} [first] the row to begin with
 * @returns {{stop: string | null, onKeyDown: (event: KeyboardEvent) => void, onFocusIn: (event: FocusEvent) => void}}
 *   `stop` is the id of the row whose controls have tabindex 0; the handlers are the list's
 */
export function useRows(selector, ids, first = null) {
  const [visited, setVisited] = useState(/** @type {string | null} */ (null));
  const stop = [visited, first].find((id) => id && ids.includes(id)) ?? ids[0] ?? null;
  const onFocusIn = (/** @type {any} */ event) => {
    const row = event.target.closest("li")?.querySelector(selector);
    if (row) setVisited(row.dataset.row);
  };
  const onKeyDown = (/** @type {any} */ event) => {
    if (event.target.matches("input, textarea, select") || event.altKey || event.ctrlKey || event.metaKey) return;
    const rows = [...event.currentTarget.querySelectorAll(selector)];
    const at = rows.findIndex((row) => row.closest("li").contains(event.target));
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key];
    if (at < 0 || to === undefined || !rows[to]) return;
    event.preventDefault();
    rows[to].focus();
  };
  return { stop, onKeyDown, onFocusIn };
}
