/** Calls of the REST routes with the cookie of the sign-in. What fails is thrown as a `Problem`. */

/** @typedef {{status: number, code: string, detail: string, title?: string, retryAfter?: number}} ProblemBody */

/** How long it is best to wait, where the server says so. @param {ProblemBody} body */
function waitOf({ retryAfter }) {
  if (!retryAfter) return "";
  const [count, unit] = retryAfter < 90 ? [retryAfter, "second"] : retryAfter < 5400 ? [retryAfter / 60, "minute"] : [retryAfter / 3600, "hour"];
  const rounded = Math.ceil(count);
  return `Try again in ${rounded} ${unit}${rounded === 1 ? "" : "s"}`;
}

/** RFC 9457: `code` is for programs, `detail` (also `message`) for people. */
export class Problem extends Error {
  /** @param {ProblemBody & Record<string, unknown>} body */
  constructor(body) {
    super([body.detail || body.title || "Something failed", waitOf(body)].filter(Boolean).join(". "));
    this.name = "Problem";
    this.body = body;
    this.status = body.status;
    this.code = body.code;
    this.detail = this.message;
  }
}

export const UNREACHABLE = "unreachable";

/** A problem for a request that got no answer at all. */
export const unreachable = () =>
  new Problem({ status: 0, code: UNREACHABLE, detail: "The server can't be reached. Is it still running?" });

/**
 * The address of a route, below whatever path the page is served under.
 * @param {string} path begins with `/`
 * @param {Record<string, unknown>} [query] values that are null, undefined or "" are left out; lists are repeated
 */
export function address(path, query = {}) {
  const url = new URL(path.slice(1), document.baseURI);
  url.hash = "";
  for (const [name, value] of Object.entries(query)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== null && each !== undefined && each !== "") url.searchParams.append(name, String(each));
    }
  }
  return url.href;
}

/** A path whose parts may hold anything: path`/api/bots/${id}`. */
export const path = (/** @type {TemplateStringsArray} */ strings, /** @type {unknown[]} */ ...values) =>
  String.raw({ raw: strings }, ...values.map((value) => encodeURIComponent(String(value))));

/** To the sign-in, and from there back to here. */
export function signIn() {
  const here = location.pathname + location.search + location.hash;
  location.assign(address("/sign-in", { next: here }));
}

/**
 * The response, if it is none of a failure.
 * @param {string} method
 * @param {string} path
 * @param {{body?: unknown, form?: FormData, query?: Record<string, unknown>, signal?: AbortSignal,
 *          headers?: Record<string, string>}} [options] `body` is sent as JSON
 */
export async function call(method, path, { body, form, query, signal, headers = {} } = {}) {
  /** @type {RequestInit} */
  const init = { method, signal, credentials: "same-origin", headers: { Accept: "application/json", ...headers } };
  if (form) init.body = form;
  if (body !== undefined) {
    init.body = JSON.stringify(body);
    init.headers = { "Content-Type": "application/json", ...init.headers };
  }
  let response;
  try {
    response = await fetch(address(path, query), init);
  } catch (error) {
    if (signal?.aborted) throw error;
    throw unreachable();
  }
  if (response.ok) return response;
  throw problemOf(response.status, await response.text());
}

/**
 * What a response without success says. Who is not signed in is led to the sign-in.
 * @param {number} status
 * @param {string} text
 */
export function problemOf(status, text) {
  if (status === 401) signIn();
  try {
    return new Problem({ status, ...JSON.parse(text) });
  } catch {
    return new Problem({ status, code: "unknown", detail: `The server answered ${status}` });
  }
}

/** @returns {Promise<any>} the JSON of the answer; null where there is none */
async function json(/** @type {string} */ method, /** @type {string} */ path, options = {}) {
  const response = await call(method, path, options);
  return response.status === 204 ? null : response.json();
}

export const api = {
  get: (/** @type {string} */ path, query = {}, options = {}) => json("GET", path, { query, ...options }),
  post: (/** @type {string} */ path, /** @type {unknown} */ body, options = {}) => json("POST", path, { body, ...options }),
  put: (/** @type {string} */ path, /** @type {unknown} */ body, options = {}) => json("PUT", path, { body, ...options }),
  patch: (/** @type {string} */ path, /** @type {unknown} */ body, options = {}) => json("PATCH", path, { body, ...options }),
  delete: (/** @type {string} */ path, options = {}) => json("DELETE", path, options),
};

/**
 * All items of a list, page by page.
 * @param {string} path
 * @param {Record<string, unknown>} [query]
 * @param {{most?: number, signal?: AbortSignal, from?: string | null}} [options] `from`: a cursor to begin behind
 * @returns {Promise<any[]>}
 */
export async function all(path, query = {}, { most = 5000, signal, from = null } = {}) {
  const items = [];
  let cursor = from;
  do {
    const page = await api.get(path, { limit: 200, ...query, cursor }, { signal });
    items.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor && items.length < most);
  return items;
}
