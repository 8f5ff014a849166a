/** Files on their way to the server: each its own request, so that each has its own progress and its own fate. */

import { pause } from "./events.js";
import { computed, signal } from "./html.js";
import { session } from "./session.js";
import { upload } from "./upload.js";

/**
 * @typedef {{key: number, name: string, size: number, state: "waiting" | "uploading" | "ready" | "refused", part: number,
 *            reason?: string, wait?: number, preview?: string, claim?: {id: string, accessToken?: string},
 *            abort?: AbortController}} Entry
 *   `part` goes from 0 to 1; `wait` are seconds that the server asks to wait
 * @typedef {{onProgress: (part: number) => void, onWait: (seconds: number) => void, signal: AbortSignal,
 *            wanted: () => boolean}} Told `wanted`: whether it is still on the list
 * @typedef {(file: File, told: Told) => Promise<Partial<Entry> | null>} Send what becomes of the entry; null: it leaves
 */

/** What a file may have where the server has not said yet what it takes. */
const LIMITS = { most: 5, maxBytes: 50 * 2 ** 20 };
/** A browser has six connections to a server; answers and changes take two, and calls must find one free. */
const AT_ONCE = 3;
/** How often a server that says "later" is asked again, and how many seconds later is no answer any more. */
const PATIENCE = 20;
const TOO_LONG = 120;
let last = 0;

export const fileLimits = () => session.peek()?.attachments ?? LIMITS;

export class UploadQueue {
  constructor(/** @type {Send} */ send) {
    /** @type {import("./html.js").Signal<Entry[]>} */
    this.files = signal([]);
    this.ready = computed(() => this.files.value.filter((file) => file.state === "ready"));
    this.busy = computed(() => this.files.value.some((file) => file.state === "waiting" || file.state === "uploading"));
    this.send = send;
    /** @type {{key: number, file: File}[]} */
    this.queue = [];
    this.active = 0;
  }

  /**
   * Takes files in, in their order.
   * @param {Iterable<File>} files
   * @param {{objection: (file: File, key: number) => Promise<string | null> | string | null,
   *          preview?: (file: File) => string | undefined}} options `objection` says why a file is not even sent
   */
  async add(files, { objection, preview }) {
    const added = [...files].map((file) => ({ key: (last += 1), file }));
    const entries = added.map(({ key, file }) => /** @type {Entry} */ ({
      key, name: file.name, size: file.size, state: "waiting", part: 0, preview: preview?.(file),
    }));
    this.files.value = [...this.files.value, ...entries];
    for (const each of added) {
      const reason = await objection(each.file, each.key);
      if (reason) this.change(each.key, { state: "refused", reason });
      else this.queue.push(each);
    }
    this.next();
  }

  /** What is there already. @param {Omit<Entry, "key">} entry */
  put(entry) {
    this.files.value = [...this.files.value, { key: (last += 1), ...entry }];
  }

  has(/** @type {number} */ key) {
    return this.files.value.some((each) => each.key === key);
  }

  change(/** @type {number} */ key, /** @type {Partial<Entry>} */ change) {
    this.files.value = this.files.value.map((file) => (file.key === key ? { ...file, ...change } : file));
  }

  /** Takes a file off the list; one on its way is given up. @returns {Entry | undefined} */
  forget(/** @type {number} */ key) {
    const file = this.files.value.find((each) => each.key === key);
    this.files.value = this.files.value.filter((each) => each.key !== key);
    if (file) letGo(file);
    return file;
  }

  /** Takes all of a state off the list, or all. @param {Entry["state"]} [state] */
  clear(state) {
    const going = this.files.value.filter((file) => !state || file.state === state);
    this.files.value = this.files.value.filter((file) => !going.includes(file));
    going.forEach(letGo);
  }

  /** Returns when every file is there or refused. @returns {Promise<void>} */
  settled() {
    return new Promise((resolve) => {
      const stop = this.busy.subscribe((busy) => {
        if (busy) return;
        resolve();
        queueMicrotask(() => stop());
      });
    });
  }

  next() {
    while (this.active < AT_ONCE && this.queue.length) {
      const { key, file } = this.queue.shift();
      if (!this.has(key)) continue;
      this.active += 1;
      this.sendOne(key, file).finally(() => {
        this.active -= 1;
        this.next();
      });
    }
  }

  async sendOne(/** @type {number} */ key, /** @type {File} */ file) {
    const abort = new AbortController();
    this.change(key, { state: "uploading", abort });
    const told = {
      onProgress: (/** @type {number} */ part) => this.change(key, { part, wait: undefined }),
      onWait: (/** @type {number} */ wait) => this.change(key, { wait, part: 0 }),
      signal: abort.signal,
      wanted: () => this.has(key),
    };
    try {
      const become = await this.send(file, told);
      if (become) this.change(key, { state: "ready", part: 1, ...become });
      else this.forget(key);
    } catch (error) {
      if (error.name !== "AbortError") this.change(key, { state: "refused", reason: error.detail ?? String(error) });
    }
  }
}

function letGo(/** @type {Entry} */ file) {
  // One that was sent whole is the server's by now.
  if (file.part < 1) file.abort?.abort();
  if (file.preview) URL.revokeObjectURL(file.preview);
}

/**
 * Sends one file in a form, and waits where the server asks for it, since it is sent too much at once.
 * @param {string} method
 * @param {string} path
 * @param {File} file
 * @param {Partial<Told>} [told]
 * @returns {Promise<any>}
 */
export async function sendFile(method, path, file, { onProgress, onWait, signal: given } = {}) {
  for (let attempt = 1; ; attempt += 1) {
    const form = new FormData();
    form.append("files", file, file.name);
    try {
      return await upload(method, path, form, { onProgress, signal: given });
    } catch (error) {
      const seconds = Number(error.body?.retryAfter) || 2;
      if (error.code !== "rate_limited" || attempt >= PATIENCE || seconds > TOO_LONG) throw error;
      onWait?.(seconds);
      await pause(seconds * 1000, given);
      if (given?.aborted) throw new DOMException("Aborted", "AbortError");
    }
  }
}
