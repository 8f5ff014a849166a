/** Citations in an answer: [1], [1, 2]. Only numbers of its own sources become buttons, and never inside code or links. */

const MARK = /\[(\d{1,3}(?:\s*,\s*\d{1,3})*)\]/g;

/**
 * Puts buttons in place of the marks below an element.
 * @param {Element | DocumentFragment} root
 * @param {Set<number>} numbers of the sources that there are
 */
export function markCitations(root, numbers) {
  if (!numbers.size) return;
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT, (node) =>
    node.parentElement?.closest("a, code, pre, button, [data-math], .formula")
      ? NodeFilter.FILTER_REJECT
      : NodeFilter.FILTER_ACCEPT,
  );
  const texts = [];
  while (walker.nextNode()) if (walker.currentNode.nodeValue.includes("[")) texts.push(walker.currentNode);
  for (const text of texts) {
    const nodes = split(text.nodeValue, numbers);
    if (nodes.length > 1) text.replaceWith(...nodes);
  }
}

function split(/** @type {string} */ text, /** @type {Set<number>} */ numbers) {
  const nodes = [];
  let done = 0;
  for (const found of text.matchAll(MARK)) {
    const named = found[1].split(",").map(Number);
    if (!named.every((number) => numbers.has(number))) continue;
    nodes.push(document.createTextNode(text.slice(done, found.index)), ...named.map(button));
    done = found.index + found[0].length;
  }
  return [...nodes, document.createTextNode(text.slice(done))];
}

function button(/** @type {number} */ number) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = "citation";
  made.dataset.number = String(number);
  made.textContent = String(number);
  made.setAttribute("aria-label", `Source ${number}`);
  return made;
}
