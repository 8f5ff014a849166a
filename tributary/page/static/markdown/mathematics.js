/** Mathematics in Markdown: `$…$`, `\(…\)`, and as blocks `$$…$$`, `\[…\]`. KaTeX is loaded with the first formula. */

const INLINE = [["\\(", "\\)"], ["$$", "$$"], ["$", "$"]];
const BLOCK = [["$$", "$$"], ["\\[", "\\]"]];
/** Characters of a formula; longer ones are shown as they were written. */
const LONGEST = 4000;

/** A plug-in of markdown-it. Formulas come out as elements that hold their source. */
export function mathematics(/** @type {any} */ md) {
  md.inline.ruler.before("escape", "math", inline);
  md.block.ruler.before("fence", "math_block", block, { alt: ["paragraph", "reference", "blockquote", "list"] });
  const rule = (/** @type {any[]} */ tokens, /** @type {number} */ index) => {
    const { content, meta } = tokens[index];
    const tag = meta === "block" ? "div" : "span";
    return `<${tag} data-math="${meta}">${md.utils.escapeHtml(content)}</${tag}>`;
  };
  md.renderer.rules.math = rule;
  md.renderer.rules.math_block = rule;
}

function inline(/** @type {any} */ state, /** @type {boolean} */ silent) {
  const { src, pos, posMax } = state;
  const pair = INLINE.find(([open]) => src.startsWith(open, pos));
  if (!pair) return false;
  const [open, close] = pair;
  const start = pos + open.length;
  const end = closing(src, close, start, posMax);
  if (end < 0) return false;
  const content = src.slice(start, end);
  if (!content.trim() || (open === "$" && isMoney(content, src[end + 1]))) return false;
  if (!silent) push(state, "math", content, open === "$$" ? "block" : "inline");
  state.pos = end + close.length;
  return true;
}

/** `$5 and $10`: money stands before a digit, or has a space inside its marks. */
const isMoney = (/** @type {string} */ content, /** @type {string | undefined} */ next) =>
  /^\s|\s$/.test(content) || /\d/.test(next ?? "");

function closing(/** @type {string} */ src, /** @type {string} */ close, /** @type {number} */ start, /** @type {number} */ most) {
  for (let end = src.indexOf(close, start); end >= 0 && end < most; end = src.indexOf(close, end + 1)) {
    if (close !== "$" || src[end - 1] !== "\\") return end;
  }
  return -1;
}

function block(/** @type {any} */ state, /** @type {number} */ first, /** @type {number} */ last, /** @type {boolean} */ silent) {
  const line = (/** @type {number} */ number) =>
    state.src.slice(state.bMarks[number] + state.tShift[number], state.eMarks[number]);
  const pair = BLOCK.find(([open]) => line(first).startsWith(open));
  if (!pair) return false;
  const [open, close] = pair;
  const lines = [];
  for (let number = first; number < last; number += 1) {
    const text = number === first ? line(number).slice(open.length) : line(number);
    if (text.trimEnd().endsWith(close)) {
      if (silent) return true;
      lines.push(text.trimEnd().slice(0, -close.length));
      state.line = number + 1;
      push(state, "math_block", lines.join("\n"), "block").map = [first, state.line];
      return true;
    }
    if (text.includes(close)) return false;
    lines.push(text);
  }
  return false;
}

function push(/** @type {any} */ state, /** @type {string} */ type, /** @type {string} */ content, /** @type {string} */ meta) {
  const token = state.push(type, "", 0);
  token.content = content.trim();
  token.meta = meta;
  return token;
}

/** @type {Promise<any> | null} */
let loading = null;
/** @type {any} */
let katex = null;

function load() {
  const link = Object.assign(document.createElement("link"), { rel: "stylesheet" });
  link.href = new URL("../vendor/katex/katex.css", import.meta.url).href;
  document.head.append(link);
  return import("../vendor/katex/katex.js").then((module) => (katex = module.default));
}

/** Draws the formulas below an element; what is no formula stays as it was written. */
export function drawFormulas(/** @type {Element} */ root) {
  const found = [...root.querySelectorAll("[data-math]")];
  if (!found.length) return;
  if (katex) found.forEach(draw);
  else (loading ??= load()).then(() => found.forEach(draw), console.error);
}

function draw(/** @type {Element} */ element) {
  const source = element.textContent ?? "";
  if (source.length > LONGEST) return;
  try {
    // Into an element of its own: what is half drawn when it fails goes with it. By nodes, since a strict policy
    // forbids style attributes in markup.
    const drawn = document.createElement(element.tagName);
    katex.render(source, drawn, {
      displayMode: element.getAttribute("data-math") === "block",
      throwOnError: true,
      strict: "ignore",
      trust: false,
      maxExpand: 200,
      maxSize: 50,
    });
    element.replaceChildren(...drawn.childNodes);
    element.removeAttribute("data-math");
    element.classList.add("formula");
  } catch {
    element.classList.add("formula-source");
  }
}
