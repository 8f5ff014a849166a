/** What this browser keeps between visits. Where it may keep nothing, nothing is kept, and all goes on. */

const PREFIX = "tributary:";

/** @param {string} key @returns {string | null} */
export function recall(key) {
  try {
    return localStorage.getItem(PREFIX + key);
  } catch {
    return null;
  }
}

/** @param {string} key @param {string | null} value null forgets */
export function remember(key, value) {
  try {
    if (value === null || value === "") localStorage.removeItem(PREFIX + key);
    else localStorage.setItem(PREFIX + key, value);
  } catch {
    // A browser that keeps nothing (private windows, full disks) is no failure.
  }
}
