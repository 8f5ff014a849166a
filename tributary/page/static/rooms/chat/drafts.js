/** Files that will go with the next question: checked, uploaded one by one, each with its own fate. */

import { api, path } from "../../lib/api.js";
import { computed, signal } from "../../lib/html.js";
import { session } from "../../lib/session.js";
import { upload } from "../../lib/upload.js";
import { objection } from "./kinds.js";

/**
 * @typedef {{key: number, name: string, size: number, state: "waiting" | "uploading" | "ready" | "refused", part: number,
 *            reason?: string, preview?: string, claim?: {id: string, accessToken?: string}, abort?: AbortController}} Draft
 */

const LIMITS = { most: 5, maxBytes: 50 * 2 ** 20 };
/** A browser has six connections to a server; an answer may take one, and calls must find one free. */
const AT_ONCE = 3;
let last = 0;

export class Drafts {
  constructor() {
    /** @type {import("../../lib/html.js").Signal<Draft[]>} */
    this.files = signal([]);
    this.ready = computed(() => this.files.value.filter((file) => file.state === "ready"));
    this.busy = computed(() => this.files.value.some((file) => file.state === "waiting" || file.state === "uploading"));
    /** @type {{key: number, file: File}[]} */
    this.queue = [];
    this.active = 0;
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

  get limits() {
    return session.value?.attachments ?? LIMITS;
  }

  /** @param {Iterable<File>} files */
  async add(files) {
    for (const file of files) {
      const key = (last += 1);
      const preview = file.type.startsWith("image/") ? URL.createObjectURL(file) : undefined;
      this.put({ key, name: file.name, size: file.size, state: "waiting", part: 0, preview });
      const reason = this.crowded(key) ?? (await objection(file, this.limits));
      if (reason) this.change(key, { state: "refused", reason });
      else this.queue.push({ key, file });
    }
    this.next();
  }

  /** Files that were sent before go again by their id alone. @param {{id: string, filename: string, size: number}[]} files */
  take(files) {
    for (const { id, filename, size } of files) {
      this.put({ key: (last += 1), name: filename, size, state: "ready", part: 1, claim: { id } });
    }
  }

  crowded(/** @type {number} */ key) {
    const kept = this.files.value.filter((file) => file.state !== "refused");
    return kept.findIndex((file) => file.key === key) >= this.limits.most
      ? `A message takes at most ${this.limits.most} files`
      : null;
  }

  next() {
    while (this.active < AT_ONCE && this.queue.length) {
      const { key, file } = this.queue.shift();
      if (!this.files.value.some((each) => each.key === key)) continue;
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
    const form = new FormData();
    form.append("files", file, file.name);
    try {
      const onProgress = (/** @type {number} */ part) => this.change(key, { part });
      const sent = await upload("POST", "/api/bot/attachments/upload", form, { signal: abort.signal, onProgress });
      const claim = { id: sent.id, accessToken: sent.accessToken };
      if (this.files.value.some((each) => each.key === key)) {
        this.change(key, { state: "ready", part: 1, name: sent.filename, claim });
      } else await discard(claim);
    } catch (error) {
      if (error.name !== "AbortError") this.change(key, { state: "refused", reason: error.detail ?? String(error) });
    }
  }

  put(/** @type {Draft} */ file) {
    this.files.value = [...this.files.value, file];
  }

  change(/** @type {number} */ key, /** @type {Partial<Draft>} */ change) {
    this.files.value = this.files.value.map((file) => (file.key === key ? { ...file, ...change } : file));
  }

  /** Takes a file back, on the server too. */
  async remove(/** @type {number} */ key) {
    const file = this.files.value.find((each) => each.key === key);
    this.files.value = this.files.value.filter((each) => each.key !== key);
    file?.abort?.abort();
    if (file?.preview) URL.revokeObjectURL(file.preview);
    if (file?.claim?.accessToken) await discard(file.claim);
  }

  /** Forgets them all: they were sent, or are sent no more. */
  clear() {
    for (const file of this.files.value) {
      file.abort?.abort();
      if (file.preview) URL.revokeObjectURL(file.preview);
    }
    this.files.value = [];
    this.queue = [];
  }
}

/** One that somebody used meanwhile, or that is gone, needs nothing more. */
async function discard(/** @type {{id: string, accessToken?: string}} */ { id, accessToken }) {
  try {
    await api.delete(path`/api/bot/attachments/${id}`, { query: { token: accessToken } });
  } catch (error) {
    if (error.status !== 404 && error.status !== 409) throw error;
  }
}
