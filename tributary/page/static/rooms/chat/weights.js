/** How much each term counts in the score of a passage. */

import { html, useId } from "../../lib/html.js";

const TERMS = { vector: "Meaning", text: "Words", importance: "Importance of the document" };

/** @param {{weights: Record<string, number>, onChange: (weights: any) => void}} props each from 0 to 1 */
export function Weights({ weights, onChange }) {
  const id = useId();
  const sum = Object.values(weights).reduce((all, each) => all + each, 0);
  return html`
    <fieldset class="field weights" aria-describedby=${id}>
      <legend>Weights of the ranking</legend>
      ${Object.entries(TERMS).map(([term, name]) => html`
        <label key=${term}>
          <span>${name}</span>
          <input type="range" min="0" max="1" step="0.05" value=${weights[term]}
            onInput=${(event) => onChange({ ...weights, [term]: Number(event.target.value) })} />
          <output>${weights[term].toFixed(2)}</output>
        </label>`)}
      <small id=${id}>${Math.abs(sum - 1) > 0.001 ? `They add up to ${sum.toFixed(2)}; with 1 a score is a percentage` : "They add up to 1"}</small>
    </fieldset>`;
}
