/** Where the page is: `#/room/part/part?query`. In the hash, so that no address of the page is one of the server's. */

import { signal } from "./html.js";

/** @typedef {{room: string, parts: string[], query: URLSearchParams}} Route */

export const HOME = "chat";

/** @returns {Route} */
function read() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  const [room, ...parts] = path.split("/").filter(Boolean).map(decoded);
  return { room: room || HOME, parts, query: new URLSearchParams(query) };
}

function decoded(/** @type {string} */ part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export const route = signal(read());
addEventListener("hashchange", () => (route.value = read()));

/** The address of a place in the page: href("chat", conversation.id). */
export const href = (/** @type {string[]} */ ...parts) => `#/${parts.map(encodeURIComponent).join("/")}`;

/** Goes there. */
export function go(/** @type {string[]} */ ...parts) {
  location.hash = href(...parts);
}

/** Goes there without a step in the history. */
export function goInstead(/** @type {string[]} */ ...parts) {
  history.replaceState(null, "", href(...parts));
  route.value = read();
}
