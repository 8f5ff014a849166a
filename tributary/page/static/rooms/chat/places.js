/** Conversations that were opened in this page, each with what is being written for it: leaving loses nothing. */

import { signal } from "../../lib/html.js";
import { Drafts } from "./drafts.js";
import { Thread } from "./thread.js";

export class Place {
  /** @param {string | null} id */
  constructor(id) {
    this.thread = new Thread(id);
    this.text = signal("");
    this.drafts = new Drafts();
    /** Whether it is sent as soon as its files are there. */
    this.sending = signal(false);
    /** The question that is being edited. @type {import("../../lib/html.js").Signal<any>} */
    this.edited = signal(null);
  }

  /** Edits a question: its text and its files come back to be changed. */
  edit(/** @type {any} */ question) {
    this.drafts.clear();
    this.drafts.take(question.attachments);
    this.text.value = question.content;
    this.edited.value = question;
  }

  clear() {
    this.edited.value = null;
    this.text.value = "";
    this.drafts.clear();
  }
}

/** @type {Map<string, Place>} */
const places = new Map();
let fresh = new Place(null);

/** @param {string | null} id null for a conversation that has not begun */
export function placeOf(id) {
  if (id === null) return fresh;
  if (!places.has(id)) places.set(id, new Place(id));
  return places.get(id);
}

/** A new conversation has got its id. */
export function settle(/** @type {Place} */ place) {
  if (place === fresh) fresh = new Place(null);
  places.set(place.thread.id, place);
}

export const forget = (/** @type {string} */ id) => places.delete(id);
