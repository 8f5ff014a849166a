/** The days that are looked at. Days are those of UTC, as the server counts them. */

const DAY = 86_400_000;

export const SPANS = { month: "This month", 30: "30 days", 90: "90 days", 365: "A year" };

/** The query for a span; nothing for the month, which the server knows best. @param {string} span */
export function spanOf(span) {
  if (span === "month") return {};
  return { from: isoDay(Date.now() - (Number(span) - 1) * DAY) };
}

const isoDay = (/** @type {number} */ time) => new Date(time).toISOString().slice(0, 10);

/**
 * Every day of an answer, those without a call as well.
 * @param {{from: string, to: string, groups: any[]}} usage grouped by day
 * @returns {{day: string, totalTokens: number, costUsd: number | null, calls: number}[]}
 */
export function daysOf({ from, to, groups }) {
  const known = new Map(groups.map((group) => [group.day, group]));
  const days = [];
  for (let time = Date.parse(from); time <= Date.parse(to); time += DAY) {
    const day = isoDay(time);
    days.push(known.get(day) ?? { day, totalTokens: 0, costUsd: 0, calls: 0 });
  }
  return days;
}
