/** Buttons. */

import { html } from "../lib/html.js";
import { Icon } from "./icon.js";

/**
 * A button that shows an icon only; its name is said to screen readers and shown as a hint.
 * @param {{icon: string, label: string} & Record<string, unknown>} props others go to the element
 */
export function IconButton({ icon, label, class: more = "", ...others }) {
  return html`
    <button type="button" class="icon-button ${more}" aria-label=${label} title=${label} ...${others}>
      <${Icon} name=${icon} />
    </button>`;
}
