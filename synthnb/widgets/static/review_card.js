// @ts-check
// The card: one record in full, as text and nothing but text.
import { h, replace } from "./dom.js";
import { wordDiff } from "./review_diff.js";
import { countText, decidedText, decisionMark, numberText } from "./review_words.js";

/** @typedef {import("./review_cards.js").Card} Card */
/** @typedef {import("./review_words.js").Row} Row */

// A text longer than this says how long it is: it scrolls within the card.
const LONG_TEXT = 1200;

/** @param {string} name of a column, as a label */
export function fieldLabel(name) {
  const text = name.replaceAll("_", " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/**
 * A line of the card: its label, and what it says.
 * @param {string} label
 * @param {string} under the label, quiet
 * @param {...(Node | null)} content
 */
export function cardLine(label, under, ...content) {
  const name = h(
    "div",
    { class: "snb-card-label" },
    label,
    under ? h("small", { class: "snb-num" }, under) : null,
  );
  return h("div", { class: "snb-card-line" }, name, h("div", { class: "snb-card-value" }, ...content));
}

/** @param {Card["fields"][number]} field how much there is of it, where that is much */
export function lengthText(field) {
  const all = field.text.length + (field.cut ?? 0);
  if (field.cut) return `first ${numberText(field.text.length)} of ${numberText(all)} characters`;
  return all > LONG_TEXT ? countText(all, "character") : "";
}

/** @param {string} text with the line ends of any system as one */
function oneLineEnd(text) {
  return text.replace(/\r\n?/g, "\n");
}

/** @param {Card["fields"][number]} field */
function fieldLine(field) {
  const text = h(
    "div",
    { class: "snb-card-text", dir: "auto", "data-snb-scroll": true },
    oneLineEnd(field.text),
  );
  if (!field.text) replace(text, h("em", { class: "snb-quiet" }, "empty"));
  const changed =
    field.was !== null && field.was !== field.text
      ? diffBox(oneLineEnd(field.was), oneLineEnd(field.text))
      : null;
  return cardLine(fieldLabel(field.name), lengthText(field), text, changed);
}

const SAID = { gone: "taken out: ", new: "put in: " };

/**
 * @param {string} was
 * @param {string} text
 */
function diffBox(was, text) {
  const runs = wordDiff(was, text).map((run) => {
    if (run.kind === "same") return document.createTextNode(run.text);
    if (run.kind === "gap")
      return h("span", { class: "snb-quiet" }, ` … ${numberText(Number(run.text))} alike … `);
    const mark = h("span", { class: "snb-sr" }, SAID[run.kind]);
    return h(run.kind === "gone" ? "del" : "ins", null, mark, run.text);
  });
  const line = h("div", { class: "snb-diff", dir: "auto", "data-snb-scroll": true });
  for (const run of runs)
    line.appendChild(run.nodeType === Node.TEXT_NODE ? h("span", null, run.textContent) : run);
  return h(
    "div",
    { class: "snb-diff-box" },
    h("small", { class: "snb-quiet" }, "what the edit changed"),
    line,
  );
}

/** @param {NonNullable<Card["source"]>} source */
function sourceLine(source) {
  const box = h("div", { class: "snb-card-source", dir: "auto", "data-snb-scroll": true });
  const mark = source.mark ? h("mark", { class: "snb-mark" }, oneLineEnd(source.mark)) : null;
  replace(box, oneLineEnd(source.before), mark, oneLineEnd(source.after));
  const note = source.mark
    ? source.exact
      ? null
      : h(
          "small",
          { class: "snb-quiet" },
          "the evidence is not there word for word; marked is what comes closest",
        )
    : h("small", { class: "snb-quiet" }, "no evidence was found in this text");
  return cardLine("Source", "", h("div", { class: "snb-card-label2" }, source.label), box, note);
}

/** @param {Card} card */
function judgeLine(card) {
  if (card.rating === null && !card.reason) return null;
  const rating = card.rating === null ? "no rating" : numberText(card.rating);
  const reason = card.reason ? h("span", { dir: "auto" }, ` ${card.reason}`) : null;
  return cardLine(
    "Judge",
    "",
    h(
      "div",
      { class: "snb-card-text", "data-snb-scroll": true },
      h("strong", { class: "snb-num" }, rating),
      reason,
    ),
  );
}

/** @param {Card} card */
function statusLine(card) {
  if (!card.status || card.status === "ok") return null;
  const detail = card.detail
    ? h("div", { class: "snb-card-text", dir: "auto", "data-snb-scroll": true }, card.detail)
    : null;
  return cardLine("Status", "", h("strong", { class: "snb-err" }, `✗ ${card.status}`), detail);
}

/**
 * @param {NonNullable<Card["duplicate"]>} duplicate
 * @param {(id: string) => void} jump
 */
function duplicateLine(duplicate, jump) {
  const text = h("span", { dir: "auto" }, duplicate.title);
  const place = duplicate.i === null ? "not in the filter" : `row ${numberText(duplicate.i + 1)}`;
  const button = h(
    "button",
    { class: "snb-btn snb-btn-text", type: "button", on: { click: () => jump(duplicate.id) } },
    text,
    h("span", { class: "snb-quiet" }, ` (${place})`),
  );
  return cardLine("Duplicate of", "", button);
}

/**
 * @param {Card} card
 * @param {{ open: boolean }} fold whether it was open on the card before
 */
function provenanceLine(card, fold) {
  if (!card.provenance.length) return null;
  const rows = card.provenance.map(([name, value]) =>
    h("tr", null, h("th", { scope: "row" }, name), h("td", { dir: "auto" }, String(value))),
  );
  const details = h(
    "details",
    { class: "snb-card-fold", open: fold.open },
    h("summary", null, countText(rows.length, "entry", "entries")),
    h("table", null, h("tbody", null, ...rows)),
  );
  details.addEventListener("toggle", () => {
    fold.open = details.hasAttribute("open");
  });
  return cardLine("Provenance", "", details);
}

/**
 * What the body of a card shows, `fields` aside when they are being edited.
 * @param {Card} card
 * @param {{ fold: { open: boolean }, jump: (id: string) => void, form: HTMLElement | null }} how
 */
export function cardBody(card, { fold, jump, form }) {
  return [
    ...(form ? [form] : card.fields.map(fieldLine)),
    card.source ? sourceLine(card.source) : null,
    judgeLine(card),
    statusLine(card),
    card.duplicate ? duplicateLine(card.duplicate, jump) : null,
    provenanceLine(card, fold),
  ];
}

/**
 * The line above the card: which row this is and what was decided about it.
 * @param {Card} card
 * @param {Row} row
 * @param {string} place
 */
export function cardHead(card, row, place) {
  const { decision } = row;
  const tone = decision === "accept" ? "snb-ok" : decision === "reject" ? "snb-err" : "snb-quiet";
  const said = card.decided?.decision === decision || !decision ? card.decided : { decision, by: "", at: "" };
  return [
    h("strong", { class: "snb-num" }, place),
    row.edited ? h("span", { class: "snb-quiet" }, "edited") : null,
    h("span", { class: tone }, `${decisionMark(decision)} ${decision ? decidedText(said) : "undecided"}`),
  ];
}

/**
 * After the card is on the page: evidence into sight within its own box (the page itself must
 * not move), and what scrolls reachable by keys.
 * @param {HTMLElement} body
 */
export function settleCard(body) {
  for (const box of /** @type {NodeListOf<HTMLElement>} */ (body.querySelectorAll("[data-snb-scroll]"))) {
    if (box.scrollHeight > box.clientHeight + 1) box.tabIndex = 0;
    else box.removeAttribute("data-snb-scroll");
  }
  const mark = body.querySelector("mark");
  const box = mark?.closest(".snb-card-source");
  if (!mark || !box) return;
  const top = mark.getBoundingClientRect().top - box.getBoundingClientRect().top;
  const spare = (box.clientHeight - mark.getBoundingClientRect().height) / 2;
  box.scrollTop += top - Math.max(8, spare);
}
