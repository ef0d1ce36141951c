// @ts-check
// A text field with a list that follows what is typed (the ARIA combobox pattern).
import { h, replace } from "./dom.js";

const STEP = 200;
const LEAP = 10;

/** @typedef {{ value: string, note: string }} Item */

/**
 * Return the items whose text holds every word of `query`, in their order; those that begin
 * with it come first.
 * @param {Item[]} items
 * @param {string} query
 */
export function matching(items, query) {
  const text = query.trim().toLowerCase();
  const words = text.split(/\s+/);
  const found = items.filter((item) => {
    const whole = `${item.value} ${item.note}`.toLowerCase();
    return words.every((word) => whole.includes(word));
  });
  const first = found.filter((item) => item.value.toLowerCase().startsWith(text));
  return first.length === 0 ? found : [...first, ...found.filter((item) => !first.includes(item))];
}

/**
 * @typedef {object} ComboboxOptions
 * @property {string} id of the text field, for its label
 * @property {string} label
 * @property {(value: string) => void} onChoose
 * @property {() => void} onOpen
 */

export class Combobox {
  /** @param {ComboboxOptions} options */
  constructor(options) {
    this.options = options;
    /** @type {Item[]} */
    this.items = [];
    /** @type {Item[]} */
    this.found = [];
    this.value = "";
    this.active = -1;
    this.drawn = 0;
    this.isOpen = false;
    this.typed = false;
    const list = `${options.id}-list`;
    this.input = /** @type {HTMLInputElement} */ (
      h("input", {
        class: "snb-input snb-combo-input",
        id: options.id,
        type: "text",
        role: "combobox",
        autocomplete: "off",
        spellcheck: "false",
        "aria-expanded": "false",
        "aria-autocomplete": "list",
        "aria-controls": list,
        on: {
          input: () => this.filter(),
          click: () => this.open(),
          keydown: (/** @type {KeyboardEvent} */ event) => this.key(event),
          blur: () => this.leave(),
        },
      })
    );
    this.button = h("button", {
      class: "snb-combo-button",
      type: "button",
      tabindex: "-1",
      "aria-label": `Show ${options.label}`,
      text: "▾",
      // The field must not lose the focus to its own button or list.
      on: { mousedown: (/** @type {Event} */ event) => event.preventDefault(), click: () => this.toggle() },
    });
    this.list = h("ul", {
      class: "snb-combo-list",
      id: list,
      role: "listbox",
      "aria-label": options.label,
      popover: "manual",
      on: {
        mousedown: (/** @type {Event} */ event) => event.preventDefault(),
        click: (/** @type {Event} */ event) => this.click(event),
        scroll: () => this.more(),
      },
    });
    this.said = h("span", { class: "snb-sr", role: "status" });
    this.element = h("div", { class: "snb-combo" }, this.input, this.button, this.list, this.said);
    this.place = () => {
      const at = this.input.getBoundingClientRect();
      const below = window.innerHeight - at.bottom;
      const height = Math.max(120, Math.min(320, Math.max(below, at.top) - 12));
      const over = below < height && at.top > below;
      this.list.style.setProperty("left", `${at.left}px`);
      this.list.style.setProperty("width", `${at.width}px`);
      this.list.style.setProperty("max-height", `${height}px`);
      this.list.style.setProperty("top", over ? "auto" : `${at.bottom + 2}px`);
      this.list.style.setProperty("bottom", over ? `${window.innerHeight - at.top + 2}px` : "auto");
    };
  }

  /** @param {Item[]} items */
  setItems(items) {
    this.items = items;
    if (this.isOpen) this.draw();
  }

  /** @param {string} value chosen elsewhere; what is being typed stays */
  setValue(value) {
    this.value = value;
    if (!this.typed) this.input.value = value;
  }

  toggle() {
    this.input.focus();
    if (this.isOpen) this.shut();
    else this.open();
  }

  open() {
    if (this.isOpen) return;
    this.isOpen = true;
    this.input.setAttribute("aria-expanded", "true");
    if (!this.typed) this.input.select();
    this.options.onOpen();
    this.draw();
    // In the top layer, since the output of a cell cuts off what stands out of it.
    this.list.showPopover?.();
    this.place();
    window.addEventListener("scroll", this.place, true);
    window.addEventListener("resize", this.place);
    this.reveal();
  }

  shut() {
    this.isOpen = false;
    this.active = -1;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
    this.said.textContent = "";
    if (this.list.isConnected) this.list.hidePopover?.();
    window.removeEventListener("scroll", this.place, true);
    window.removeEventListener("resize", this.place);
  }

  filter() {
    this.typed = true;
    this.open();
    this.draw();
  }

  draw() {
    const text = this.input.value.trim();
    this.found = this.typed && text ? matching(this.items, text) : this.items;
    const known = this.items.some((item) => item.value === text);
    if (this.typed && text && !known) this.found = [...this.found, { value: text, note: "as typed" }];
    const wanted = this.typed ? text : this.value;
    const same = this.found.findIndex((item) => item.value === wanted && item.note !== "as typed");
    this.active = same < 0 && this.typed && text ? 0 : same;
    replace(this.list);
    this.drawn = 0;
    this.grow(Math.max(STEP, this.active + STEP));
    if (this.found.length === 0)
      this.list.append(h("li", { class: "snb-combo-none", text: "nothing listed" }));
    const many = this.found.filter((item) => item.note !== "as typed").length;
    this.said.textContent = `${many} of ${this.items.length}`;
    this.point();
  }

  /** @param {number} wanted how many elements there should be */
  grow(wanted) {
    const end = Math.min(this.found.length, wanted);
    for (let index = this.drawn; index < end; index += 1) this.list.append(this.option(index));
    this.drawn = Math.max(this.drawn, end);
  }

  more() {
    if (this.list.scrollTop + this.list.clientHeight > this.list.scrollHeight - 400)
      this.grow(this.drawn + STEP);
  }

  /** @param {number} index */
  option(index) {
    const item = this.found[index] ?? { value: "", note: "" };
    const unlisted = item.note === "as typed";
    return h(
      "li",
      {
        class: "snb-combo-option",
        id: `${this.options.id}-${index}`,
        role: "option",
        "aria-selected": "false",
        "aria-setsize": String(this.found.length),
        "aria-posinset": String(index + 1),
        "data-index": String(index),
      },
      h("span", { class: "snb-combo-value", text: unlisted ? `Use “${item.value}”` : item.value }),
      item.note ? h("span", { class: "snb-combo-note snb-quiet", text: item.note }) : null,
    );
  }

  point() {
    this.grow(this.active + 1);
    for (const old of this.list.querySelectorAll('[aria-selected="true"]'))
      old.setAttribute("aria-selected", "false");
    const now = this.active < 0 ? null : this.list.children[this.active];
    if (now) {
      now.setAttribute("aria-selected", "true");
      this.input.setAttribute("aria-activedescendant", now.id);
    } else this.input.removeAttribute("aria-activedescendant");
    this.reveal();
  }

  reveal() {
    const now = /** @type {HTMLElement | undefined} */ (this.list.children[this.active]);
    if (!now || !this.isOpen) return;
    const bottom = now.offsetTop + now.offsetHeight;
    if (now.offsetTop < this.list.scrollTop) this.list.scrollTop = now.offsetTop;
    else if (bottom > this.list.scrollTop + this.list.clientHeight)
      this.list.scrollTop = bottom - this.list.clientHeight;
  }

  /** @param {number} by */
  move(by) {
    if (!this.isOpen) {
      this.open();
      if (this.active >= 0) return;
    }
    const last = this.found.length - 1;
    if (last < 0) return;
    const one = Math.abs(by) === 1;
    const next = this.active + by;
    // One step leads round the ends; a leap stops there.
    if (one) this.active = next > last ? 0 : next < 0 ? last : next;
    else this.active = Math.max(0, Math.min(last, next));
    this.point();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    /** @type {Record<string, () => void>} */
    const moves = {
      ArrowDown: () => this.move(1),
      ArrowUp: () => this.move(-1),
      PageDown: () => this.move(LEAP),
      PageUp: () => this.move(-LEAP),
      Enter: () => this.accept(),
      Escape: () => this.restore(),
    };
    const move = moves[event.key];
    if (!move || event.isComposing) return;
    event.preventDefault();
    move();
  }

  accept() {
    const item = this.isOpen ? this.found[this.active] : undefined;
    if (item) this.choose(item.value);
    else if (this.typed) this.choose(this.input.value.trim());
    else this.shut();
  }

  /** @param {Event} event */
  click(event) {
    const place = /** @type {Element} */ (event.target).closest("[data-index]");
    const item = place && this.found[Number(place.getAttribute("data-index"))];
    if (item) this.choose(item.value);
  }

  /** @param {string} value */
  choose(value) {
    this.typed = false;
    this.input.value = value;
    this.shut();
    if (value === this.value) return;
    this.value = value;
    this.options.onChoose(value);
  }

  restore() {
    this.typed = false;
    this.input.value = this.value;
    this.shut();
  }

  /** What was typed counts on leaving where there is no list to take it from, or it is in it. */
  leave() {
    const text = this.input.value.trim();
    const counts = this.items.length === 0 || this.items.some((item) => item.value === text);
    if (this.typed && counts) this.choose(text);
    else this.restore();
  }

  close() {
    this.shut();
  }
}
