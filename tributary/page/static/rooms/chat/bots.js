/** The bots that there are, and the one that new conversations ask. */

import { all, api, path } from "../../lib/api.js";
import { atMostEvery, hear, ifItMatters } from "../../lib/changes.js";
import { computed, signal } from "../../lib/html.js";
import { recall, remember } from "../../lib/memory.js";
import { complain } from "../../lib/toasts.js";

/**
 * @typedef {{id: string, name: string, prompt: string, model: string, knowledgeBaseIds: string[],
 *            weights: {vector: number, text: number, importance: number}, shrinkImages: boolean}} Bot
 */

/** @type {import("../../lib/html.js").Signal<Bot[] | null>} null until they are loaded */
export const bots = signal(null);

const chosen = signal(recall("bot"));

/** The one that was chosen last, else the first. */
export const currentBot = computed(() => bots.value?.find((bot) => bot.id === chosen.value) ?? bots.value?.[0] ?? null);

export const botOf = (/** @type {string} */ id) => bots.value?.find((bot) => bot.id === id) ?? null;

export function chooseBot(/** @type {string} */ id) {
  chosen.value = id;
  remember("bot", id);
}

let wanted = false;

export async function loadBots() {
  wanted = true;
  bots.value = await all("/api/bots");
}

/** @param {string | null} id null for a new one @param {Partial<Bot>} fields */
export async function saveBot(id, fields) {
  const saved = id ? await api.patch(path`/api/bots/${id}`, fields) : await api.post("/api/bots", fields);
  await loadBots();
  if (!id) chooseBot(saved.id);
}

export async function deleteBot(/** @type {string} */ id) {
  await api.delete(path`/api/bots/${id}`);
  await loadBots();
}

const lookAgain = atMostEvery(500, () => loadBots().catch(ifItMatters(complain)));
// With a knowledge base that is deleted, bots lose their link to it.
for (const kind of /** @type {const} */ (["bot", "knowledgeBase"])) {
  hear(kind, () => void (wanted && lookAgain()));
}
