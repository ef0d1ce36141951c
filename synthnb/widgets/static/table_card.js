// @ts-check
// One row of a table, whole: every column with its name, long texts as they stand.
import { h, replace } from "./dom.js";
import { missing } from "./table_grid.js";
import { grouped } from "./table_words.js";

/** @typedef {{ name: string, kind: string, text: string | null, cut: number }} CardField */

/**
 * @typedef {object} CardOptions
 * @property {(index: number) => void} onMove another row is wanted
 * @property {(index: number) => void} onCopy
 * @property {() => void} onClose
 */

export class TableCard {
  /** @param {CardOptions} options */
  constructor(options) {
    this.options = options;
    this.index = -1;
    this.total = 0;
    this.title = h("strong", { class: "snb-num" });
    this.before = tool("Previous", "k", () => options.onMove(this.index - 1));
    this.after = tool("Next", "j", () => options.onMove(this.index + 1));
    this.body = h("div", { class: "snb-table-fields", tabindex: "0", role: "group" });
    this.element = h(
      "div",
      { class: "snb-table-card", role: "dialog", "aria-label": "one row", hidden: true },
      h(
        "div",
        { class: "snb-table-bar" },
        this.title,
        h("span", { class: "snb-table-gap" }),
        this.before,
        this.after,
        tool("Copy as JSON", "c", () => options.onCopy(this.index)),
        tool("Close", "Esc", () => options.onClose()),
      ),
      this.body,
    );
  }

  get shown() {
    return !this.element.hidden;
  }

  /**
   * @param {number} index
   * @param {number} total rows that are shown
   * @param {CardField[]} fields
   */
  show(index, total, fields) {
    this.index = index;
    this.total = total;
    const name = `Row ${grouped(index + 1)} of ${grouped(total)}`;
    this.title.textContent = name;
    this.element.setAttribute("aria-label", name);
    this.body.setAttribute("aria-label", name);
    this.before.disabled = index <= 0;
    this.after.disabled = index >= total - 1;
    replace(this.body, ...fields.map(cardField));
    this.body.scrollTop = 0;
    const opened = this.element.hidden;
    this.element.hidden = false;
    if (opened) this.body.focus({ preventScroll: true });
  }

  hide() {
    this.element.hidden = true;
    replace(this.body);
  }

  /**
   * @param {string} key
   * @returns {boolean} whether it was one of the card's keys
   */
  press(key) {
    if (key === "Escape") this.options.onClose();
    else if (key === "j" && this.index < this.total - 1) this.options.onMove(this.index + 1);
    else if (key === "k" && this.index > 0) this.options.onMove(this.index - 1);
    else if (key === "c") this.options.onCopy(this.index);
    else return false;
    return true;
  }
}

/** @param {CardField} field */
function cardField(field) {
  const value = h("div", { class: `snb-table-value snb-table-${field.kind}` });
  if (field.text === null) value.append(missing());
  else value.append(h("span", { text: field.text }));
  if (field.cut) {
    const more = `… ${grouped(field.cut)} more characters; Copy as JSON has them all`;
    value.append(h("div", { class: "snb-quiet", text: more }));
  }
  return h(
    "div",
    { class: "snb-table-field" },
    h("div", { class: "snb-table-label snb-quiet", text: field.name }),
    value,
  );
}

/**
 * @param {string} text
 * @param {string} key
 * @param {() => void} press
 */
function tool(text, key, press) {
  const button = h(
    "button",
    { class: "snb-btn", type: "button", on: { click: press } },
    text,
    h("kbd", { text: key }),
  );
  return /** @type {HTMLButtonElement} */ (button);
}
