/** The organisation's conversations, newest first. */

import { all, api, path } from "../../lib/api.js";
import { signal } from "../../lib/html.js";

/** @typedef {{id: string, botId: string, title: string, createdAt: string, updatedAt: string}} Conversation */

/** @type {import("../../lib/html.js").Signal<Conversation[] | null>} null until they are loaded */
export const conversations = signal(null);
/** Whether there are older ones that were not loaded. */
export const older = signal(false);

const FIRST = 100;
const MOST = 2000;
let whole = false;

/** Looks again. What did not change is drawn no more. */
export async function loadConversations() {
  if (whole) {
    conversations.value = await all("/api/conversations", {}, { most: MOST });
    return;
  }
  const page = await api.get("/api/conversations", { limit: FIRST });
  conversations.value = page.items;
  older.value = Boolean(page.nextCursor);
}

/** Loads the older ones as well: to be shown, or searched. */
export async function loadOlder() {
  whole = true;
  await loadConversations();
  older.value = false;
}

export const conversationOf = (/** @type {string | null} */ id) =>
  conversations.value?.find((conversation) => conversation.id === id) ?? null;

export async function rename(/** @type {string} */ id, /** @type {string} */ title) {
  const renamed = await api.patch(path`/api/conversations/${id}`, { title });
  conversations.value = conversations.value.map((each) => (each.id === id ? renamed : each));
}

export async function remove(/** @type {string} */ id) {
  await api.delete(path`/api/conversations/${id}`);
  conversations.value = conversations.value.filter((each) => each.id !== id);
}
