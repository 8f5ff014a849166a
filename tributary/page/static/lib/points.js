/** Offsets as the server counts them, in Unicode code points, within strings, which count UTF-16 units. */

/**
 * The unit at which a code point begins.
 * @param {string} text
 * @param {number} points to go on, at most to the end of the text
 * @param {number} [from] the unit to begin at
 */
export function unitAfter(text, points, from = 0) {
  let unit = from;
  for (let left = points; left > 0 && unit < text.length; left -= 1) {
    unit += text.codePointAt(unit) > 0xffff ? 2 : 1;
  }
  return unit;
}

/**
 * A passage and what stands around it.
 * @param {string} text
 * @param {number} start first code point of the passage
 * @param {number} end the one behind it
 * @param {number} room units to show on either side
 * @returns {{before: string, passage: string, after: string, cutBefore: boolean, cutAfter: boolean}}
 */
export function around(text, start, end, room) {
  const first = unitAfter(text, start);
  const last = unitAfter(text, end - start, first);
  const from = wholeFrom(text, Math.max(0, first - room));
  const to = wholeFrom(text, Math.min(text.length, last + room));
  return {
    before: text.slice(from, first),
    passage: text.slice(first, last),
    after: text.slice(last, to),
    cutBefore: from > 0,
    cutAfter: to < text.length,
  };
}

/** The unit, or the next where it stands within a pair. */
function wholeFrom(/** @type {string} */ text, /** @type {number} */ unit) {
  const code = text.charCodeAt(unit);
  return code >= 0xdc00 && code <= 0xdfff ? unit + 1 : unit;
}
