/** The organisation's knowledge bases. */

import { all, api, path } from "../../lib/api.js";
import { atMostEvery, hear, ifItMatters } from "../../lib/changes.js";
import { signal } from "../../lib/html.js";
import { complain } from "../../lib/toasts.js";

/** @typedef {{id: string, name: string, description: string, embedding: string, dimension: number, documentCount: number,
 *             createdAt: string}} Base */

/** @type {import("../../lib/html.js").Signal<Base[] | null>} null until they are loaded */
export const bases = signal(null);

let wanted = false;

export async function loadBases() {
  wanted = true;
  bases.value = await all("/knowledge/kb");
}

export const baseOf = (/** @type {string | null} */ id) => bases.value?.find((base) => base.id === id) ?? null;

/**
 * Makes a knowledge base, or changes the one of that id.
 * @param {string | null} id
 * @param {{name: string, description: string, embedding?: string | null}} fields
 * @returns {Promise<Base>}
 */
export async function saveBase(id, fields) {
  const saved = id ? await api.patch(path`/knowledge/kb/${id}`, fields) : await api.post("/knowledge/kb", fields);
  await loadBases();
  return saved;
}

export async function removeBase(/** @type {string} */ id) {
  await api.delete(path`/knowledge/kb/${id}`);
  bases.value = bases.value?.filter((base) => base.id !== id) ?? null;
}

const lookAgain = atMostEvery(500, () => loadBases().catch(ifItMatters(complain)));
hear("knowledgeBase", () => void (wanted && lookAgain()));
