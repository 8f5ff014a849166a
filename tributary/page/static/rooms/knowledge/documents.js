/** The documents of one knowledge base, and how far each is. */

import { all, api, path } from "../../lib/api.js";
import { atMostEvery, hear, ifItMatters } from "../../lib/changes.js";
import { computed, signal } from "../../lib/html.js";
import { complain } from "../../lib/toasts.js";

/** @typedef {{id: string, filename: string, title: string, contentType: string, size: number, type: string,
 *             status: "queued" | "processing" | "ready" | "failed", stage: string, progress: number, importance: number,
 *             error: {code: string, detail: string} | null, summary: string, topics: string[], createdAt: string,
 *             updatedAt: string}} Document */

export const isWorking = (/** @type {Document} */ document) => document.status === "queued" || document.status === "processing";

/** Above as many that changed at once, those in work are asked for together; and above as many that ended, all. */
const SOME = 4;
const MANY = 12;
/** Milliseconds in which changes gather. */
const GATHERING = 700;

/** They are read anew as the one stream of changes names them; a stream for each would take the browser's connections. */
export class Documents {
  constructor(/** @type {string} */ baseId) {
    this.baseId = baseId;
    /** @type {import("../../lib/html.js").Signal<Document[] | null>} oldest first; null until they are loaded */
    this.items = signal(null);
    this.working = computed(() => this.items.value?.filter(isWorking).length ?? 0);
    /** Ids that were changed since the last look; null where there is more than ids tell. @type {Set<string> | null} */
    this.changed = new Set();
    this.lookAgain = atMostEvery(GATHERING, () => this.look().catch(ifItMatters(complain)));
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

  /** Keeps up with what is changed, by whomever, until the returned function is called. */
  follow() {
    return hear("document", (change) => {
      if (change && change.knowledgeBaseId !== this.baseId) return;
      if (!change?.id) this.changed = null;
      else this.changed?.add(change.id);
      void this.lookAgain();
    });
  }

  /** Asks for what was changed since the last look. */
  async look() {
    const ids = this.changed;
    this.changed = new Set();
    if (!ids || !this.items.value) return await this.load();
    if (ids.size <= SOME) return await this.refreshAll([...ids]);
    const { items, nextCursor } = await api.get(this.path, { status: "processing", limit: 200 });
    const seen = new Map(items.map((each) => [each.id, each]));
    const others = [...ids].filter((id) => !seen.has(id));
    if (nextCursor || others.length > MANY) return await this.load();
    this.items.value = this.items.value.map((each) => seen.get(each.id) ?? each);
    await this.refreshAll(others);
  }

  /** @param {string[]} ids */
  async refreshAll(ids) {
    await Promise.all(ids.map((id) => this.refresh(id)));
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
