// @ts-check
// The keys of the reviewer's desk: which there are, and what a pressed one means.
import { chord, isTyping } from "./keys.js";

/**
 * One line of the key table: what is pressed, and which step of the desk each key is.
 * @typedef {{ shown: string[], says: string, keys: Record<string, string> }} Key
 */

/** @type {Key[]} */
export const REVIEW_KEYS = [
  { shown: ["a"], says: "accept, then on to the next undecided row", keys: { a: "accept" } },
  { shown: ["r"], says: "reject, then on to the next undecided row", keys: { r: "reject" } },
  { shown: ["e"], says: "edit; Ctrl+Enter saves and accepts, Esc leaves", keys: { e: "edit" } },
  { shown: ["u"], says: "undo the last step, as often as there are steps", keys: { u: "undo" } },
  { shown: ["j", "↓"], says: "next row", keys: { j: "down", ArrowDown: "down" } },
  { shown: ["k", "↑"], says: "previous row", keys: { k: "up", ArrowUp: "up" } },
  { shown: ["n"], says: "next undecided row", keys: { n: "next" } },
  {
    shown: ["Page Down", "Page Up"],
    says: "ten rows down or up",
    keys: { PageDown: "pageDown", PageUp: "pageUp" },
  },
  { shown: ["Home", "End"], says: "first or last row", keys: { Home: "home", End: "end" } },
  { shown: ["/"], says: "search; Enter goes to the first row, Esc leaves", keys: { "/": "search" } },
  { shown: ["t"], says: "add a tag", keys: { t: "tag" } },
  { shown: ["m"], says: "write a note; leaving it saves", keys: { m: "note" } },
  {
    shown: ["1", "…", "5"],
    says: "stars; 0 takes them away",
    keys: { 0: "stars", 1: "stars", 2: "stars", 3: "stars", 4: "stars", 5: "stars" },
  },
  { shown: ["?"], says: "this table; Esc closes it", keys: { "?": "help", Escape: "escape" } },
];

/** @type {Map<string, string>} */
const ACTIONS = new Map(REVIEW_KEYS.flatMap((key) => Object.entries(key.keys)));
// A held key may run through the list; it must not decide a second row.
const REPEATING = new Set(["down", "up", "pageDown", "pageUp"]);
// What these keys do inside a control is the control's own.
const OWN_ARROWS = ["ArrowDown", "ArrowUp", "ArrowLeft", "ArrowRight", "Home", "End", "PageUp", "PageDown"];

/**
 * Return what a key means to the desk, or "" where it belongs to the field it was typed in,
 * to a writing system under way, to the browser (with Ctrl, Alt or Cmd), or to nobody.
 * @param {KeyboardEvent} event
 * @returns {string}
 */
export function reviewAction(event) {
  // 229: older browsers mark the keys of a composition only this way.
  if (event.isComposing || event.keyCode === 229 || event.defaultPrevented) return "";
  if (isTyping(event)) return "";
  const pressed = chord(event);
  // With Shift or Caps Lock on, "A" is meant as "a".
  const action = ACTIONS.get(pressed.length === 1 ? pressed.toLowerCase() : pressed) ?? "";
  if (event.repeat && !REPEATING.has(action)) return "";
  if (OWN_ARROWS.includes(pressed) && keepsArrows(event)) return "";
  return action;
}

/** @param {Event} event */
function keepsArrows(event) {
  const target = /** @type {HTMLElement} */ (event.target);
  if (target.closest?.("[role=radiogroup], [data-snb-scroll]")) return true;
  return target.getAttribute?.("type") === "range";
}
