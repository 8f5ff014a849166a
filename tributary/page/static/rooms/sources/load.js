/** What a source's document holds today. */

import { api, path } from "../../lib/api.js";
import { around } from "../../lib/points.js";

/** Characters shown before and behind a passage. */
const ROOM = 4000;

/**
 * @typedef {{state: "here", kind: "pdf" | "image" | "text", passage: ReturnType<typeof around> | null} | {state: "gone" | "changed"}} Found
 *   `gone`: the document was deleted; `changed`: it was replaced or read anew, and the passage is no longer in it
 */

/**
 * @param {any} source
 * @returns {Promise<Found>}
 */
export async function findSource(source) {
  const base = path`/knowledge/kb/${source.knowledgeBaseId}/documents/${source.documentId}`;
  const chunk = path`/chunks/${source.chunkId}`;
  const [document, text, passage] = await Promise.all([missing(base), missing(`${base}/text`), missing(base + chunk)]);
  if (!document) return { state: "gone" };
  if (!passage) return { state: "changed" };
  return {
    state: "here",
    kind: kindOf(document.contentType),
    passage: text && around(text.text, source.start, source.end, ROOM),
  };
}

/** The JSON there, or null where nothing is, or is not yet. */
async function missing(/** @type {string} */ address) {
  try {
    return await api.get(address);
  } catch (error) {
    if (error.status === 404 || error.status === 409) return null;
    throw error;
  }
}

/** What has pages to show, by its content type. */
function kindOf(/** @type {string} */ type) {
  if (type === "application/pdf") return "pdf";
  return type.startsWith("image/") ? "image" : "text";
}
