/** Server-sent events over fetch: unlike EventSource it can post, sees failures as problems, and never repeats a post. */

import { call, unreachable } from "./api.js";

/** @typedef {{event: string, data: any}} ServerEvent */

/**
 * Opens a stream, which begins as soon as it can be no more refused. A refusal is thrown as a problem.
 * @param {string} method
 * @param {string} path
 * @param {{body?: unknown, signal?: AbortSignal}} [options]
 */
export const openStream = (method, path, options = {}) =>
  call(method, path, { ...options, headers: { Accept: "text/event-stream", Prefer: "wait=0" } });

/** Milliseconds without a byte, of several comments that keep connections alive, after which a connection is dead. */
const SILENCE = 45_000;

/**
 * The events of a response, as they come. Comments are passed over; a connection that went silent, as after a computer
 * slept, has ended.
 * @param {Response} response
 * @returns {AsyncGenerator<ServerEvent>}
 */
export async function* eventsOf(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let watch = 0;
  try {
    for (;;) {
      clearTimeout(watch);
      watch = setTimeout(() => void reader.cancel(), SILENCE);
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (rest + value).split(/\r?\n\r?\n/);
      rest = blocks.pop();
      for (const block of blocks) {
        const event = parse(block);
        if (event) yield event;
      }
    }
  } catch (error) {
    throw error instanceof TypeError ? unreachable() : error;
  } finally {
    clearTimeout(watch);
    reader.cancel().catch(() => {});
  }
}

/** @param {string} block */
function parse(block) {
  let event = "message";
  const data = [];
  for (const line of block.split(/\r?\n/)) {
    if (line.startsWith("event:")) event = line.slice(6).trim();
    if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
  }
  return data.length ? { event, data: JSON.parse(data.join("\n")) } : null;
}

/**
 * Follows a stream that may break off: it is opened again, each time a little later, until it ends by itself.
 * @param {string} path
 * @param {{signal: AbortSignal, onEvent: (event: ServerEvent) => void, isLast: (event: ServerEvent) => boolean,
 *          onOpen?: () => void}} options `onOpen` says that events come from the first again
 */
export async function follow(path, { signal, onEvent, isLast, onOpen }) {
  for (let attempt = 0; !signal.aborted; attempt += 1) {
    try {
      const response = await openStream("GET", path, { signal });
      onOpen?.();
      for await (const event of eventsOf(response)) {
        attempt = 0;
        onEvent(event);
        if (isLast(event)) return;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error.status >= 400 && error.status < 500) throw error;
      if (attempt >= 8) throw error;
    }
    await pause(Math.min(500 * 2 ** attempt, 10_000), signal);
  }
}

/** @param {number} milliseconds @param {AbortSignal} [signal] ends it early @returns {Promise<void>} */
export const pause = (milliseconds, signal) =>
  new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal?.addEventListener("abort", end);
  });
