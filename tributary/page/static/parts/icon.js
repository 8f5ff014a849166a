/** Icons, drawn with the colour of the text around them. They say nothing to screen readers: what holds them has a name. */

import { html } from "../lib/html.js";

const PATHS = {
  attach: "M20 11.5l-8.2 8.2a5 5 0 0 1-7.1-7.1l8.6-8.6a3.3 3.3 0 0 1 4.7 4.7l-8.5 8.5a1.7 1.7 0 0 1-2.4-2.4l7.7-7.7",
  audio: "M9 18V6l10-2v12M9 18a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0zM19 16a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0z",
  back: "M15 5l-7 7 7 7",
  chat: "M4 5h16v11H10l-4.5 4v-4H4z",
  check: "M5 12.5l4.5 4.5L19 7.5",
  close: "M6 6l12 12M18 6L6 18",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  dark: "M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.500 10.500z",
  delete: "M4 7h16M9 7V4h6v3M6.500 7l1 13h9l1-13M10 11v5M14 11v5",
  document: "M6 3h8l4 4v14H6zM14 3v4h4M9 12h6M9 16h6",
  download: "M12 4v11M7 11l5 5 5-5M5 20h14",
  edit: "M4 20l1-4L16 5l3 3L8 19zM14 7l3 3",
  graph: "M7 7l10 3M8 17l9-5.500M6.500 8.500v7M5 5.500h3v3H5zM5 15.500h3v3H5zM17 9h3v3h-3z",
  image: "M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4M15 9h.01",
  knowledge: "M5 4h5v16H5zM10 4h4v16h-4zM14.500 5l3.800-1 2.700 15-3.800 1z",
  light: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v3M12 19v3M2 12h3M19 12h3M5 5l2 2M17 17l2 2M5 19l2-2M17 7l2-2",
  menu: "M4 7h16M4 12h16M4 17h16",
  more: "M5 12h.01M12 12h.01M19 12h.01",
  next: "M9 5l7 7-7 7",
  note: "M12 8v5M12 16.500h.01M12 3l9.500 17h-19z",
  plus: "M12 5v14M5 12h14",
  retry: "M5 12a7 7 0 1 1 2 5M5 19v-4h4",
  search: "M10.500 4a6.500 6.500 0 1 0 0 13 6.500 6.500 0 0 0 0-13zM15.500 15.500L20 20",
  send: "M12 19V5M6 11l6-6 6 6",
  settings: "M4 7h9M17 7h3M4 17h3M11 17h9M13 4.500v5M7 14.500v5M17 4.500",
  signout: "M10 4H5v16h5M9 12h11M16 8l4 4-4 4",
  stop: "M7 7h10v10H7z",
  system: "M3 5h18v12H3zM9 21h6M12 17v4",
  turn: "M5 5h5v4H5zM14 15h5v4h-5zM7.500 9v3.500a4.500 4.500 0 0 0 4.500 4.500h2M14 5h5v4h-5zM10 7h4",
  usage: "M5 20V11M10 20V5M15 20v-6M20 20V8",
};

/** @param {{name: keyof typeof PATHS}} props */
export function Icon({ name }) {
  return html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false"><path d=${PATHS[name]} /></svg>`;
}
