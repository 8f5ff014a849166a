/** Short messages that anybody may show; `parts/toasts.js` draws them. */

import { signal } from "./html.js";

/** @typedef {{id: number, text: string, kind: "error" | "note"}} Toast */

/** @type {import("./html.js").Signal<Toast[]>} */
export const toasts = signal([]);

const SECONDS = { error: 12, note: 5 };
let last = 0;

/** @param {string} text @param {"error" | "note"} [kind] */
export function say(text, kind = "note") {
  const id = (last += 1);
  toasts.value = [...toasts.value.filter((toast) => toast.text !== text).slice(-3), { id, text, kind }];
  setTimeout(() => dismiss(id), SECONDS[kind] * 1000);
}

export function dismiss(/** @type {number} */ id) {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}

/** Tells of what failed; what was given up on purpose is no failure. */
export function complain(/** @type {any} */ error) {
  if (error?.name === "AbortError" || error?.status === 401) return;
  if (!error?.detail) console.error(error);
  say(error?.detail || "Something failed in this page; reload it", "error");
}

/** The function, with its failures told: onClick=${telling(async () => …)}. */
export const telling =
  (/** @type {(...given: any[]) => any} */ work) =>
  async (/** @type {any[]} */ ...given) => {
    try {
      return await work(...given);
    } catch (error) {
      complain(error);
      return undefined;
    }
  };
