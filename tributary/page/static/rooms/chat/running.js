/** An answer as it is written. */

import { batch, signal } from "../../lib/html.js";

/** What the nodes of a turn are for people. Those that are done in no time have no name. */
const STEPS = {
  validate_attachments: "Checking files",
  retrieve: "Searching the knowledge bases",
  search_text: "Searching the knowledge bases",
  compose_context: "Reading what was found",
  invoke_model: "Writing",
};

export class RunningAnswer {
  /** @param {{text: string, attachments: any[], replaces: string | null} | null} asked null where it is joined */
  constructor(asked) {
    this.asked = asked;
    this.text = signal("");
    this.sources = signal(/** @type {any[]} */ ([]));
    this.step = signal("");
    this.stopping = signal(false);
    /** What it ended with. @type {{event: string, data: any} | null} */
    this.end = null;
  }

  /** Its events come from the first again. */
  restart() {
    this.said = "";
  }

  said = "";

  /** @param {{event: string, data: any}} told */
  take({ event, data }) {
    if (event === "status" && data.state === "started" && STEPS[data.node]) this.step.value = STEPS[data.node];
    if (event === "sources") this.sources.value = data;
    if (event === "token") {
      this.said += data.text;
      // After a break the text grows again up to where it was: what stands there stays until it is longer.
      if (this.said.length > this.text.peek().length) this.text.value = this.said;
    }
    if (event === "done" || event === "error") this.end = { event, data };
    if (event === "done") {
      batch(() => {
        this.sources.value = data.sources;
        this.text.value = data.message;
      });
    }
  }

  isLast = (/** @type {{event: string}} */ { event }) => event === "done" || event === "error";
}
