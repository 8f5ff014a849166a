/**
 * What others change, as it happens: one stream of events for all pages of a browser, since it has six connections to a
 * server for all of them. One page holds the stream and passes on what it hears; the next takes over when it is closed.
 * Where a browser has no locks (over plain http from another machine), each page that is looked at holds its own.
 */

import { signIn } from "./api.js";
import { eventsOf, openStream, pause } from "./events.js";
import { signal } from "./html.js";

/**
 * @typedef {"conversation" | "bot" | "knowledgeBase" | "document"} Kind
 * @typedef {{kind: Kind, id: string | null, knowledgeBaseId?: string}} Change `id` is null where there were many
 * @typedef {(change: Change | null) => void} Listener null: something may have been missed
 */

/** Whether the server tells us what changes; null until that is known. */
export const connected = signal(/** @type {boolean | null} */ (null));

const LOCK = "tributary:changes";
/** Milliseconds: the first pause before the stream is opened again, the longest, and how long a page may stay silent. */
const FIRST = 500;
const LONGEST = 30_000;
const SILENCE = 1_500;

/** @type {Map<string, Set<Listener>>} */
const listeners = new Map();
const others = new BroadcastChannel(LOCK);
/** Ends the stream of this page, while it holds one. @type {AbortController | null} */
let holding = null;
/** Ends its pause between two tries. */
let hurry = () => {};
let answered = false;

/**
 * Hears of changes of one kind, until the returned function is called.
 * @param {Kind} kind
 * @param {Listener} listener
 */
export function hear(kind, listener) {
  if (!listeners.has(kind)) listeners.set(kind, new Set());
  listeners.get(kind).add(listener);
  return () => listeners.get(kind).delete(listener);
}

/** Whether something changed while nobody looked at this page: then it is read when somebody does. */
let stale = false;

/** Whether nobody looks at this page; whoever asks leaves its work to the moment when somebody does. */
function unseen() {
  if (document.visibilityState !== "hidden") return false;
  stale = true;
  return true;
}

/** @param {import("./events.js").ServerEvent} event */
function tell({ event, data }) {
  if (unseen()) return;
  if (event === "changed") listeners.get(data.kind)?.forEach((listener) => listener(data));
  if (event === "sync") listeners.forEach((each) => each.forEach((listener) => listener(null)));
}

/** Listens from now on, as long as the page is open. */
export function listen() {
  others.addEventListener("message", ({ data }) => {
    if (data.who && holding) others.postMessage({ here: true, connected: connected.peek() });
    if (data.event) tell(data);
    if (data.here) {
      answered = true;
      connected.value = data.connected;
    }
  });
  document.addEventListener("visibilitychange", () => {
    if (stale && document.visibilityState === "visible") {
      stale = false;
      tell({ event: "sync", data: {} });
    }
    void look();
  });
  addEventListener("online", () => void look());
  if (navigator.locks) queue();
  void look();
}

/** A page that was put to sleep holds the lock and hears nothing: the one that is looked at takes it from there. */
async function look() {
  if (document.visibilityState === "visible") hurry();
  if (!navigator.locks) {
    if (document.visibilityState === "hidden") holding?.abort();
    else if (!holding) await hold();
    return;
  }
  if (document.visibilityState === "hidden" || holding) return;
  answered = false;
  others.postMessage({ who: true });
  await pause(SILENCE);
  if (!answered && !holding) queue({ steal: true });
}

/** @param {LockOptions} [options] */
function queue(options = {}) {
  navigator.locks.request(LOCK, options, hold).catch((error) => {
    // Another page took it: wait until that one is closed.
    if (error.name !== "AbortError") throw error;
    holding?.abort();
    queue();
  });
}

/** Holds the stream, opening it again each time a little later where it breaks. */
async function hold() {
  const mine = new AbortController();
  holding = mine;
  for (let attempt = 0; !mine.signal.aborted; attempt += 1) {
    const wait = await listenOnce(mine.signal, () => (attempt = 0));
    if (mine.signal.aborted) break;
    // The first failure may be a server that starts anew, which nobody needs to hear of.
    if (attempt > 0) say(false);
    const rest = Math.max(wait, Math.min(FIRST * 2 ** attempt, LONGEST)) * (0.75 + Math.random() / 2);
    await Promise.race([pause(rest, mine.signal), new Promise((resolve) => (hurry = () => resolve(null)))]);
  }
  if (holding === mine) holding = null;
}

/** One connection to its end. @returns {Promise<number>} milliseconds that the server asks to wait */
async function listenOnce(/** @type {AbortSignal} */ signal, /** @type {() => void} */ onEvent) {
  try {
    for await (const event of eventsOf(await openStream("GET", "/api/events", { signal }))) {
      onEvent();
      if (event.event === "error" && event.data.status === 401) signIn();
      if (event.event === "error") return (event.data.retryAfter ?? 0) * 1000;
      say(true);
      if (navigator.locks) others.postMessage(event);
      tell(event);
    }
    return 0;
  } catch (error) {
    return (error.body?.retryAfter ?? 0) * 1000;
  }
}

function say(/** @type {boolean} */ told) {
  if (connected.peek() === told) return;
  connected.value = told;
  others.postMessage({ here: true, connected: told });
}

/**
 * The work, at once and then not more often than every so many milliseconds; what is asked for meanwhile is done after.
 * @param {() => Promise<unknown>} work whose failures are told by itself
 * @param {number} milliseconds
 */
export function atMostEvery(milliseconds, work) {
  let busy = false;
  let again = false;
  return async function run() {
    if (busy) {
      again = true;
      return;
    }
    busy = true;
    try {
      do {
        again = false;
        await work();
        await pause(milliseconds);
      } while (again && !unseen());
    } finally {
      busy = false;
    }
  };
}

/** A server that is away shall not fill the page with messages: that it is away is told once, at the top. */
export function ifItMatters(/** @type {(error: any) => void} */ complain) {
  return (/** @type {any} */ error) => {
    if (error?.code !== "unreachable" && !(error?.status >= 500) && error?.status !== 429) complain(error);
  };
}
