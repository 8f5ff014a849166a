/** Markdown as answers use it. Text of models is data: markup in it is text, and links and pictures lead nowhere unseen. */

import MarkdownIt from "../vendor/markdown-it.js";
import { mathematics } from "./mathematics.js";

const md = new MarkdownIt({ html: false, linkify: true, breaks: false, maxNesting: 30 });
md.use(mathematics);
// `[1]: https://…` would make links of all citations [1].
md.disable("reference");
// Names of files look like hosts: readme.md.
md.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
md.validateLink = (/** @type {string} */ url) => /^(https?:\/\/|mailto:)/i.test(url.trim()) || isPicture(url);

/** Pictures that are in the text itself. Others would tell their server who reads what. */
const isPicture = (/** @type {string} */ url) => /^data:image\/(png|jpeg|gif|webp);base64,/i.test(url);

const { escapeHtml } = md.utils;

md.renderer.rules.image = (tokens, index, options, env, self) => {
  const token = tokens[index];
  const source = token.attrGet("src") ?? "";
  const alt = self.renderInlineAsText(token.children, options, env);
  if (isPicture(source)) return `<img src="${escapeHtml(source)}" alt="${escapeHtml(alt)}">`;
  return `<a href="${escapeHtml(source)}">${escapeHtml(alt || "Picture")}</a>`;
};

md.renderer.rules.fence = (tokens, index) => {
  const { info, content } = tokens[index];
  return `<pre><code data-language="${escapeHtml(md.utils.unescapeAll(info).trim().slice(0, 40))}">${escapeHtml(content)}</code></pre>`;
};

/** @typedef {{html: string, start: number}} Block `start` is where it begins in the text */

/**
 * The blocks of a text, one after the other.
 * @param {string} text
 * @returns {Block[]}
 */
export function blocksOf(text) {
  const env = {};
  const tokens = md.parse(text, env);
  const starts = lineStarts(text);
  const blocks = [];
  let first = 0;
  tokens.forEach((token, index) => {
    if (token.level !== 0 || token.nesting === 1) return;
    const html = md.renderer.render(tokens.slice(first, index + 1), md.options, env);
    blocks.push({ html, start: starts[tokens[first].map?.[0] ?? 0] ?? 0 });
    first = index + 1;
  });
  return blocks;
}

function lineStarts(/** @type {string} */ text) {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}
