/** What every component needs, from one place: templates without a build step, hooks, and signals. */

import { Fragment, h, render } from "../vendor/preact.js";
import htm from "../vendor/htm.js";

export const html = htm.bind(h);
export { Fragment, render };
export {
  useCallback, useEffect, useErrorBoundary, useId, useLayoutEffect, useMemo, useRef, useState,
} from "../vendor/preact-hooks.js";
export { batch, computed, effect, signal, untracked, useComputed, useSignal, useSignalEffect } from "../vendor/signals.js";
