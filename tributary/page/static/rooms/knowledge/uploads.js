/** Files on their way into a knowledge base. */

import { fileLimits, sendFile, UploadQueue } from "../../lib/upload_queue.js";

export class Uploads extends UploadQueue {
  constructor(/** @type {import("./documents.js").Documents} */ documents) {
    super(async (file, told) => {
      const sent = await sendFile("POST", documents.path, file, told);
      await documents.refreshAll(sent.documents.map((each) => each.id));
      return null;
    });
  }

  /** @param {Iterable<File>} files */
  async add(files) {
    await super.add(files, { objection: (file) => objection(file, fileLimits().maxBytes) });
  }
}

function objection(/** @type {File} */ file, /** @type {number} */ most) {
  if (file.size === 0) return "The file is empty";
  return file.size > most ? `The file is larger than ${Math.round(most / 2 ** 20)} MB` : null;
}
