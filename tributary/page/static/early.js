/* The colours that were chosen in this browser, before anything is painted. No module: those wait for the page. */

try {
  const chosen = localStorage.getItem("tributary:theme");
  if (chosen) document.documentElement.dataset.theme = chosen;
} catch {
  // A browser that keeps nothing shows the system's colours.
}
