/** What is kept against the quota, and the month against its budget. */

import { dollars, moment, size } from "../../lib/format.js";
import { html } from "../../lib/html.js";

/** @param {{storage: {bytes: number, quotaBytes: number | null}, month: any}} props */
export function Limits({ storage, month }) {
  const spent = month.costUsd + month.reservedUsd;
  return html`
    <div class="limits">
      <${Limit} name="Storage" used=${storage.bytes} limit=${storage.quotaBytes} said=${size} none="without a quota" />
      <${Limit} name=${`Month ${month.month}`} used=${spent} limit=${month.budgetUsd} said=${dollars} none="without a budget">
        ${month.reservedUsd > 0 && html`<p class="hint">${dollars(month.reservedUsd)} of it is expected of answers that are being written.</p>`}
        ${month.budgetUsd !== null && html`<p class="hint">${dollars(month.remainingUsd)} is left until ${moment(month.endsAt)}.</p>`}
        ${month.unpricedCalls > 0 && html`<p class="hint">The cost of ${month.unpricedCalls} calls is not known.</p>`}
      <//>
    </div>`;
}

function Limit({ name, used, limit, said, none, children = null }) {
  const bounded = limit !== null && limit !== undefined;
  return html`
    <section aria-label=${name}>
      <h2>${name}</h2>
      <p>${said(used)} ${bounded ? `of ${said(limit)}` : none}</p>
      ${bounded && html`<progress aria-label=${name} max=${limit || 1} value=${Math.min(used, limit || 1)} class=${used >= limit ? "full" : ""}></progress>`}
      ${children}
    </section>`;
}
