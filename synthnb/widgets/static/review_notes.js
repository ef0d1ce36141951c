// @ts-check
// What a person adds to a record beside the decision: tags, stars, a note.
import { h, replace } from "./dom.js";
import { clipText } from "./review_words.js";

/** @typedef {import("./review_cards.js").Card} Card */
/** @typedef {{ tags?: string[], stars?: number, note?: string }} Change */

const MOST_STARS = 5;
const TAG_LENGTH = 60;

export class Notes {
  /**
   * @param {{ change: (card: Card, change: Change) => void, leave: () => void }} on
   */
  constructor(on) {
    this.on = on;
    /** @type {Card | null} */
    this.card = null;
    /** @type {Card | null} whose note is in the field */
    this.noteOf = null;
    this.known = h("datalist", { id: `snb-tags-${Math.random().toString(36).slice(2, 8)}` });
    /** @type {Set<string>} */
    this.seen = new Set();
    this.chips = h("span", { class: "snb-tags", role: "list", "aria-label": "tags" });
    this.input = /** @type {HTMLInputElement} */ (
      h("input", {
        class: "snb-input snb-tag-input",
        type: "text",
        maxlength: TAG_LENGTH,
        placeholder: "add a tag",
        "aria-label": "add a tag",
        list: this.known.id,
        on: {
          keydown: /** @type {EventListener} */ (
            (event) => this.tagKey(/** @type {KeyboardEvent} */ (event))
          ),
        },
      })
    );
    this.stars = Array.from({ length: MOST_STARS }, (_, index) => this.star(index + 1));
    this.group = h("span", { class: "snb-stars", role: "radiogroup", "aria-label": "stars" }, ...this.stars);
    this.group.addEventListener("keydown", (event) => this.starKey(event));
    this.note = /** @type {HTMLTextAreaElement} */ (
      h("textarea", {
        class: "snb-input snb-note",
        rows: "1",
        placeholder: "note",
        "aria-label": "note",
        dir: "auto",
        on: {
          blur: () => this.saveNote(),
          keydown: /** @type {EventListener} */ (
            (event) => this.noteKey(/** @type {KeyboardEvent} */ (event))
          ),
        },
      })
    );
    this.element = h(
      "div",
      { class: "snb-notes" },
      h("span", { class: "snb-notes-tags" }, this.chips, this.input, this.known),
      this.group,
      h("span", { class: "snb-note-box" }, this.note),
    );
  }

  /** @param {Card | null} card */
  show(card) {
    // A note that is being written is saved for the record it was written for.
    if (this.noteOf && this.noteOf.id !== card?.id) this.saveNote();
    const typing = this.noteOf?.id === card?.id && this.hasFocus(this.note);
    this.card = card;
    this.noteOf = card;
    if (!typing) this.note.value = card?.note ?? "";
    this.draw();
  }

  draw() {
    const tags = this.card?.tags ?? [];
    replace(this.chips, ...tags.map((tag) => this.chip(tag)));
    for (const tag of tags) this.learn(tag);
    const stars = this.card?.stars ?? 0;
    this.stars.forEach((star, index) => {
      star.textContent = index < stars ? "★" : "☆";
      star.setAttribute("aria-checked", String(index + 1 === stars));
      star.tabIndex = index + 1 === Math.max(1, stars) ? 0 : -1;
    });
  }

  /** @param {HTMLElement} element */
  hasFocus(element) {
    return /** @type {Document} */ (element.getRootNode()).activeElement === element;
  }

  /** @param {string} tag offered when the next one is typed */
  learn(tag) {
    if (this.seen.has(tag) || this.seen.size >= 200) return;
    this.seen.add(tag);
    this.known.appendChild(h("option", { value: tag }));
  }

  /** @param {string} tag */
  chip(tag) {
    const click = () => {
      this.setTags((this.card?.tags ?? []).filter((other) => other !== tag));
      this.input.focus({ preventScroll: true });
    };
    const name = h("span", { class: "snb-tag-name", dir: "auto", title: tag }, tag);
    const remove = h(
      "button",
      { type: "button", "aria-label": `remove the tag ${clipText(tag, 40)}`, on: { click } },
      "×",
    );
    return h("span", { class: "snb-tag", role: "listitem" }, name, remove);
  }

  /** @param {string[]} tags */
  setTags(tags) {
    if (!this.card) return;
    this.on.change(this.card, { tags });
    this.draw();
  }

  /** @param {KeyboardEvent} event */
  tagKey(event) {
    if (event.isComposing) return;
    if (event.key === "Enter" || event.key === ",") {
      const tag = this.input.value.trim();
      const tags = this.card?.tags ?? [];
      if (tag && !tags.includes(tag)) this.setTags([...tags, tag]);
      this.input.value = "";
    } else if (event.key === "Escape") {
      this.input.value = "";
      this.on.leave();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** @param {KeyboardEvent} event */
  noteKey(event) {
    if (event.isComposing) return;
    const saves = event.key === "Enter" && (event.ctrlKey || event.metaKey);
    if (!saves && event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    // Leaving saves, by either key: nothing that was written is lost.
    this.on.leave();
  }

  saveNote() {
    const card = this.noteOf;
    if (card && this.note.value !== card.note) this.on.change(card, { note: this.note.value });
  }

  /** @param {number} stars 0: none */
  setStars(stars) {
    if (!this.card || this.card.stars === stars) return;
    this.on.change(this.card, { stars });
    this.draw();
  }

  /** @param {number} n */
  star(n) {
    const click = () => this.setStars(this.card?.stars === n ? 0 : n);
    const label = n === 1 ? "1 star" : `${n} stars`;
    return h(
      "button",
      { type: "button", role: "radio", "aria-label": label, title: label, on: { click } },
      "☆",
    );
  }

  /** @param {KeyboardEvent} event */
  starKey(event) {
    const up = event.key === "ArrowRight" || event.key === "ArrowUp";
    if (!up && event.key !== "ArrowLeft" && event.key !== "ArrowDown") return;
    event.preventDefault();
    const stars = Math.max(0, Math.min(MOST_STARS, (this.card?.stars ?? 0) + (up ? 1 : -1)));
    this.setStars(stars);
    this.stars[Math.max(0, stars - 1)]?.focus({ preventScroll: true });
  }
}
