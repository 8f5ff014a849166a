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

  /** Whether nothing is lost with it: the server has all of it. */
  get idle() {
    return !this.text.value && !this.drafts.files.value.length && !this.edited.value && !this.thread.running.value;
  }

  clear() {
    this.edited.value = null;
    this.text.value = "";
    this.drafts.clear();
  }
}

/** As many are kept, so that who goes back sees them at once; those that were opened longest ago go first. */
const KEPT = 30;
/** @type {Map<string, Place>} */
const places = new Map();
let fresh = new Place(null);

/** @param {string | null} id null for a conversation that has not begun */
export function placeOf(id) {
  if (id === null) return fresh;
  const place = places.get(id) ?? new Place(id);
  keep(id, place);
  return place;
}

function keep(/** @type {string} */ id, /** @type {Place} */ place) {
  places.delete(id);
  places.set(id, place);
  for (const [old, each] of places) {
    if (places.size <= KEPT) return;
    if (each !== place && each.idle) places.delete(old);
  }
}

/** A new conversation has got its id. */
export function settle(/** @type {Place} */ place) {
  if (place === fresh) fresh = new Place(null);
  keep(place.thread.id, place);
}

export const forget = (/** @type {string} */ id) => places.delete(id);
