import assert from "node:assert/strict";
import { test } from "node:test";
import { chord, guard, isTyping } from "../../synthnb/widgets/static/keys.js";
import { Element } from "./page.js";

const press = (key, held = {}) => ({
  key,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  shiftKey: false,
  ...held,
});

test("a key alone is its own name", () => {
  assert.equal(chord(press("a")), "a");
  assert.equal(chord(press("Escape")), "Escape");
  assert.equal(chord(press("ArrowDown")), "ArrowDown");
  assert.equal(chord(press(" ")), "Space");
  assert.equal(chord(press("é")), "é");
});

test("Shift is named where it does not change the character", () => {
  assert.equal(chord(press("?", { shiftKey: true })), "?");
  assert.equal(chord(press("A", { shiftKey: true })), "A");
  assert.equal(chord(press("Tab", { shiftKey: true })), "Shift+Tab");
  assert.equal(chord(press("Enter", { shiftKey: true })), "Shift+Enter");
});

test("Cmd counts as Ctrl, and modifiers have one order", () => {
  assert.equal(chord(press("Enter", { ctrlKey: true })), "Ctrl+Enter");
  assert.equal(chord(press("Enter", { metaKey: true })), "Ctrl+Enter");
  assert.equal(chord(press("Enter", { ctrlKey: true, metaKey: true })), "Ctrl+Enter");
  assert.equal(chord(press("a", { altKey: true })), "Alt+a");
  assert.equal(chord(press("End", { shiftKey: true, altKey: true, ctrlKey: true })), "Ctrl+Alt+Shift+End");
});

test("a browser's own chord is not a plain letter", () => {
  for (const held of [{ ctrlKey: true }, { metaKey: true }, { altKey: true }])
    assert.notEqual(chord(press("r", held)), "r");
});

const field = (tag, { type, editable = false } = {}) => {
  const element = new Element(tag);
  if (type !== undefined) element.setAttribute("type", type);
  element.isContentEditable = editable;
  return { target: element };
};

test("letters are text in fields", () => {
  assert.equal(isTyping(field("textarea")), true);
  assert.equal(isTyping(field("input")), true);
  assert.equal(isTyping(field("input", { type: "search" })), true);
  assert.equal(isTyping(field("input", { type: "number" })), true);
  assert.equal(isTyping(field("input", { type: "password" })), true);
  assert.equal(isTyping(field("div", { editable: true })), true);
  assert.equal(isTyping(field("select")), true, "a letter chooses an option");
});

test("letters are commands elsewhere", () => {
  assert.equal(isTyping(field("div")), false);
  assert.equal(isTyping(field("button")), false);
  for (const type of ["checkbox", "radio", "button", "range"])
    assert.equal(isTyping(field("input", { type })), false, type);
  assert.equal(isTyping({ target: null }), false);
  assert.equal(isTyping({ target: {} }), false, "a window or a text node");
});

test("a guarded view takes the focus and keeps its keys", () => {
  const root = new Element("div");
  guard(root);
  assert.equal(root.tabIndex, 0);
  assert.equal(root.getAttribute("data-lm-suppress-shortcuts"), "true");
  for (const name of ["keydown", "keyup", "keypress"]) {
    let left = true;
    root.dispatch(name, {
      stopPropagation: () => {
        left = false;
      },
    });
    assert.equal(left, false, `${name} reaches the notebook`);
  }
});

test("a guarded view may name its own place in the tab order", () => {
  const root = new Element("div");
  root.setAttribute("tabindex", "-1");
  guard(root);
  assert.equal(root.getAttribute("tabindex"), "-1");
  assert.equal(root.tabIndex, undefined);
});
