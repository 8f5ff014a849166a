/** The room for chat: one conversation, beside the list of all. */

import { hear } from "../../lib/changes.js";
import { html, useEffect, useMemo } from "../../lib/html.js";
import { goInstead, href } from "../../lib/router.js";
import { complain } from "../../lib/toasts.js";
import { DropZone } from "../../parts/drop_zone.js";
import { BotBar } from "./bot_bar.js";
import { bots, botOf, currentBot, loadBots } from "./bots.js";
import { Composer } from "./composer.js";
import { conversationOf, conversations, refreshConversation } from "./conversations.js";
import { ACCEPTED } from "./kinds.js";
import { Messages } from "./messages.js";
import { placeOf, settle } from "./places.js";

export { ConversationList as Side } from "./conversation_list.js";

/** @param {{parts: string[]}} props */
export function Main({ parts: [id = null] }) {
  // Not keyed by the id: a conversation that gets its id by its first question stays the same.
  const place = useMemo(() => placeOf(id), [id]);
  const { thread } = place;
  const conversation = conversationOf(id);
  const bot = (conversation && botOf(conversation.botId)) ?? currentBot.value;
  useEffect(() => {
    thread.enter().catch(complain);
    return () => thread.leave();
  }, [thread]);
  useEffect(() => {
    if (!bots.value) loadBots().catch(complain);
  }, []);
  useEffect(() => {
    if (conversation) document.title = `${conversation.title} · Tributary`;
  }, [conversation?.title]);
  useEffect(() => {
    if (conversation) thread.lookAgain(conversation).catch(complain);
    else if (id && conversations.value) seek(thread, id).catch(complain);
  }, [thread, conversation?.updatedAt, conversation?.running, !conversation, conversations.value === null]);

  // What could not be loaded while the server was away.
  useEffect(() => hear("conversation", (change) => void (change || thread.messages.value || thread.enter().catch(complain))), [thread]);

  if (thread.missing.value) return html`<${Missing} />`;
  const ask = async (asked) => {
    if (!bots.value) await loadBots();
    await thread.ask((bot ?? currentBot.value).id, asked, (begun) => (settle(place), goInstead("chat", begun)));
  };
  return html`
    <${DropZone} class="chat" hint=${ACCEPTED} onFiles=${(files) => place.drafts.add(files)}>
      <h1 class="visually-hidden">${conversation?.title ?? "New conversation"}</h1>
      <${BotBar} bot=${bot} fixed=${Boolean(id)} title=${conversation?.title} />
      <${Messages} place=${place} bot=${bot} ask=${ask} />
      <${Composer} key=${thread} place=${place} bot=${bot} ask=${ask} />
    <//>`;
}

/** One that is not in the list may be too old for it, or gone. */
async function seek(/** @type {import("./thread.js").Thread} */ thread, /** @type {string} */ id) {
  const found = await refreshConversation(id);
  if (!found && !thread.running.value) thread.missing.value = true;
}

function Missing() {
  return html`
    <div class="empty">
      <h1>This conversation is not here</h1>
      <p>It was deleted, or the address is wrong.</p>
      <a href=${href("chat")}>Begin a new one</a>
    </div>`;
}
