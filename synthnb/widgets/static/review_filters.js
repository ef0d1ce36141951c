// @ts-check
// What of the rows is shown, and in which order. Only what the data has is offered.
import { h, replace } from "./dom.js";
import { activeFilters, clearedFilter, clipText, countText, numberText } from "./review_words.js";

/** @typedef {import("./review_words.js").Filter} Filter */

/**
 * @typedef {object} Offer
 * @property {[string, number][]} statuses
 * @property {[string, string][]} sorts
 * @property {[string, number][]} sources
 */

/** @type {[string, string][]} */
const DECISION_CHOICES = [
  ["", "any decision"],
  ["undecided", "undecided"],
  ["accept", "accepted"],
  ["reject", "rejected"],
  ["edited", "edited"],
  ["noted", "with tag, stars or note"],
];
/** @type {[string, string][]} */
const DUPLICATE_CHOICES = [
  ["", "duplicates: any"],
  ["none", "duplicates: none"],
  ["only", "duplicates: only"],
];
const TYPING_MS = 200;
const LABEL_LENGTH = 40;

export class FilterBar {
  /** @param {{ filter: (filter: Filter) => void, first: () => void, leave: () => void }} on */
  constructor(on) {
    this.on = on;
    /** @type {Filter | null} */
    this.filter = null;
    this.timer = 0;
    this.decision = choice("decision");
    this.status = choice("status");
    this.duplicates = choice("duplicates");
    this.source = choice("source");
    this.sort = choice("sort by");
    this.low = bound("lowest rating", "from");
    this.high = bound("highest rating", "to");
    this.rating = h("span", { class: "snb-filter-rating" }, "rating ", this.low, " – ", this.high);
    this.search = /** @type {HTMLInputElement} */ (
      h("input", {
        class: "snb-input snb-filter-search",
        type: "search",
        placeholder: "search  /",
        "aria-label": "search",
      })
    );
    this.descending = h("button", {
      class: "snb-btn snb-btn-small",
      type: "button",
      "aria-label": "sort descending",
    });
    this.clear = h("button", { class: "snb-btn snb-btn-text snb-filter-clear", type: "button" });
    const parts = [
      this.decision,
      this.status,
      this.rating,
      this.duplicates,
      this.source,
      this.search,
      this.sort,
    ];
    this.element = h(
      "div",
      { class: "snb-filters", role: "search", "aria-label": "filters" },
      ...parts,
      this.descending,
      this.clear,
    );
    this.listen();
  }

  listen() {
    for (const control of [
      this.decision,
      this.status,
      this.duplicates,
      this.source,
      this.sort,
      this.low,
      this.high,
    ])
      control.addEventListener("change", () => this.apply());
    this.descending.addEventListener("click", () => {
      if (this.filter) this.filter = { ...this.filter, descending: !this.filter.descending };
      this.apply();
    });
    this.clear.addEventListener("click", () => {
      this.reset();
      this.on.leave();
    });
    this.search.addEventListener("input", () => {
      clearTimeout(this.timer);
      this.timer = window.setTimeout(() => this.apply(), TYPING_MS);
    });
    this.search.addEventListener("keydown", (event) => this.searchKey(event));
  }

  /** @param {KeyboardEvent} event */
  searchKey(event) {
    if (event.isComposing || (event.key !== "Enter" && event.key !== "Escape")) return;
    event.preventDefault();
    event.stopPropagation();
    if (this.timer) this.apply();
    if (event.key === "Enter") this.on.first();
    this.on.leave();
  }

  /**
   * @param {Offer} offer
   * @param {{ rating: boolean, duplicates: boolean, status: boolean }} has
   * @param {[number, number] | null} scale
   */
  offer(offer, has, scale) {
    fillChoices(this.decision, DECISION_CHOICES);
    fillChoices(this.duplicates, DUPLICATE_CHOICES);
    fillChoices(this.status, [["", "any status"], ...offer.statuses.map(counted)]);
    fillChoices(this.source, [["", "any source"], ...offer.sources.map(counted)]);
    fillChoices(this.sort, offer.sorts);
    this.status.hidden = !has.status || offer.statuses.length < 2;
    this.source.hidden = offer.sources.length < 2;
    this.duplicates.hidden = !has.duplicates;
    this.rating.hidden = !has.rating;
    for (const input of [this.low, this.high])
      if (scale) [input.min, input.max] = [String(scale[0]), String(scale[1])];
  }

  /** @param {Filter} filter */
  show(filter) {
    this.filter = filter;
    this.decision.value = filter.decision;
    this.status.value = filter.status;
    this.duplicates.value = filter.duplicates;
    this.source.value = filter.source;
    this.sort.value = filter.sort;
    for (const [input, value] of /** @type {[HTMLInputElement, number | null][]} */ ([
      [this.low, filter.rating[0]],
      [this.high, filter.rating[1]],
    ]))
      if (!hasFocus(input)) input.value = value === null ? "" : String(value);
    if (!hasFocus(this.search)) this.search.value = filter.text;
    this.descending.textContent = filter.descending ? "↓" : "↑";
    this.descending.title = filter.descending ? "descending" : "ascending";
    this.descending.setAttribute("aria-pressed", String(filter.descending));
    const active = activeFilters(filter);
    this.clear.classList.toggle("snb-unseen", !active.length);
    this.clear.setAttribute("title", active.join(", "));
    replace(this.clear, active.length > 1 ? `clear ${countText(active.length, "filter")}` : "clear filter");
    for (const control of [
      this.decision,
      this.status,
      this.duplicates,
      this.source,
      this.low,
      this.high,
      this.search,
    ])
      control.classList.toggle("snb-set", control.value !== "");
  }

  apply() {
    clearTimeout(this.timer);
    this.timer = 0;
    if (!this.filter) return;
    const rating = /** @type {[number | null, number | null]} */ ([this.low, this.high].map(numberOf));
    this.filter = {
      ...this.filter,
      decision: this.decision.value,
      status: this.status.value,
      rating,
      duplicates: this.duplicates.value,
      source: this.source.value,
      text: this.search.value,
      sort: this.sort.value,
    };
    this.show(this.filter);
    this.on.filter(this.filter);
  }

  reset() {
    if (!this.filter) return;
    clearTimeout(this.timer);
    this.timer = 0;
    const cleared = clearedFilter(this.filter);
    this.search.value = "";
    this.low.value = "";
    this.high.value = "";
    this.show(cleared);
    this.on.filter(cleared);
  }

  close() {
    clearTimeout(this.timer);
  }
}

/** @param {Element} element */
function hasFocus(element) {
  return /** @type {Document} */ (element.getRootNode()).activeElement === element;
}

/** @param {string} label */
function choice(label) {
  return /** @type {HTMLSelectElement} */ (h("select", { class: "snb-select", "aria-label": label }));
}

/** @param {string} label @param {string} placeholder */
function bound(label, placeholder) {
  return /** @type {HTMLInputElement} */ (
    h("input", { class: "snb-input snb-num", type: "number", step: "any", "aria-label": label, placeholder })
  );
}

/** @param {HTMLInputElement} input */
function numberOf(input) {
  return input.value === "" || Number.isNaN(input.valueAsNumber) ? null : input.valueAsNumber;
}

/** @param {[string, number]} named @returns {[string, string]} */
function counted([name, n]) {
  return [name, `${clipText(name, LABEL_LENGTH)} (${numberText(n)})`];
}

/** @param {HTMLSelectElement} select @param {[string, string][]} choices */
function fillChoices(select, choices) {
  const { value } = select;
  replace(select, ...choices.map(([name, label]) => h("option", { value: name }, label)));
  if (choices.some(([name]) => name === value)) select.value = value;
}
