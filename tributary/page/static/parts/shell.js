/** What stands around every room: navigation, the room's own list, the panel, messages. */

import { address } from "../lib/api.js";
import { connected } from "../lib/changes.js";
import { html, signal, useEffect, useErrorBoundary } from "../lib/html.js";
import { href, route } from "../lib/router.js";
import { session } from "../lib/session.js";
import { THEMES, theme } from "../lib/theme.js";
import { complain } from "../lib/toasts.js";
import { ROOMS, roomOf } from "../rooms.js";
import { IconButton } from "./button.js";
import { Confirmation } from "./dialog.js";
import { Icon } from "./icon.js";
import { SidePanel } from "./panel.js";
import { Toasts } from "./toasts.js";

/** Whether the navigation is open, on a narrow screen. */
const menu = signal(false);
/** The modules of rooms that were visited. @type {import("../lib/html.js").Signal<Record<string, any>>} */
const loaded = signal({});

route.subscribe(() => (menu.value = false));

export function Shell() {
  const room = roomOf(route.value.room);
  useEffect(() => {
    document.title = `${room.name} · Tributary`;
    if (loaded.value[room.path]) return;
    room.load().then((module) => (loaded.value = { ...loaded.value, [room.path]: module }), complain);
  }, [room]);
  const { Main, Side } = loaded.value[room.path] ?? {};
  return html`
    <a class="skip" href="#main" onClick=${skip}>Skip to content</a>
    <${TopBar} name=${room.name} />
    <div class="sidebar ${menu.value ? "open" : ""}" id="sidebar"
      onKeyDown=${(event) => event.key === "Escape" && menu.value && closeMenu()}>
      <${Rooms} current=${room.path} />
      <div class="side">${Side && html`<${Side} key=${room.path} ...${route.value} />`}</div>
      <${Foot} />
    </div>
    ${menu.value && html`<div class="veil" onClick=${closeMenu}></div>`}
    <p class="away" role="status" hidden=${connected.value !== false}>The server can't be reached. This page tries again by itself.</p>
    <main id="main" tabindex="-1">
      ${Main ? html`<${Guarded} key=${room.path}><${Main} ...${route.value} /><//>` : html`<p class="waiting">Loading…</p>`}
    </main>
    <${SidePanel} />
    <${Toasts} />
    <${Confirmation} />`;
}

/** Gives the focus back to the button that opened it. */
function closeMenu() {
  menu.value = false;
  /** @type {HTMLElement | null} */ (document.querySelector('[aria-controls="sidebar"]'))?.focus();
}

function openMenu() {
  menu.value = true;
  // It can take the focus only once it is shown.
  requestAnimationFrame(() => requestAnimationFrame(() => /** @type {HTMLElement} */ (document.querySelector("#sidebar a"))?.focus()));
}

function skip(/** @type {Event} */ event) {
  event.preventDefault();
  document.getElementById("main").focus();
}

/** A room that fails takes nothing else along. */
function Guarded({ children }) {
  const [failure, again] = useErrorBoundary((error) => console.error(error));
  if (!failure) return children;
  return html`
    <div class="empty" role="alert">
      <h1>This room failed to show</h1>
      <p>${String(failure?.message ?? failure)}</p>
      <button type="button" onClick=${again}>Show it again</button>
    </div>`;
}

function TopBar({ name }) {
  return html`
    <header class="topbar">
      <${IconButton} icon="menu" label="Menu" aria-expanded=${menu.value} aria-controls="sidebar"
        onClick=${() => (menu.value ? closeMenu() : openMenu())} />
      <span>${name}</span>
    </header>`;
}

function Rooms({ current }) {
  return html`
    <nav class="rooms" aria-label="Rooms">
      <a class="brand" href=${href("chat")}><img src=${new URL("../icon.svg", import.meta.url).href} alt="" />Tributary</a>
      <ul>
        ${ROOMS.map(
          (room) => html`
            <li key=${room.path}>
              <a href=${href(room.path)} aria-current=${room.path === current ? "page" : undefined}>
                <${Icon} name=${room.icon} />${room.name}
              </a>
            </li>`,
        )}
      </ul>
    </nav>`;
}

const NEXT_ICON = { system: "system", light: "light", dark: "dark" };

function Foot() {
  const next = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length];
  return html`
    <footer class="foot">
      <span class="who" dir="auto" title="The organisation that is signed in">${session.value?.organisation ?? ""}</span>
      <${IconButton} icon=${NEXT_ICON[theme.value]} label="Colours: ${theme.value}. Switch to ${next}"
        onClick=${() => (theme.value = next)} />
      <form method="post" action=${address("/sign-out")}>
        <button class="icon-button" aria-label="Sign out" title="Sign out"><${Icon} name="signout" /></button>
      </form>
    </footer>`;
}
