// @ts-check
// The parts around list and card: progress, buttons, the table of keys, the line at the foot.
import { h, replace } from "./dom.js";
import { REVIEW_KEYS } from "./review_keys.js";
import { clipText, decisionMark, numberText, progressText, rowLabel } from "./review_words.js";

/** @typedef {import("./review_words.js").Row} Row */
/** @typedef {import("./review_words.js").DeskState} DeskState */

/**
 * Fill one row of the list.
 * @param {HTMLElement} element
 * @param {number} index
 * @param {Row | null} row
 * @param {number} total
 */
export function fillRow(element, index, row, total) {
  if (!row) {
    element.setAttribute("aria-label", `row ${numberText(index + 1)}, on its way`);
    element.appendChild(h("span", { class: "snb-quiet" }, "…"));
    return;
  }
  element.setAttribute("aria-label", rowLabel(row, index, total));
  const tone = row.decision === "accept" ? "snb-ok" : row.decision === "reject" ? "snb-err" : "snb-quiet";
  const badges = [];
  if (row.status && row.status !== "ok") badges.push(clipText(row.status, 14));
  if (row.edited) badges.push("edited");
  if (row.duplicate) badges.push("duplicate");
  const parts = [
    h("span", { class: `snb-row-mark ${tone}` }, decisionMark(row.decision)),
    h("span", { class: "snb-row-rating snb-num" }, row.rating === null ? "–" : numberText(row.rating)),
    h("span", { class: "snb-row-title", dir: "auto" }, row.title || "(empty)"),
    ...badges.map((badge) => h("span", { class: "snb-row-badge" }, badge)),
  ];
  for (const part of parts) part.setAttribute("aria-hidden", "true");
  element.append(...parts);
}

export class Progress {
  constructor() {
    this.accepted = h("span", { class: "snb-progress-accepted" });
    this.rejected = h("span", { class: "snb-progress-rejected" });
    this.bar = h(
      "div",
      {
        class: "snb-progress",
        role: "progressbar",
        "aria-label": "progress of the review",
        "aria-valuemin": "0",
      },
      this.accepted,
      this.rejected,
    );
    this.counts = h("div", { class: "snb-counts snb-num" });
    this.element = h("div", { class: "snb-review-counts" }, this.counts, this.bar);
  }

  /** @param {DeskState} state */
  show(state) {
    const [rows, ...parts] = progressText(state);
    const words = parts.map((part, index) => h("span", null, ["✓ ", "✗ ", "· "][index], part));
    replace(this.counts, h("strong", null, "Review"), h("span", null, rows), ...words);
    const { accept, reject } = state.counts;
    const whole = Math.max(1, state.total);
    this.accepted.style.setProperty("width", `${(100 * accept) / whole}%`);
    this.rejected.style.setProperty("width", `${(100 * reject) / whole}%`);
    this.bar.setAttribute("aria-valuemax", String(whole));
    this.bar.setAttribute("aria-valuenow", String(accept + reject));
    this.bar.setAttribute("aria-valuetext", parts.join(", "));
  }
}

/** @type {[string, string, string][]} action, words, key */
const DECIDE = [
  ["accept", "Accept", "a"],
  ["edit", "Edit", "e"],
  ["reject", "Reject", "r"],
];
/** @type {[string, string, string][]} */
const EDITING = [
  ["save", "Save and accept", "Ctrl+Enter"],
  ["leave", "Leave", "Esc"],
];
/** @type {[string, string, string][]} */
const WALK = [
  ["undo", "Undo", "u"],
  ["up", "Previous", "k"],
  ["down", "Next", "j"],
  ["next", "Next undecided", "n"],
];

export class ButtonBar {
  /** @param {(action: string) => void} act */
  constructor(act) {
    /** @type {Map<string, HTMLElement>} */
    this.buttons = new Map();
    const make = (/** @type {[string, string, string]} */ [action, words, key]) => {
      const label = `snb-btn${action === "accept" || action === "save" ? " snb-btn-main" : ""}`;
      const button = h(
        "button",
        { class: label, type: "button", on: { click: () => act(action) } },
        words,
        h("kbd", null, key),
      );
      this.buttons.set(action, button);
      return button;
    };
    this.deciding = h("span", { class: "snb-bar-group" }, ...DECIDE.map(make));
    this.editing = h("span", { class: "snb-bar-group", hidden: true }, ...EDITING.map(make));
    this.walking = h("span", { class: "snb-bar-group snb-bar-walk" }, ...WALK.map(make));
    this.element = h(
      "div",
      { class: "snb-bar", role: "toolbar", "aria-label": "decide" },
      this.deciding,
      this.editing,
      this.walking,
    );
  }

  /** @param {boolean} editing */
  mode(editing) {
    this.deciding.hidden = editing;
    this.editing.hidden = !editing;
  }

  /** @param {Row | null} row */
  row(row) {
    this.buttons.get("accept")?.setAttribute("aria-pressed", String(row?.decision === "accept"));
    this.buttons.get("reject")?.setAttribute("aria-pressed", String(row?.decision === "reject"));
  }

  /** @param {DeskState} state */
  state(state) {
    const undo = this.buttons.get("undo");
    undo?.setAttribute("aria-disabled", String(!state.undo));
    undo?.setAttribute("title", state.undo ? `undo ${clipText(state.undo, 80)}` : "there is nothing to undo");
  }
}

/** @param {() => void} close */
export function keyTable(close) {
  const rows = REVIEW_KEYS.map((key) => {
    const keys = key.shown.map((name) => (name === "…" ? " … " : h("kbd", null, name)));
    return h("tr", null, h("th", { scope: "row" }, ...keys), h("td", null, key.says));
  });
  const button = h(
    "button",
    { class: "snb-btn snb-btn-small", type: "button", on: { click: close } },
    "Close",
    h("kbd", null, "Esc"),
  );
  return h(
    "div",
    { class: "snb-help", role: "region", "aria-label": "keys", tabindex: "-1", hidden: true },
    h("div", { class: "snb-help-head" }, h("strong", null, "Keys"), button),
    h("table", null, h("tbody", null, ...rows)),
    h(
      "p",
      { class: "snb-quiet" },
      "They work while the focus is in this desk and not in a text field, and never reach the notebook.",
    ),
  );
}

/** The line at the foot: what just happened, what went wrong, where it is kept. */
export class FootLine {
  /** @param {(id: string) => void} jump */
  constructor(jump) {
    this.jump = jump;
    this.said = h("span", { class: "snb-foot-said snb-num" });
    this.alert = h("span", { class: "snb-foot-alert snb-err", role: "alert" });
    this.log = h("span", { class: "snb-foot-log snb-quiet" });
    // Spoken only: a screen reader hears of each step, the eye sees it in list and card.
    this.live = h("span", { class: "snb-sr", role: "status", "aria-live": "polite" });
    this.element = h("div", { class: "snb-foot" }, this.said, this.alert, this.log, this.live);
    this.waiting = false;
    this.text = "";
  }

  /** @param {string} text */
  say(text) {
    this.text = text;
    this.live.textContent = text;
    this.draw();
  }

  /** @param {boolean} waiting for the kernel */
  stall(waiting) {
    this.waiting = waiting;
    this.draw();
  }

  draw() {
    const wait = "waiting for the kernel … it is busy or was restarted; run the cell again if this stays";
    replace(this.said, this.waiting ? wait : this.text);
  }

  /**
   * @param {string} what
   * @param {{ message: string, hint?: string }} error
   * @param {string | null} id of the row that it is about
   */
  fail(what, error, id) {
    const parts = [`✗ ${clipText(what, 120)}: ${clipText(error.message, 300)}`, error.hint ?? ""].filter(
      Boolean,
    );
    const goTo = () => id !== null && this.jump(id);
    const close = () => this.quiet();
    replace(
      this.alert,
      h("span", { title: parts.join(" ") }, parts.join(" ")),
      id === null
        ? null
        : h("button", { class: "snb-btn snb-btn-small", type: "button", on: { click: goTo } }, "Go to it"),
      h(
        "button",
        {
          class: "snb-btn snb-btn-small",
          type: "button",
          "aria-label": "close the message",
          on: { click: close },
        },
        "×",
      ),
    );
  }

  /** @returns {boolean} whether there was a message */
  quiet() {
    const was = this.alert.childNodes.length > 0;
    this.alert.replaceChildren();
    return was;
  }

  /** @param {DeskState} state */
  state(state) {
    replace(this.log, `${clipText(state.by, 30)} · kept in ${state.log}`);
    this.log.title = `Each decision is on disk before the next: ${state.log}`;
  }
}
