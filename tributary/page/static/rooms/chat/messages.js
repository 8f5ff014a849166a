/** The messages of a conversation, the answer that is being written last. */

import { count } from "../../lib/format.js";
import { html, useCallback, useEffect, useRef, useState } from "../../lib/html.js";
import { telling } from "../../lib/toasts.js";
import { Icon } from "../../parts/icon.js";
import { Answer, LiveAnswer } from "./answer.js";
import { Question } from "./question.js";
import { Welcome } from "./welcome.js";

/** Pixels from the end within which the end is followed. */
const NEAR = 80;
/** Messages that are drawn at once, from the end: what is drawn costs memory, and time with each answer. */
const STEP = 60;

/** @param {{place: import("./places.js").Place, bot: any, ask: (asked: any) => Promise<void>}} props */
export function Messages({ place, bot, ask }) {
  const { thread } = place;
  const running = thread.running.value;
  const messages = thread.messages.value;
  const { box, follow, away, toEnd } = useEnd([thread, messages, running]);
  const [drawn, setDrawn] = useState(STEP);
  useEffect(() => setDrawn(STEP), [thread]);
  const earlier = () => {
    const { scrollHeight, scrollTop } = box.current;
    setDrawn(drawn + STEP);
    // What is read stays where it is.
    requestAnimationFrame(() => box.current.scrollTo({ top: scrollTop + box.current.scrollHeight - scrollHeight }));
  };
  if (messages === null) return html`<p class="waiting messages">Loading…</p>`;
  if (!messages.length && !running) return html`<${Welcome} bot=${bot} onPick=${(text) => (place.text.value = text)} />`;
  const all = running?.asked?.replaces ? before(messages, running.asked.replaces) : messages;
  const hidden = Math.max(0, all.length - drawn);
  const shown = all.slice(hidden);
  const again = (/** @type {any} */ question) =>
    telling(() => ask({ text: question.content, attachments: question.attachments, replaces: question.id }))();
  return html`
    <div class="messages" ref=${box} tabindex="0" role="region" aria-label="Conversation">
      <div class="messages-inner">
        ${hidden > 0 && html`<button type="button" class="plain earlier" onClick=${earlier}>Show earlier messages (${count(hidden)})</button>`}
        ${shown.map((message, index) => html`
          <${message.role === "user" ? Question : Answer} key=${message.id} message=${message} before=${all[hidden + index - 1]}
            next=${shown[index + 1]} last=${!running && isLast(shown, index)} place=${place} again=${again} />`)}
        ${running?.asked && html`<${Question} key="asked" message=${asMessage(running.asked)} place=${place} pending />`}
        ${running && html`<${LiveAnswer} key="answer" running=${running} onDrawn=${follow} />`}
      </div>
      ${away && html`<button type="button" class="to-end" onClick=${toEnd}><${Icon} name="back" />Latest</button>`}
    </div>
    <p class="visually-hidden" role="status">${running ? (running.step.value || "Waiting for the answer") : saidLast(messages)}</p>`;
}

/** Whether it is the last question, or its answer. */
const isLast = (/** @type {any[]} */ messages, /** @type {number} */ index) =>
  index >= messages.findLastIndex((message) => message.role === "user");

function before(/** @type {any[]} */ messages, /** @type {string} */ id) {
  const at = messages.findIndex((message) => message.id === id);
  return at < 0 ? messages : messages.slice(0, at);
}

const asMessage = (/** @type {any} */ asked) => ({
  id: "asked", role: "user", content: asked.text, attachments: asked.attachments, status: "running",
});

const saidLast = (/** @type {any[]} */ messages) => (messages.at(-1)?.role === "assistant" ? "The answer is complete" : "");

/** Stays at the end while the end is in sight, and says when it is not. */
function useEnd(/** @type {unknown[]} */ when) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const near = useRef(true);
  const [away, setAway] = useState(false);
  const toEnd = useCallback(() => {
    near.current = true;
    box.current?.scrollTo({ top: box.current.scrollHeight });
  }, []);
  const follow = useCallback(() => near.current && toEnd(), []);
  useEffect(() => {
    const { current } = box;
    if (!current) return undefined;
    const look = () => {
      near.current = current.scrollHeight - current.scrollTop - current.clientHeight < NEAR;
      setAway(!near.current);
    };
    current.addEventListener("scroll", look, { passive: true });
    return () => current.removeEventListener("scroll", look);
  });
  useEffect(() => {
    toEnd();
    setAway(false);
  }, [when[0], when[2]]);
  useEffect(() => void follow(), when);
  return { box, follow, away, toEnd };
}
