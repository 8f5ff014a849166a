/** A conversation as it is seen: its messages, and the answer that is being written. */

import { all, api, path, Problem } from "../../lib/api.js";
import { eventsOf, follow, openStream } from "../../lib/events.js";
import { batch, signal } from "../../lib/html.js";
import { connected } from "../../lib/changes.js";
import { complain } from "../../lib/toasts.js";
import { refreshConversation } from "./conversations.js";
import { RunningAnswer } from "./running.js";

/** @typedef {{text: string, attachments: {id: string, accessToken?: string, filename: string}[], replaces: string | null}} Asked */

const CONVERSATION = "X-Conversation-Id";
/** Messages from which on a conversation is long, and how many of its end are read anew. */
const LONG = 200;
const TAIL = 50;

export class Thread {
  /** @param {string | null} id null for a conversation that has not begun */
  constructor(id) {
    this.id = id;
    /** @type {import("../../lib/html.js").Signal<any[] | null>} */
    this.messages = signal(id ? null : []);
    /** @type {import("../../lib/html.js").Signal<RunningAnswer | null>} */
    this.running = signal(null);
    /** What kept the last question from being asked at all. @type {import("../../lib/html.js").Signal<Problem | null>} */
    this.refusal = signal(null);
    this.missing = signal(false);
    this.leaving = new AbortController();
    /** Settled once the id is known, or never will be. */
    this.named = Promise.resolve();
  }

  /** Loads the messages, and joins the answer that is being written, if there is one. */
  async enter() {
    this.leaving = new AbortController();
    if (!this.id || this.running.value) return;
    await this.refresh();
    if (this.messages.value?.at(-1)?.status === "running") await this.join();
  }

  /** Leaves; a running answer goes on without us. One connection a page: a browser has but six for all its pages. */
  leave() {
    this.leaving.abort();
    this.running.value = null;
  }

  async refresh() {
    const { signal: left } = this.leaving;
    try {
      // Of a long conversation the end alone: people edit the last question of it.
      const known = this.messages.value ?? [];
      const kept = known.length > LONG ? known.slice(0, -TAIL) : [];
      const from = kept.at(-1)?.id ?? null;
      const found = await all(path`/api/conversations/${this.id}/messages`, {}, { signal: left, from });
      if (!left.aborted) this.messages.value = [...kept, ...found];
    } catch (error) {
      if (left.aborted) return;
      if (error.status !== 404 && error.status !== 422) throw error;
      this.missing.value = true;
    }
  }

  /** Somebody else may have asked. @param {import("./conversations.js").Conversation} conversation as it is now */
  async lookAgain({ updatedAt, running }) {
    if (this.running.value || !this.messages.value || this.missing.value) return;
    const last = this.messages.value.at(-1);
    const known = last && Date.parse(last.createdAt) >= Date.parse(updatedAt) && (last.status === "running") === running;
    if (!known) await this.enter();
  }

  /** @param {string} botId @param {Asked} asked @param {(id: string) => void} onBegun */
  async ask(botId, asked, onBegun) {
    const { signal: left } = this.leaving;
    const running = new RunningAnswer(asked);
    batch(() => {
      this.running.value = running;
      this.refusal.value = null;
    });
    const opening = openStream("POST", path`/api/bots/${botId}/chat`, { body: this.body(asked), signal: left });
    this.named = opening.then(() => {}, () => {});
    try {
      const response = await opening;
      this.began(response.headers.get(CONVERSATION), onBegun);
      for await (const event of eventsOf(response)) running.take(event);
    } catch (error) {
      if (left.aborted) return;
      running.end ??= { event: "error", data: error.body ?? { detail: String(error) } };
      if (error.body?.conversationId) this.began(error.body.conversationId, onBegun);
    }
    if (left.aborted) return;
    // A connection that broke says nothing of the answer.
    if (!running.end || running.end.data.code === "unreachable") await this.rejoin(running);
    await this.ended(running);
  }

  body({ text, attachments, replaces }) {
    return {
      message: text,
      attachments: attachments.map(({ id, accessToken }) => (accessToken ? { id, accessToken } : { id })),
      ...(this.id && { conversationId: this.id }),
      ...(replaces && { replaceMessageId: replaces }),
    };
  }

  began(/** @type {string | null} */ id, /** @type {(id: string) => void} */ onBegun) {
    if (this.id || !id) return;
    this.id = id;
    onBegun(id);
    this.changedHere();
  }

  /** Listens to the answer that is being written, from its first word. */
  async join() {
    const running = new RunningAnswer(null);
    this.running.value = running;
    await this.rejoin(running);
    await this.ended(running);
  }

  async rejoin(/** @type {RunningAnswer} */ running) {
    if (!this.id) return;
    try {
      await follow(path`/api/conversations/${this.id}/stream`, {
        signal: this.leaving.signal,
        onOpen: () => running.restart(),
        onEvent: (event) => running.take(event),
        isLast: running.isLast,
      });
    } catch (error) {
      // It may have ended before we came: the messages tell how, and not the break that made us come.
      running.end = error.status === 409 ? null : { event: "error", data: error.body ?? { detail: String(error) } };
    }
  }

  async ended(/** @type {RunningAnswer} */ running) {
    const { signal: left } = this.leaving;
    if (left.aborted) return;
    const problem = running.end?.event === "error" ? running.end.data : null;
    if (this.id) await this.refresh().catch(complain);
    if (left.aborted) return;
    batch(() => {
      // A question that was stored tells itself why it failed.
      if (problem && !problem.questionId) this.refusal.value = new Problem(problem);
      this.running.value = null;
    });
    this.changedHere();
  }

  /** The list hears of it by itself, where it hears of changes. */
  changedHere() {
    if (this.id && !connected.peek()) refreshConversation(this.id).catch(complain);
  }

  /** Ends the running answer; what was written so far stays. */
  async stop() {
    if (!this.running.value) return;
    this.running.value.stopping.value = true;
    await this.named;
    if (this.id && this.running.value) await api.post(path`/api/conversations/${this.id}/stop`);
  }
}
