/** Files that will go with the next question: checked, uploaded one by one, and taken back where they are removed. */

import { api, path } from "../../lib/api.js";
import { fileLimits, sendFile, UploadQueue } from "../../lib/upload_queue.js";
import { objection } from "./kinds.js";

export class Drafts extends UploadQueue {
  constructor() {
    super(async (file, told) => {
      const sent = await sendFile("POST", "/api/bot/attachments/upload", file, told);
      const claim = { id: sent.id, accessToken: sent.accessToken };
      // Removed while the last of it was on its way.
      if (!told.wanted()) await discard(claim);
      return { name: sent.filename, claim };
    });
  }

  /** @param {Iterable<File>} files */
  async add(files) {
    await super.add(files, {
      objection: (file, key) => this.crowded(key) ?? objection(file, fileLimits()),
      preview: (file) => (file.type.startsWith("image/") ? URL.createObjectURL(file) : undefined),
    });
  }

  /** Files that were sent before go again by their id alone. @param {{id: string, filename: string, size: number}[]} files */
  take(files) {
    for (const { id, filename, size } of files) this.put({ name: filename, size, state: "ready", part: 1, claim: { id } });
  }

  crowded(/** @type {number} */ key) {
    const { most } = fileLimits();
    const kept = this.files.value.filter((file) => file.state !== "refused");
    return kept.findIndex((file) => file.key === key) >= most ? `A message takes at most ${most} files` : null;
  }

  /** Takes a file back, on the server too. */
  async remove(/** @type {number} */ key) {
    const file = this.forget(key);
    if (file?.claim?.accessToken) await discard(file.claim);
  }
}

/** One that somebody used meanwhile, or that is gone, needs nothing more. */
async function discard(/** @type {{id: string, accessToken?: string}} */ { id, accessToken }) {
  try {
    await api.delete(path`/api/bot/attachments/${id}`, { query: { token: accessToken } });
  } catch (error) {
    if (error.status !== 404 && error.status !== 409) throw error;
  }
}
