/** Figures and dates as people read them. */

const MB = 2 ** 20;

/** 3.2 MB; 1 MB is 2^20 bytes. @param {number} bytes */
export function size(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < MB) return `${(bytes / 1024).toFixed(bytes < 10 * 1024 ? 1 : 0)} KB`;
  return `${(bytes / MB).toFixed(1)} MB`;
}

/** @param {number} part from 0 to 1 */
export const percent = (part) => `${Math.round(part * 100)}%`;

const time = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const whole = new Intl.DateTimeFormat(undefined, { dateStyle: "long", timeStyle: "short" });

/** Today's as a time, others as a day. @param {string} date ISO 8601 */
export function when(date) {
  const value = new Date(date);
  return value.toDateString() === new Date().toDateString() ? time.format(value) : day.format(value);
}

/** @param {string} date ISO 8601 */
export const moment = (date) => whole.format(new Date(date));

/** 12,300 */
export const count = (/** @type {number} */ value) => new Intl.NumberFormat().format(value);

/** US dollars, small ones with as many digits as they need; unknown ones as such. @param {number | null | undefined} value */
export function dollars(value) {
  if (value === null || value === undefined) return "unknown cost";
  if (value === 0) return "$0";
  return `$${value < 0.01 ? value.toPrecision(2) : value.toFixed(2)}`;
}
