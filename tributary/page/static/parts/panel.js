/** The panel beside a room, or over it on a narrow screen. */

import { html, useLayoutEffect, useRef } from "../lib/html.js";
import { closePanel, panel } from "../lib/panel.js";
import { IconButton } from "./button.js";

export function SidePanel() {
  const heading = useRef(/** @type {HTMLElement | null} */ (null));
  const shown = panel.value;
  useLayoutEffect(() => heading.current?.focus(), [shown?.key]);
  if (!shown) return null;
  const Content = shown.content;
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => event.key === "Escape" && closePanel();
  return html`
    <aside class="panel" aria-label=${shown.title} onKeyDown=${onKeyDown}>
      <header>
        <h2 ref=${heading} tabindex="-1" dir="auto">${shown.title}</h2>
        <${IconButton} icon="close" label="Close panel" onClick=${closePanel} />
      </header>
      <div class="panel-content" tabindex="0" role="group" aria-label="Content"><${Content} key=${shown.key} /></div>
    </aside>`;
}
