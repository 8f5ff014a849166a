/** Who is signed in, and what they may do. */

import { api } from "./api.js";
import { computed, signal } from "./html.js";

/** @type {import("./html.js").Signal<{organisation: string, scope: "full" | "chat"} | null>} */
export const session = signal(null);

/** Whether bots and knowledge bases may be changed, and turns looked into. */
export const mayManage = computed(() => session.value?.scope === "full");

export async function loadSession() {
  session.value = await api.get("/api/session");
}
