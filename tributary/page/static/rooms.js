/**
 * The rooms of the page. A room is a module `rooms/<path>/room.js` that exports `Main`, a component that gets `parts` (what
 * follows the room in the address) and `query`; and, where it has a list of its own, `Side`, which gets the same.
 * @typedef {{path: string, name: string, icon: string, load: () => Promise<any>}} Room
 */

/** @type {Room[]} */
export const ROOMS = [
  { path: "chat", name: "Chat", icon: "chat", load: () => import("./rooms/chat/room.js") },
  { path: "knowledge", name: "Knowledge", icon: "knowledge", load: () => import("./rooms/knowledge/room.js") },
  { path: "usage", name: "Usage", icon: "usage", load: () => import("./rooms/usage/room.js") },
];

/** The room of that path; the first for one that is none. */
export const roomOf = (/** @type {string} */ path) => ROOMS.find((room) => room.path === path) ?? ROOMS[0];
