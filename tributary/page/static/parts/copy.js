/** To the clipboard. */

import { say } from "../lib/toasts.js";

/** @param {string} text */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    say("Copied");
  } catch {
    say("This browser lets nothing be copied here: mark the text and copy it yourself", "error");
  }
}
