// @ts-check
// Elements without markup: text goes in as text nodes and attribute values only.

/** @typedef {Node | string | number | null | undefined | false} Child */
/** @typedef {Record<string, unknown>} Props */

const SVG = "http://www.w3.org/2000/svg";
const SVG_TAGS = new Set(["svg", "g", "rect", "line", "polyline", "path", "circle", "text", "title", "desc"]);
const HTML_TAGS = new Set(
  (
    "div span p strong em table thead tbody tr th td caption details summary ul li code pre " +
    "figure figcaption progress mark"
  ).split(" "),
);
// Control and bidi characters are shown for what they are: a hidden one could turn the text
// around it, or hide what a reviewer accepts.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\ud800-\udfff]/gu;

/**
 * Return `text` with control, bidi and lone surrogate characters as their code, like U+202E.
 * @param {string} text
 */
export function visible(text) {
  return text
    .replaceAll("\r\n", "\n")
    .replace(HIDDEN, (c) => `U+${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`);
}

/**
 * Make an element. Props: `class`, `text`, `on: {event: handler}`, DOM properties that are
 * no attributes (`value`, `checked`, `disabled`, `hidden`), and any attribute.
 * @param {string} tag
 * @param {Props | null} [props]
 * @param {...Child} children
 * @returns {HTMLElement}
 */
export function h(tag, props, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) setProp(element, name, value);
  add(element, children);
  return element;
}

/**
 * @param {HTMLElement} element
 * @param {string} name
 * @param {unknown} value
 */
function setProp(element, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (name === "on") {
    for (const [event, handler] of Object.entries(/** @type {Record<string, EventListener>} */ (value)))
      element.addEventListener(event, handler);
  } else if (name === "class") element.className = String(value);
  else if (name === "text") element.textContent = visible(String(value));
  else if (name === "value" || name === "checked" || name === "disabled" || name === "hidden")
    Reflect.set(element, name, value);
  else element.setAttribute(name, value === true ? "" : String(value));
}

/**
 * @param {Node} parent
 * @param {Child[]} children
 */
function add(parent, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    parent.appendChild(child instanceof Node ? child : document.createTextNode(visible(String(child))));
  }
}

/**
 * Put `children` in the place of what `parent` holds.
 * @param {Element} parent
 * @param {...Child} children
 */
export function replace(parent, ...children) {
  parent.replaceChildren();
  add(parent, children);
}

/**
 * Draw a tree of `markup.py`: `[tag, attributes, ...children]`.
 * @param {any} node
 * @returns {Node}
 */
export function figure(node) {
  if (typeof node === "string") return document.createTextNode(visible(node));
  const [tag, attributes, ...children] = node;
  const inSvg = SVG_TAGS.has(tag);
  if (!inSvg && !HTML_TAGS.has(tag)) throw new Error(`a picture holds no <${tag}>`);
  const element = inSvg ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (/^on|href|src/i.test(name)) throw new Error(`a picture holds no attribute ${name}`);
    if (value === null || value === undefined || value === false) continue;
    element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) element.appendChild(figure(child));
  return element;
}
