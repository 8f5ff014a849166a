/** Looking again, so that several browsers see the same: while somebody looks, and at once when they come back. */

import { useEffect } from "./html.js";

/**
 * @param {() => unknown} look
 * @param {{seconds: number, when?: unknown[]}} options runs anew when one of `when` changes
 */
export function useLookAgain(look, { seconds, when = [] }) {
  useEffect(() => {
    const seen = () => document.visibilityState === "visible" && look();
    const timer = setInterval(seen, seconds * 1000);
    addEventListener("focus", seen);
    document.addEventListener("visibilitychange", seen);
    return () => {
      clearInterval(timer);
      removeEventListener("focus", seen);
      document.removeEventListener("visibilitychange", seen);
    };
  }, when);
}
