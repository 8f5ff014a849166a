/** Short messages in the corner, read out as they come. */

import { html } from "../lib/html.js";
import { dismiss, toasts } from "../lib/toasts.js";
import { IconButton } from "./button.js";

export function Toasts() {
  return html`
    <section class="toasts" aria-label="Messages" aria-live="polite" aria-relevant="additions">
      ${toasts.value.map(
        (toast) => html`
          <div key=${toast.id} class="toast ${toast.kind}" role=${toast.kind === "error" ? "alert" : undefined}>
            <p dir="auto">${toast.text}</p>
            <${IconButton} icon="close" label="Dismiss" onClick=${() => dismiss(toast.id)} />
          </div>`,
      )}
    </section>`;
}
