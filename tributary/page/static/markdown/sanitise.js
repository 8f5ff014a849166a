/** The second lock: whatever the Markdown became, only these elements and attributes reach the page. */

import DOMPurify from "../vendor/purify.js";

const RULES = {
  ALLOWED_TAGS: [
    "a", "blockquote", "br", "code", "del", "div", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "img", "li", "ol", "p",
    "pre", "s", "span", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
  ],
  ALLOWED_ATTR: ["href", "src", "alt", "title", "start", "data-math", "data-language", "style"],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  RETURN_DOM_FRAGMENT: true,
};
const ALIGNED = /^text-align:(left|right|center)$/;

/**
 * Nodes for the page. Links open elsewhere and say where they lead; no class, id or style comes from the text.
 * @param {string} html
 * @returns {DocumentFragment}
 */
export function sanitised(html) {
  const nodes = DOMPurify.sanitize(html, RULES);
  for (const element of nodes.querySelectorAll("[style]")) {
    const aligned = ALIGNED.exec(element.getAttribute("style") ?? "");
    element.removeAttribute("style");
    if (aligned) element.classList.add(`align-${aligned[1]}`);
  }
  for (const link of nodes.querySelectorAll("a")) {
    const target = link.getAttribute("href") ?? "";
    if (!/^(https?:\/\/|mailto:)/i.test(target)) link.replaceWith(...link.childNodes);
    else Object.assign(link, { target: "_blank", rel: "noopener noreferrer nofollow", title: target });
  }
  for (const image of nodes.querySelectorAll("img")) {
    if (!/^data:image\/(png|jpeg|gif|webp);base64,/i.test(image.getAttribute("src") ?? "")) image.remove();
  }
  return nodes;
}
