// @ts-check
// A read-only table of any length: sort, search, choose columns, open a row.
import { channel } from "./channel.js";
import { h, replace } from "./dom.js";
import { chord, guard, isTyping } from "./keys.js";
import { TableCard } from "./table_card.js";
import { TableGrid } from "./table_grid.js";
import { countLine } from "./table_words.js";

/** @typedef {import("./table_words.js").TableState} TableState */

const SEARCH_MS = 200;
const HINT = "↑ ↓ ← → move · Enter opens a row · s sorts by the column · / searches · c copies the row";

class TableView {
  /** @param {import("./channel.js").Model} model */
  constructor(model) {
    this.link = channel(model);
    /** @type {TableState | null} */
    this.state = null;
    this.turn = 0;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    this.grid = new TableGrid({
      fetch: (start, end) => this.fetch(start, end),
      onSort: (order) => this.change("sort", order),
      onOpen: (index) => this.open(index),
      onError: (error) => this.fail(error),
    });
    this.card = new TableCard({
      onMove: (index) => this.open(index),
      onCopy: (index) => this.copy(index),
      onClose: () => this.shut(),
    });
    this.search = /** @type {HTMLInputElement} */ (
      h("input", {
        class: "snb-input",
        type: "search",
        placeholder: "search",
        "aria-label": "search the shown text",
        "aria-keyshortcuts": "/",
        on: { input: () => this.later() },
      })
    );
    this.count = h("span", { class: "snb-num", role: "status" });
    this.boxes = h("div", { class: "snb-table-boxes" });
    this.fold = h("span", { text: "Columns" });
    this.columns = h(
      "details",
      { class: "snb-table-columns" },
      h("summary", { class: "snb-btn" }, this.fold),
      this.boxes,
    );
    this.said = h("span", { class: "snb-quiet", role: "status" });
    this.alert = h("div", { class: "snb-err snb-table-alert", role: "alert", hidden: true });
    this.root = h(
      "div",
      {
        class: "snb snb-table",
        role: "region",
        "aria-label": "table",
        on: { keydown: (/** @type {KeyboardEvent} */ e) => this.key(e) },
      },
      h(
        "div",
        { class: "snb-table-bar" },
        this.search,
        this.count,
        h("span", { class: "snb-table-gap" }),
        this.columns,
      ),
      h("div", { class: "snb-table-stage" }, this.grid.element, this.card.element),
      this.alert,
      h(
        "div",
        { class: "snb-table-bar snb-table-foot" },
        h("span", { class: "snb-quiet", text: HINT }),
        this.said,
      ),
    );
    guard(this.root);
    this.root.removeAttribute("tabindex");
    this.link.on("changed", (content) => this.take(content.state));
    this.link.onStall((waiting) => this.say(waiting ? "the kernel is busy …" : ""));
  }

  async start() {
    try {
      const answer = await this.link.ask("open");
      this.grid.setHeight(answer.height);
      this.take(answer.state);
    } catch (error) {
      this.fail(error);
    }
  }

  /** @param {TableState} state */
  take(state) {
    if (this.state && state.version < this.state.version) return;
    const moved = this.state?.version !== state.version;
    this.state = state;
    this.count.textContent = countLine(state);
    if (!this.timer && this.search !== this.search.ownerDocument.activeElement)
      this.search.value = state.text;
    this.grid.show(state);
    if (!moved) return;
    if (this.card.shown) this.shut();
    this.choices();
  }

  choices() {
    const state = /** @type {TableState} */ (this.state);
    this.fold.textContent = `Columns ${state.chosen.length} of ${state.columns.length}`;
    // Rebuilt only when there are others: a box that was just pressed keeps the focus.
    if (this.boxes.children.length === state.columns.length) {
      for (const [place, box] of [...this.boxes.querySelectorAll("input")].entries())
        box.checked = state.chosen.includes(place);
      return;
    }
    const boxes = state.columns.map((column, place) => {
      const box = h("input", {
        type: "checkbox",
        checked: state.chosen.includes(place),
        on: { change: () => this.choose(place) },
      });
      return h("label", { title: column.label }, box, h("span", { text: column.label }));
    });
    replace(this.boxes, ...boxes);
  }

  /** @param {number} place a column that is to be shown, or no longer */
  choose(place) {
    const state = /** @type {TableState} */ (this.state);
    const there = state.chosen.includes(place);
    const columns = there ? state.chosen.filter((one) => one !== place) : [...state.chosen, place];
    if (columns.length) void this.change("choose", { columns });
    else {
      this.choices();
      this.say("one column has to stay");
    }
  }

  /**
   * @param {number} start
   * @param {number} end
   */
  async fetch(start, end) {
    const answer = await this.link.ask("rows", { start, end });
    if (answer.version !== this.state?.version) throw new Error("the table has changed");
    return answer.rows;
  }

  /**
   * @param {string} op
   * @param {object} content
   */
  async change(op, content) {
    this.turn += 1;
    const turn = this.turn;
    try {
      const answer = await this.link.ask(op, content);
      this.alert.hidden = true;
      if (turn === this.turn) this.take(answer.state);
    } catch (error) {
      this.fail(error);
    }
  }

  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.find(), SEARCH_MS);
  }

  find() {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.search.value !== this.state?.text) void this.change("search", { text: this.search.value });
  }

  /** @param {number} index */
  async open(index) {
    try {
      const answer = await this.link.ask("row", { i: index });
      if (answer.version !== this.state?.version) return;
      this.grid.select(index);
      this.card.show(index, this.state?.matching ?? 0, answer.fields);
    } catch (error) {
      this.fail(error);
    }
  }

  shut() {
    this.card.hide();
    this.grid.element.focus({ preventScroll: true });
  }

  /** @param {number} index */
  async copy(index) {
    if (index < 0) return;
    try {
      const answer = await this.link.ask("json", { i: index });
      const done = await copyText(answer.text, this.root);
      this.say(
        done ? `row ${index + 1} copied as JSON` : "this page may not copy: open the row and select its text",
      );
    } catch (error) {
      this.fail(error);
    }
  }

  /** @param {string} text */
  say(text) {
    this.said.textContent = text;
  }

  /** @param {any} error */
  fail(error) {
    if (error.message === "the table has changed") return;
    this.alert.textContent = error.hint ? `${error.message}. ${error.hint}` : error.message;
    this.alert.hidden = false;
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (this.handle(chord(event), event)) event.preventDefault();
  }

  /**
   * @param {string} key
   * @param {KeyboardEvent} event
   * @returns {boolean} whether the key was ours
   */
  handle(key, event) {
    if (event.target === this.search) return this.typed(key);
    if (isTyping(event)) return false;
    if (key === "Escape" && this.columns.hasAttribute("open")) {
      this.columns.removeAttribute("open");
      this.grid.element.focus({ preventScroll: true });
      return true;
    }
    if (this.card.shown) return this.card.press(key);
    if (key === "/") {
      this.search.focus();
      this.search.select();
      return true;
    }
    if (event.target !== this.grid.element) return false;
    if (key === "c") {
      void this.copy(this.grid.list.selected);
      return true;
    }
    return this.grid.press(key);
  }

  /** @param {string} key pressed in the search */
  typed(key) {
    if (key === "Escape" && this.search.value) {
      this.search.value = "";
      this.find();
    } else if (key === "Escape" || key === "Enter" || key === "ArrowDown") {
      this.find();
      this.grid.element.focus({ preventScroll: true });
    } else return false;
    return true;
  }

  close() {
    clearTimeout(this.timer);
    this.link.close();
    this.grid.close();
  }
}

/**
 * Copy text; outside of https and localhost there is no clipboard, but an older way.
 * @param {string} text
 * @param {HTMLElement} root
 */
async function copyText(text, root) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const before = /** @type {HTMLElement | null} */ (document.activeElement);
    const field = /** @type {HTMLTextAreaElement} */ (h("textarea", { class: "snb-sr", value: text }));
    root.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    before?.focus({ preventScroll: true });
    return done;
  }
}

/** @param {{ model: import("./channel.js").Model, el: HTMLElement }} context */
function render({ model, el }) {
  const view = new TableView(model);
  el.appendChild(view.root);
  void view.start();
  return () => view.close();
}

export default { render };
