/** Starts the page. */

import { listen } from "./lib/changes.js";
import { html, render } from "./lib/html.js";
import { loadSession } from "./lib/session.js";
import { complain } from "./lib/toasts.js";
import { Shell } from "./parts/shell.js";

// A file that is dropped beside its place would otherwise take the page's.
for (const kind of ["dragover", "drop"]) addEventListener(kind, (event) => event.preventDefault());

const root = document.getElementById("app");
// What stood there until now was drawn without us.
root.replaceChildren();
render(html`<${Shell} />`, root);
loadSession().catch(complain);
listen();
