/** Light or dark: as the system prefers, or as was chosen in this browser. */

import { effect, signal } from "./html.js";
import { recall, remember } from "./memory.js";

const KEY = "theme";
export const THEMES = ["system", "light", "dark"];

const kept = recall(KEY);
export const theme = signal(THEMES.includes(kept) ? kept : "system");

effect(() => {
  remember(KEY, theme.value === "system" ? null : theme.value);
  if (theme.value === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
});
