/**
 * Runs before the first paint: puts the remembered theme on the root element, so that a dark room is not lit up by a light page. A classic script of
 * a few bytes; `store/theme.ts` does the same again with signals.
 */
const remembered = localStorage.getItem("callboard.theme");
if (remembered === "light" || remembered === "dark") {
  document.documentElement.setAttribute("data-theme", remembered);
}
