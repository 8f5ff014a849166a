/** Uploads that say how far they are, which fetch can't. */

import { address, problemOf, unreachable } from "./api.js";

/**
 * Sends a form.
 * @param {string} method
 * @param {string} path
 * @param {FormData} form
 * @param {{onProgress?: (part: number) => void, signal?: AbortSignal}} [options] `part` goes from 0 to 1
 * @returns {Promise<any>} the JSON of the answer; refusals are thrown as problems
 */
export function upload(method, path, form, { onProgress, signal } = {}) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open(method, address(path));
    request.setRequestHeader("Accept", "application/json");
    request.upload.addEventListener("progress", (event) => {
      if (event.lengthComputable) onProgress?.(event.loaded / event.total);
    });
    request.addEventListener("load", () => {
      if (request.status < 300) resolve(JSON.parse(request.responseText));
      else reject(problemOf(request.status, request.responseText));
    });
    request.addEventListener("error", () => reject(unreachable()));
    request.addEventListener("abort", () => reject(new DOMException("Aborted", "AbortError")));
    signal?.addEventListener("abort", () => request.abort(), { once: true });
    request.send(form);
  });
}
