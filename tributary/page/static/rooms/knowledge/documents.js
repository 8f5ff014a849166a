/** The documents of one knowledge base, and how far each is. */

import { all, api, path } from "../../lib/api.js";
import { computed, signal } from "../../lib/html.js";

/** @typedef {{id: string, filename: string, title: string, contentType: string, size: number, type: string,
 *             status: "queued" | "processing" | "ready" | "failed", stage: string, progress: number, importance: number,
 *             error: {code: string, detail: string} | null, summary: string, topics: string[], createdAt: string,
 *             updatedAt: string}} Document */

export const isWorking = (/** @type {Document} */ document) => document.status === "queued" || document.status === "processing";

/** Above as many that ended at once, the list is asked for instead of each. */
const MANY = 8;

/**
 * One request for those in work tells how far all of them are; a stream for each would take the browser's six
 * connections with six documents.
 */
export class Documents {
  constructor(/** @type {string} */ baseId) {
    this.baseId = baseId;
    /** @type {import("../../lib/html.js").Signal<Document[] | null>} oldest first; null until they are loaded */
    this.items = signal(null);
    this.working = computed(() => this.items.value?.filter(isWorking).length ?? 0);
    this.looking = false;
  }

  get path() {
    return path`/knowledge/kb/${this.baseId}/documents`;
  }

  one(/** @type {string} */ id) {
    return `${this.path}/${encodeURIComponent(id)}`;
  }

  of(/** @type {string} */ id) {
    return this.items.value?.find((each) => each.id === id) ?? null;
  }

  async load() {
    this.items.value = await all(this.path);
  }

  /** Looks at those in work, unless it is looking already. @param {boolean} [always] also where none was known to be in work */
  async lookAgain(always = false) {
    if (this.looking || !this.items.value || !(always || this.working.value)) return;
    this.looking = true;
    try {
      const pages = await Promise.all(["processing", "queued"].map((status) => api.get(this.path, { status, limit: 200 })));
      const seen = new Map(pages.flatMap((page) => page.items).map((each) => [each.id, each]));
      const whole = pages.every((page) => !page.nextCursor);
      const ended = whole ? this.items.value.filter((each) => isWorking(each) && !seen.has(each.id)) : [];
      if (ended.length > MANY) return await this.load();
      this.items.value = this.items.value.map((each) => seen.get(each.id) ?? each);
      await Promise.all(ended.map((each) => this.refresh(each.id)));
    } finally {
      this.looking = false;
    }
  }

  /** Asks for one anew; one that is gone leaves the list. */
  async refresh(/** @type {string} */ id) {
    try {
      this.put(await api.get(this.one(id)));
    } catch (error) {
      if (error.status !== 404) throw error;
      this.items.value = this.items.value?.filter((each) => each.id !== id) ?? null;
    }
  }

  put(/** @type {Document} */ document) {
    const known = this.of(document.id);
    const items = this.items.value ?? [];
    this.items.value = known ? items.map((each) => (each.id === document.id ? document : each)) : [...items, document];
  }

  async change(/** @type {string} */ id, /** @type {{title?: string, importance?: number}} */ change) {
    this.put(await api.patch(this.one(id), change));
  }

  async reingest(/** @type {string} */ id) {
    this.put(await api.post(`${this.one(id)}/reingest`));
  }

  async remove(/** @type {string} */ id) {
    await api.delete(this.one(id));
    this.items.value = this.items.value?.filter((each) => each.id !== id) ?? null;
  }
}
