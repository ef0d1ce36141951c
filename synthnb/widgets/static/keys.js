// @ts-check
// Keys of a view: what was pressed, and that the notebook does not hear of it.

/**
 * Return a pressed key with its modifiers, e.g. "a", "Ctrl+Enter", "?", "Shift+Tab".
 * Cmd counts as Ctrl. Shift is named only where it does not change the character itself.
 * @param {{ key: string, ctrlKey: boolean, metaKey: boolean, altKey: boolean, shiftKey: boolean }} event
 */
export function chord(event) {
  const parts = [];
  if (event.ctrlKey || event.metaKey) parts.push("Ctrl");
  if (event.altKey) parts.push("Alt");
  if (event.shiftKey && event.key.length > 1) parts.push("Shift");
  parts.push(event.key === " " ? "Space" : event.key);
  return parts.join("+");
}

/**
 * Return whether the event comes from a place where letters are text.
 * @param {Event} event
 */
export function isTyping(event) {
  const target = /** @type {HTMLElement | null} */ (event.target);
  if (!target || !("tagName" in target)) return false;
  if (target.isContentEditable) return true;
  if (target.tagName === "TEXTAREA" || target.tagName === "SELECT") return true;
  const type = target.getAttribute("type") ?? "text";
  return target.tagName === "INPUT" && !["checkbox", "radio", "button", "range"].includes(type);
}

const SUPPRESS = "data-lm-suppress-shortcuts";

/**
 * Keep the keys of `root` from the notebook: there "a" inserts a cell and "d d" deletes one.
 * Lumino listens while the event goes down (it looks at the attribute), the rest of
 * JupyterLab when it comes up again.
 * @param {HTMLElement} root
 */
export function guard(root) {
  if (!root.hasAttribute("tabindex")) root.tabIndex = 0;
  root.setAttribute(SUPPRESS, "true");
  // Notebook 7 listens on the way down, and many of its shortcuts are bound to whatever has
  // the focus: the mark is looked for on that element first, not on what is around it.
  root.addEventListener("focusin", (event) => {
    /** @type {Element} */ (event.target).setAttribute(SUPPRESS, "true");
  });
  for (const name of ["keydown", "keyup", "keypress", "input", "copy", "cut", "paste"])
    root.addEventListener(name, (event) => event.stopPropagation());
}
