// @ts-check
// The page of the desk: where its parts stand, and how a card, a state, a message are shown.
import { h, replace } from "./dom.js";
import { guard } from "./keys.js";
import { cardBody, cardHead, settleCard } from "./review_card.js";
import { EditForm } from "./review_edit.js";
import { ButtonBar, FootLine, keyTable, Progress } from "./review_frame.js";
import { Notes } from "./review_notes.js";
import { numberText } from "./review_words.js";

/** @typedef {import("./review_words.js").Row} Row */
/** @typedef {import("./review_words.js").DeskState} DeskState */
/** @typedef {import("./review_cards.js").Card} Card */
/** @typedef {import("./review_notes.js").Change} Change */

/**
 * What the page hands on.
 * @typedef {object} PageEvents
 * @property {(action: string) => void} act a button was pressed
 * @property {(id: string) => void} jump
 * @property {(card: Card, change: Change) => void} annotate
 * @property {() => void} clear the filters
 * @property {(card: Card) => Row} rowOf
 */

export class ReviewPage {
  /**
   * @param {HTMLElement} list
   * @param {HTMLElement} judge
   * @param {HTMLElement} filters
   * @param {PageEvents} on
   */
  constructor(list, judge, filters, on) {
    this.on = on;
    this.list = list;
    /** @type {Card | null} */
    this.shown = null;
    this.matching = 0;
    /** @type {EditForm | null} */
    this.form = null;
    /** @type {Map<string, Record<string, string>>} */
    this.drafts = new Map();
    this.fold = { open: false };
    this.progress = new Progress();
    this.foot = new FootLine(on.jump);
    this.bar = new ButtonBar(on.act);
    this.notes = new Notes({ change: on.annotate, leave: () => this.home() });
    this.head = h("div", { class: "snb-card-head" });
    this.body = h("div", {
      class: "snb-card-body",
      tabindex: "0",
      role: "region",
      "aria-label": "record",
      "data-snb-scroll": true,
    });
    this.help = keyTable(() => this.showHelp(false));
    this.nothing = h("p", null);
    this.clear = h(
      "button",
      { class: "snb-btn", type: "button", on: { click: on.clear } },
      "Clear the filters",
    );
    this.none = h("div", { class: "snb-none", hidden: true }, this.nothing, this.clear);
    this.cardBox = h(
      "div",
      { class: "snb-card" },
      this.head,
      this.body,
      this.notes.element,
      this.bar.element,
    );
    this.root = this.build(judge, filters);
  }

  /**
   * @param {HTMLElement} judge
   * @param {HTMLElement} filters
   */
  build(judge, filters) {
    const click = () => this.showHelp(Boolean(this.help.hidden));
    const help = h(
      "button",
      { class: "snb-btn", type: "button", "aria-label": "show the keys", on: { click } },
      "?",
    );
    filters.appendChild(help);
    const head = h("div", { class: "snb-review-head" }, this.progress.element, judge);
    const main = h("div", { class: "snb-review-main" }, this.list, this.cardBox, this.none, this.help);
    const desk = h(
      "div",
      { class: "snb-review-desk" },
      head,
      filters,
      main,
      this.bar.element,
      this.foot.element,
    );
    const root = h(
      "div",
      { class: "snb snb-review", role: "group", "aria-label": "review of records" },
      desk,
    );
    guard(root);
    return root;
  }

  /** The element that has the focus, where that is in this page. */
  active() {
    const { activeElement } = /** @type {Document} */ (this.root.getRootNode());
    return activeElement && this.root.contains(activeElement) ? activeElement : null;
  }

  /** To the list: there every key is the desk's. */
  home() {
    (this.list.hidden ? this.root : this.list).focus({ preventScroll: true });
  }

  /**
   * Change the page without losing the focus: from a page without it the next key would go
   * to the notebook, where "d d" deletes a cell.
   * @param {() => void} change
   */
  holding(change) {
    const held = this.active() !== null;
    change();
    // A browser takes the focus from a hidden element only when it draws the next frame.
    if (held && !this.active()?.getClientRects().length) this.home();
  }

  /**
   * @param {Card | null} card
   * @param {number} index
   */
  card(card, index) {
    this.holding(() => {
      const same = card !== null && this.shown?.id === card.id;
      if (this.form && !same) this.endEdit();
      const { scrollTop } = this.body;
      this.shown = card;
      this.cardBox.hidden = this.list.hidden = card === null;
      this.none.hidden = card !== null;
      this.notes.show(card);
      if (!card) {
        this.bar.row(null);
        this.root.removeAttribute("data-record");
        return;
      }
      this.drawHead(card, index);
      if (!this.form) this.drawBody(card);
      this.body.scrollTop = same ? scrollTop : 0;
      this.root.setAttribute("data-record", card.id);
    });
  }

  /**
   * @param {Card} card
   * @param {number} index
   */
  drawHead(card, index) {
    const row = this.on.rowOf(card);
    const place = `row ${numberText(index + 1)} of ${numberText(this.matching)}`;
    replace(this.head, ...cardHead(card, row, card.i === null ? "not in the filter" : place));
    if (this.drafts.has(card.id) && !this.form)
      this.head.appendChild(h("span", { class: "snb-warn" }, "! text not saved: e brings it back"));
    this.bar.row(row);
  }

  /** @param {Card} card */
  drawBody(card) {
    const parts = { fold: this.fold, jump: this.on.jump, form: this.form?.element ?? null };
    replace(this.body, ...cardBody(card, parts));
    settleCard(this.body);
  }

  /** Resolves once the card is on the screen: after the frame that shows it. */
  painted() {
    return /** @type {Promise<void>} */ (
      new Promise((resolve) => requestAnimationFrame(() => setTimeout(() => resolve(), 0)))
    );
  }

  /** @param {DeskState} state */
  state(state) {
    this.matching = state.matching;
    this.progress.show(state);
    this.bar.state(state);
    this.foot.state(state);
    this.clear.hidden = state.total === 0;
    this.nothing.textContent = state.total
      ? `0 of ${numberText(state.total)} rows match.`
      : "There are no rows to review.";
  }

  /** @param {string} text */
  say(text) {
    this.foot.say(text);
  }

  /**
   * @param {string} what
   * @param {Error} error
   * @param {string | null} id
   */
  fail(what, error, id) {
    this.holding(() => this.foot.fail(what, error, id));
  }

  busy() {
    return this.form !== null;
  }

  // --- editing ---

  /**
   * @param {Card} card
   * @param {{ save: () => void, leave: () => void }} on
   */
  startEdit(card, on) {
    this.form = new EditForm(this.drafts, card, on);
    this.drawBody(card);
    this.bar.mode(true);
    this.body.scrollTop = 0;
    this.form.start();
  }

  /** Back to the card; what was typed and not saved is kept. */
  endEdit() {
    const { form } = this;
    if (!form) return;
    this.holding(() => {
      form.put();
      this.form = null;
      this.bar.mode(false);
      if (this.shown) this.drawBody(this.shown);
    });
  }

  // --- the table of keys ---

  /** @param {boolean} open */
  showHelp(open) {
    this.holding(() => {
      this.help.hidden = !open;
      if (open) this.help.focus({ preventScroll: true });
    });
  }
}
