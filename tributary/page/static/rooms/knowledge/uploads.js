/** Files on their way into a knowledge base: each its own request, so that each has its own progress and its own fate. */

import { signal } from "../../lib/html.js";
import { session } from "../../lib/session.js";
import { upload } from "../../lib/upload.js";

/** @typedef {{key: number, name: string, size: number, state: "waiting" | "uploading" | "taken" | "refused", part: number,
 *             reason?: string, abort?: AbortController}} Upload */

/** A browser has six connections to a server; calls must find one free. */
const AT_ONCE = 3;
/** How often a server that says "later" is asked again. */
const PATIENCE = 20;
const MAX_BYTES = 50 * 2 ** 20;
let last = 0;

export class Uploads {
  constructor(/** @type {import("./documents.js").Documents} */ documents) {
    this.documents = documents;
    /** @type {import("../../lib/html.js").Signal<Upload[]>} those that are taken leave the list */
    this.files = signal([]);
    /** @type {{key: number, file: File}[]} */
    this.queue = [];
    this.active = 0;
  }

  /** @param {Iterable<File>} files */
  add(files) {
    const most = session.value?.attachments?.maxBytes ?? MAX_BYTES;
    const added = [];
    for (const file of files) {
      const key = (last += 1);
      const reason = objection(file, most);
      added.push({ key, name: file.name, size: file.size, state: reason ? "refused" : "waiting", part: 0, reason });
      if (!reason) this.queue.push({ key, file });
    }
    this.files.value = [...this.files.value, ...added];
    this.next();
  }

  next() {
    while (this.active < AT_ONCE && this.queue.length) {
      const { key, file } = this.queue.shift();
      this.active += 1;
      this.send(key, file).finally(() => {
        this.active -= 1;
        this.next();
      });
    }
  }

  async send(/** @type {number} */ key, /** @type {File} */ file) {
    const abort = new AbortController();
    this.change(key, { state: "uploading", abort });
    const onProgress = (/** @type {number} */ part) => this.change(key, { part });
    try {
      const sent = await patiently("POST", this.documents.path, file, { onProgress, signal: abort.signal });
      this.forget(key);
      await Promise.all(sent.documents.map((each) => this.documents.refresh(each.id)));
    } catch (error) {
      if (error.name !== "AbortError") this.change(key, { state: "refused", reason: error.detail ?? String(error) });
    }
  }

  change(/** @type {number} */ key, /** @type {Partial<Upload>} */ change) {
    this.files.value = this.files.value.map((file) => (file.key === key ? { ...file, ...change } : file));
  }

  /** Takes a file off the list; one on its way is given up. */
  forget(/** @type {number} */ key) {
    this.queue = this.queue.filter((each) => each.key !== key);
    const file = this.files.value.find((each) => each.key === key);
    this.files.value = this.files.value.filter((each) => each.key !== key);
    if (file?.state === "uploading" && file.part < 1) file.abort?.abort();
  }

  forgetRefused() {
    this.files.value = this.files.value.filter((file) => file.state !== "refused");
  }
}

function objection(/** @type {File} */ file, /** @type {number} */ most) {
  if (file.size === 0) return "The file is empty";
  return file.size > most ? `The file is larger than ${Math.round(most / 2 ** 20)} MB` : undefined;
}

/**
 * Sends one file, and waits as long as the server asks where it is sent too much at once.
 * @param {string} method
 * @param {string} path
 * @param {File} file
 * @param {{onProgress?: (part: number) => void, signal?: AbortSignal}} options
 */
export async function patiently(method, path, file, options) {
  for (let attempt = 1; ; attempt += 1) {
    const form = new FormData();
    form.append("files", file, file.name);
    try {
      return await upload(method, path, form, options);
    } catch (error) {
      if (error.status !== 429 || attempt >= PATIENCE) throw error;
      const seconds = Math.min(Number(error.body.retryAfter) || 2, 60);
      await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
      if (options.signal?.aborted) throw new DOMException("Aborted", "AbortError");
    }
  }
}
