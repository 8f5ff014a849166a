/** A table of figures, which scrolls by itself where it is wider than its place. */

import { html } from "../lib/html.js";

/**
 * @param {{caption: string, heads: (string | {figure: string})[], rows: any[][], empty?: string}} props
 *   the cells of a head `{figure}` are aligned as figures; the first cell of a row is its head; `empty` is said where
 *   there are no rows
 */
export function Table({ caption, heads, rows, empty = "None" }) {
  if (!rows.length) return html`<p class="hint">${empty}</p>`;
  const figure = (/** @type {number} */ at) => (typeof heads[at] === "string" ? undefined : "figure");
  return html`
    <div class="figures" tabindex="0" role="region" aria-label=${caption}>
      <table>
        <caption class="visually-hidden">${caption}</caption>
        <thead>
          <tr>${heads.map((head, at) => html`<th scope="col" class=${figure(at)}>${typeof head === "string" ? head : head.figure}</th>`)}</tr>
        </thead>
        <tbody>
          ${rows.map((cells) => html`
            <tr>${cells.map((cell, at) => (at === 0
              ? html`<th scope="row" class=${figure(at)}>${cell}</th>`
              : html`<td class=${figure(at)}>${cell}</td>`))}</tr>`)}
        </tbody>
      </table>
    </div>`;
}
