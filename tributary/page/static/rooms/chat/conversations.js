/** The organisation's conversations, newest first. */

import { api, path } from "../../lib/api.js";
import { atMostEvery, hear, ifItMatters } from "../../lib/changes.js";
import { signal } from "../../lib/html.js";
import { complain } from "../../lib/toasts.js";

/** @typedef {{id: string, botId: string, title: string, createdAt: string, updatedAt: string, running: boolean}} Conversation */

/** @type {import("../../lib/html.js").Signal<Conversation[] | null>} null until they are loaded */
export const conversations = signal(null);
/** Whether there are older ones that were not loaded. */
export const older = signal(false);
/** Older ones that were opened all the same, by their address. @type {import("../../lib/html.js").Signal<Conversation[]>} */
const beyond = signal([]);

const PAGE = 100;
const MOST = 2000;
/** Milliseconds in which changes gather; above so many the list is asked for instead of each. */
const GATHERING = 250;
const MANY = 8;
/** How many are to be there, and whether anybody wants them at all. */
let wanted = 0;
/** Where the older ones go on. @type {string | null} */
let cursor = null;

/** Loads the newest, as many as were there before. */
export async function loadConversations() {
  wanted ||= PAGE;
  const found = [];
  /** @type {string | null} */
  let next = null;
  do {
    const page = await api.get("/api/conversations", { limit: Math.min(200, wanted - found.length), cursor: next });
    found.push(...page.items);
    next = page.nextCursor;
  } while (next && found.length < wanted);
  show(found, next);
}

/** Loads the next older ones. */
export async function loadOlder() {
  if (!cursor || !conversations.value) return;
  const page = await api.get("/api/conversations", { limit: PAGE, cursor });
  wanted = conversations.value.length + page.items.length;
  show([...conversations.value, ...page.items], page.nextCursor);
}

/** @type {Promise<void> | null} */
let loading = null;

/** Loads them all, to be searched; once, however fast somebody types. */
export async function loadAll() {
  wanted = MOST;
  loading ??= loadConversations().finally(() => (loading = null));
  await loading;
}

function show(/** @type {Conversation[]} */ found, /** @type {string | null} */ next) {
  cursor = next;
  conversations.value = found;
  older.value = Boolean(next) && found.length < MOST;
}

export const conversationOf = (/** @type {string | null} */ id) =>
  conversations.value?.find((each) => each.id === id) ?? beyond.value.find((each) => each.id === id) ?? null;

/** Asks for one anew. @param {string} id @returns {Promise<Conversation | null>} null for one that is gone */
export async function refreshConversation(id) {
  try {
    const found = await api.get(path`/api/conversations/${id}`);
    put(found);
    return found;
  } catch (error) {
    if (error.status !== 404 && error.status !== 422) throw error;
    drop(id);
    return null;
  }
}

export async function rename(/** @type {string} */ id, /** @type {string} */ title) {
  put(await api.patch(path`/api/conversations/${id}`, { title }));
}

export async function remove(/** @type {string} */ id) {
  await api.delete(path`/api/conversations/${id}`);
  drop(id);
}

function put(/** @type {Conversation} */ conversation) {
  const known = conversations.value ?? [];
  const listed = known.some((each) => each.id === conversation.id);
  if (listed) conversations.value = known.map((each) => (each.id === conversation.id ? conversation : each));
  // Ids grow with time: those of the list are the newest.
  else if (conversations.value && (!older.value || conversation.id > (known.at(-1)?.id ?? ""))) {
    conversations.value = [...known, conversation].sort((one, other) => (one.id < other.id ? 1 : -1));
  } else beyond.value = [...beyond.value.filter((each) => each.id !== conversation.id), conversation];
}

function drop(/** @type {string} */ id) {
  conversations.value = conversations.value?.filter((each) => each.id !== id) ?? null;
  beyond.value = beyond.value.filter((each) => each.id !== id);
}

/** Ids that were changed since the last look. @type {Set<string>} */
let changed = new Set();
let anyOfThem = false;

const lookAgain = atMostEvery(GATHERING, async () => {
  const ids = changed;
  const list = anyOfThem || ids.size > MANY;
  changed = new Set();
  anyOfThem = false;
  try {
    await (list ? loadConversations() : Promise.all([...ids].map(refreshConversation)));
  } catch (error) {
    ifItMatters(complain)(error);
  }
});

/** Older ones that nobody opened here are not asked for. */
const concerns = (/** @type {string} */ id) =>
  !older.value || id >= (conversations.value.at(-1)?.id ?? "") || beyond.value.some((each) => each.id === id);

hear("conversation", (change) => {
  if (!wanted || (change?.id && conversations.value && !concerns(change.id))) return;
  if (change?.id && conversations.value) changed.add(change.id);
  else anyOfThem = true;
  lookAgain();
});
