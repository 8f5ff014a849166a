/** Colours for code. The highlighter and each language are loaded when code of it is shown. */

const LANGUAGES = new Set([
  "bash", "c", "cpp", "csharp", "css", "diff", "dockerfile", "go", "java", "javascript", "json", "kotlin", "php",
  "python", "ruby", "rust", "sql", "swift", "typescript", "xml", "yaml",
]);
const ALIASES = {
  "c++": "cpp", "c#": "csharp", cs: "csharp", html: "xml", js: "javascript", jsx: "javascript", kt: "kotlin", md: "xml",
  mjs: "javascript", py: "python", rb: "ruby", rs: "rust", sh: "bash", shell: "bash", svg: "xml", ts: "typescript",
  tsx: "typescript", yml: "yaml", zsh: "bash",
};
/** Characters above which colours cost more than they help. */
const LONGEST = 20_000;

/** @type {any} */
let core = null;
/** @type {Map<string, Promise<void>>} */
const loading = new Map();

async function load(/** @type {string} */ language) {
  const [engine, grammar] = await Promise.all([
    import("../vendor/highlight/core.js"),
    import(`../vendor/highlight/${language}.js`),
  ]);
  core = engine.default;
  core.registerLanguage(language, grammar.default);
}

/** The language that a fence names; null for one that we don't colour. */
export function languageOf(/** @type {string} */ info) {
  const name = info.trim().split(/[\s,{]/)[0].toLowerCase();
  const known = Object.hasOwn(ALIASES, name) ? ALIASES[name] : name;
  return LANGUAGES.has(known) ? known : null;
}

/** Colours the code below an element, now or when its language is there. */
export function colourCode(/** @type {Element} */ root) {
  for (const code of root.querySelectorAll("code[data-language]")) {
    const language = languageOf(code.getAttribute("data-language") ?? "");
    if (!language || code.textContent.length > LONGEST) continue;
    if (core?.getLanguage(language)) colour(code, language);
    else {
      if (!loading.has(language)) loading.set(language, load(language));
      loading.get(language).then(() => colour(code, language), console.error);
    }
  }
}

function colour(/** @type {Element} */ code, /** @type {string} */ language) {
  const tree = core.highlight(code.textContent, { language, ignoreIllegals: true })._emitter.rootNode;
  code.replaceChildren(...nodesOf(tree.children));
}

/** As nodes and not as markup, so that no code is ever parsed as such. */
function nodesOf(/** @type {any[]} */ children) {
  return children.map((child) => {
    if (typeof child === "string") return document.createTextNode(child);
    const span = document.createElement("span");
    if (child.scope) span.className = `code-${child.scope.split(".")[0].replace(/[^\w-]/g, "")}`;
    span.append(...nodesOf(child.children));
    return span;
  });
}
