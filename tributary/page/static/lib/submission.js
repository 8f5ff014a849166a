/** What a form is while it is sent, and what kept it from being taken. */

import { useState } from "./html.js";

/**
 * @param {() => Promise<unknown>} work sends it; what it throws is the form's problem
 * @returns {{busy: boolean, problem: string, submit: (event: Event) => Promise<void>}}
 */
export function useSubmission(work) {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    setProblem("");
    try {
      await work();
    } catch (error) {
      setProblem(error.detail ?? String(error));
    }
    setBusy(false);
  };
  return { busy, problem, submit };
}
