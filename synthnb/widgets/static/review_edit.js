// @ts-check
// The form of an edit: one text field for each part of the record.
import { h } from "./dom.js";
import { cardLine, fieldLabel, lengthText } from "./review_card.js";

/** @typedef {import("./review_cards.js").Card} Card */

const MOST_HEIGHT = 260;

export class EditForm {
  /**
   * @param {Map<string, Record<string, string>>} drafts texts that were changed and left
   *   without saving, so that Esc loses nothing
   * @param {Card} card
   * @param {{ save: () => void, leave: () => void }} on
   */
  constructor(drafts, card, on) {
    this.card = card;
    this.drafts = drafts;
    const draft = drafts.get(card.id) ?? null;
    /** @type {Map<string, HTMLTextAreaElement>} */
    this.areas = new Map();
    const lines = card.fields.map((field) => this.line(field, draft?.[field.name] ?? field.text));
    this.note = h("div", { class: "snb-quiet", role: "status" });
    if (draft) this.note.textContent = "Your text from before, not yet saved. ";
    if (draft) this.note.appendChild(this.again());
    this.element = h(
      "div",
      { class: "snb-edit", role: "group", "aria-label": "edit this record" },
      this.note,
      ...lines,
    );
    this.element.addEventListener("keydown", (event) => {
      if (event.isComposing || event.keyCode === 229) return;
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) on.save();
      else if (event.key === "Escape") on.leave();
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
  }

  /**
   * @param {Card["fields"][number]} field
   * @param {string} text
   */
  line(field, text) {
    const label = fieldLabel(field.name);
    if (field.cut) {
      // What is not on the page would be lost by saving what is.
      const why = h("div", { class: "snb-quiet" }, "too long to be edited here");
      return cardLine(label, lengthText(field), why);
    }
    const area = /** @type {HTMLTextAreaElement} */ (
      h("textarea", {
        class: "snb-input snb-edit-text",
        "aria-label": label,
        dir: "auto",
        spellcheck: "true",
        rows: "1",
      })
    );
    area.value = text;
    area.addEventListener("input", () => this.fit(area));
    this.areas.set(field.name, area);
    return cardLine(label, "", area);
  }

  again() {
    const click = () => {
      for (const field of this.card.fields) {
        const area = this.areas.get(field.name);
        if (area) area.value = field.text;
        if (area) this.fit(area);
      }
      this.note.textContent = "Back to the saved text.";
      this.drafts.delete(this.card.id);
      this.focus();
    };
    return h(
      "button",
      { class: "snb-btn snb-btn-text", type: "button", on: { click } },
      "Back to the saved text",
    );
  }

  /** @param {HTMLTextAreaElement} area as high as its text */
  fit(area) {
    area.style.setProperty("height", "auto");
    area.style.setProperty("height", `${Math.min(MOST_HEIGHT, area.scrollHeight + 2)}px`);
  }

  /** Once it is on the page. */
  start() {
    for (const area of this.areas.values()) this.fit(area);
    this.focus();
  }

  focus() {
    // The answer is what is mended most; the question is one Shift+Tab away.
    const areas = [...this.areas.values()];
    const area = areas[Math.min(1, areas.length - 1)];
    area?.focus({ preventScroll: true });
    area?.setSelectionRange(area.value.length, area.value.length);
  }

  /** @returns {Record<string, string>} the fields whose text is another one now */
  values() {
    /** @type {Record<string, string>} */
    const values = {};
    for (const field of this.card.fields) {
      const area = this.areas.get(field.name);
      // A text field gives line ends back as \n; that alone is no change.
      const same = field.text.replace(/\r\n?/g, "\n");
      if (area && area.value !== same) values[field.name] = area.value;
    }
    return values;
  }

  /** Keep what was typed for the next time this record is edited; returns whether any was. */
  put() {
    const values = this.values();
    const changed = Object.keys(values).length > 0;
    if (changed) this.drafts.set(this.card.id, values);
    else this.drafts.delete(this.card.id);
    return changed;
  }

  saved() {
    this.drafts.delete(this.card.id);
  }
}
