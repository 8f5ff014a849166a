/**
 * Markdown that grows. Blocks that are whole are drawn once; only the last one is drawn again as text comes, so that a
 * long answer costs no more than its last paragraph.
 */

import { blocksOf } from "./parser.js";
import { markCitations } from "./citations.js";
import { colourCode } from "./highlight.js";
import { drawFormulas } from "./mathematics.js";
import { sanitised } from "./sanitise.js";

export class LiveMarkdown {
  /** @param {HTMLElement} element which nobody else draws in */
  constructor(element) {
    this.element = element;
    /** @type {{html: string, node: HTMLElement}[]} */
    this.drawn = [];
    this.settled = 0;
    this.text = "";
    /** @type {Set<number>} */
    this.numbers = new Set();
  }

  /** Which citations there may be. What was drawn before is drawn again. @param {number[]} numbers */
  cite(numbers) {
    if (numbers.length === this.numbers.size && numbers.every((number) => this.numbers.has(number))) return;
    this.numbers = new Set(numbers);
    this.reset();
  }

  reset() {
    const { text } = this;
    this.element.replaceChildren();
    Object.assign(this, { drawn: [], settled: 0, text: "" });
    this.show(text);
  }

  /** @param {string} text the whole text; begins, most of the time, with what was shown before */
  show(text) {
    if (!text.startsWith(this.text)) this.settled = 0;
    this.text = text;
    const whole = this.kept();
    const blocks = blocksOf(text.slice(this.settled));
    blocks.forEach((block, index) => this.draw(whole + index, block.html));
    this.drawn.splice(whole + blocks.length).forEach((each) => each.node.remove());
    if (blocks.length > 1) this.settled += blocks.at(-1).start;
  }

  /** How many blocks stand before what is still open. */
  kept() {
    return this.settled === 0 ? 0 : this.drawn.length - 1;
  }

  draw(/** @type {number} */ index, /** @type {string} */ html) {
    if (this.drawn[index]?.html === html) return;
    const node = document.createElement("div");
    node.className = "block";
    node.dir = "auto";
    node.append(sanitised(html));
    markCitations(node, this.numbers);
    frame(node);
    if (this.drawn[index]) this.drawn[index].node.replaceWith(node);
    else this.element.append(node);
    this.drawn[index] = { html, node };
    colourCode(node);
    drawFormulas(node);
  }
}

/** Tables and code scroll by themselves; code can be copied. */
function frame(/** @type {HTMLElement} */ node) {
  for (const table of node.querySelectorAll("table")) {
    const box = Object.assign(document.createElement("div"), { className: "table", tabIndex: 0, role: "region" });
    box.setAttribute("aria-label", "Table");
    table.replaceWith(box);
    box.append(table);
  }
  for (const pre of node.querySelectorAll("pre")) {
    pre.tabIndex = 0;
    const box = Object.assign(document.createElement("div"), { className: "code" });
    const copy = Object.assign(document.createElement("button"), { type: "button", className: "plain copy" });
    copy.textContent = "Copy";
    copy.setAttribute("aria-label", "Copy code");
    pre.replaceWith(box);
    box.append(copy, pre);
  }
}
