// @ts-check
// What the reviewer's desk says, in words: the same for eyes and for screen readers.

/**
 * A row of the list.
 * @typedef {object} Row
 * @property {number | null} i place in the view
 * @property {string} id
 * @property {string} title
 * @property {number | null} rating
 * @property {"accept" | "reject" | null} decision
 * @property {boolean} edited
 * @property {boolean} duplicate
 * @property {string | null} status
 * @property {number} stars
 */

/**
 * @typedef {object} DeskState
 * @property {number} total
 * @property {number} matching
 * @property {{ accept: number, reject: number, todo: number }} counts
 * @property {string | null} undo
 * @property {string} by
 * @property {string} log
 * @property {number} version
 */

/**
 * @typedef {object} Filter
 * @property {string} decision
 * @property {string} status
 * @property {[number | null, number | null]} rating
 * @property {string} duplicates
 * @property {string} source
 * @property {string} chunk
 * @property {string} text
 * @property {string} sort
 * @property {boolean} descending
 */

/**
 * What the person's decisions say about a threshold.
 * @typedef {object} Judge
 * @property {number} threshold
 * @property {{ lo: number, hi: number, n: number, accepted: number, rejected: number }[]} bars
 * @property {number} rated
 * @property {number} unrated
 * @property {number} decided
 * @property {number} [edited] decided rows with a rating that are left out: their text is
 *   the person's own, the judge rated another
 * @property {number | null} agreement
 * @property {number | null} kappa
 * @property {number | null} precision
 * @property {number | null} recall
 * @property {{ tp: number, fp: number, fn: number, tn: number }} confusion
 * @property {number} above
 * @property {number} below
 * @property {number | null} best
 */

const NUMBERS = new Intl.NumberFormat("en-US", { maximumFractionDigits: 2 });
const DONE = { accept: "accepted", reject: "rejected" };
const MARKS = { accept: "✓", reject: "✗" };

/** @param {number} n with thousands marked, at most two decimals */
export function numberText(n) {
  return NUMBERS.format(n);
}

/**
 * @param {number} n
 * @param {string} one
 * @param {string} [many]
 */
export function countText(n, one, many = `${one}s`) {
  return `${numberText(n)} ${n === 1 ? one : many}`;
}

/** @param {number | null} share 0..1 */
export function percentText(share) {
  return share === null ? "–" : `${Math.round(share * 100)} %`;
}

/** @param {number | null} value such as a kappa */
export function figureText(value) {
  return value === null ? "–" : value.toFixed(2).replace("-", "−");
}

/** @param {Row["decision"]} decision */
export function decisionWord(decision) {
  return decision ? DONE[decision] : "undecided";
}

/** @param {Row["decision"]} decision a shape, so that no colour is needed */
export function decisionMark(decision) {
  return decision ? MARKS[decision] : "·";
}

/** @param {string} text @param {number} most */
export function clipText(text, most) {
  const letters = [...text.slice(0, 2 * most + 2)];
  return letters.length <= most ? text : `${letters.slice(0, most - 1).join("")}…`;
}

/**
 * "row 4 of 203, undecided, rating 5"
 * @param {Row} row
 * @param {number} index
 * @param {number} total
 */
export function rowPlace(row, index, total) {
  const parts = [`row ${numberText(index + 1)} of ${numberText(total)}`, decisionWord(row.decision)];
  if (row.edited) parts.push("edited");
  if (row.rating !== null) parts.push(`rating ${numberText(row.rating)}`);
  if (row.duplicate) parts.push("duplicate");
  if (row.status && row.status !== "ok") parts.push(clipText(row.status, 40));
  return parts.join(", ");
}

/**
 * @param {Row} row
 * @param {number} index
 * @param {number} total
 */
export function rowLabel(row, index, total) {
  return `${rowPlace(row, index, total)}: ${row.title}`;
}

/** @param {DeskState} state */
export function progressText(state) {
  const { accept, reject, todo } = state.counts;
  return [
    countText(state.total, "row"),
    `${numberText(accept)} accepted`,
    `${numberText(reject)} rejected`,
    `${numberText(todo)} to do`,
  ];
}

/** @param {Judge} judge "agrees 84 % (κ 0.61, 69 decided)" */
export function agreementText(judge) {
  if (!judge.decided) return "no rated row decided yet";
  const kappa = judge.kappa === null ? "no κ" : `κ ${figureText(judge.kappa)}`;
  return `agrees ${percentText(judge.agreement)} (${kappa}, ${numberText(judge.decided)} decided)`;
}

/** @param {Judge} judge what the figures rest on */
export function restText(judge) {
  const left = [`${countText(judge.unrated, "row")} without a rating`];
  if (judge.edited)
    left.unshift(`${countText(judge.edited, "edited row")}, whose text is no longer what was rated,`);
  return `Over ${countText(judge.decided, "decided row")} with a rating. Left out: ${left.join(" and ")}.`;
}

/** @param {Judge} judge for the button */
export function bulkLabel(judge) {
  const at = numberText(judge.threshold);
  return `Accept all ≥ ${at}, reject all < ${at} …`;
}

/**
 * What a bulk decision would do, before it does it.
 * @param {Judge} judge
 * @param {DeskState} state
 */
export function bulkQuestion(judge, state) {
  const at = numberText(judge.threshold);
  const where =
    state.matching < state.total ? ` of the ${countText(state.matching, "row")} in the filter` : "";
  return (
    `Accept ${countText(judge.above, "undecided row")} rated ${at} or more and reject ` +
    `${numberText(judge.below)} rated less${where}? Unrated and decided rows stay as they are; ` +
    "one undo takes all of it back."
  );
}

/** @param {Judge["bars"][number]} bar */
export function barText(bar) {
  const open = bar.n - bar.accepted - bar.rejected;
  const range = barRange(bar);
  return `rating ${range}: ${countText(bar.n, "row")}, ${bar.accepted} accepted, ${bar.rejected} rejected, ${open} undecided`;
}

/** @param {{ lo: number, hi: number }} bar one value, or the two ends */
export function barRange(bar) {
  return bar.lo === bar.hi ? numberText(bar.lo) : `${numberText(bar.lo)}–${numberText(bar.hi)}`;
}

/**
 * @param {{ decision: string, by: string, at: string } | null} decided
 */
export function decidedText(decided) {
  if (!decided) return "undecided";
  const word = decided.decision === "reject" ? "rejected" : "accepted";
  const by = decided.by ? ` by ${clipText(decided.by, 40)}` : "";
  const at = new Date(decided.at);
  const when = Number.isNaN(at.getTime())
    ? ""
    : `, ${at.toLocaleString([], { dateStyle: "medium", timeStyle: "short" })}`;
  return `${word}${by}${when}`;
}

/**
 * What of a filter is set, one phrase each.
 * @param {Filter} filter
 */
export function activeFilters(filter) {
  const active = [];
  const [lo, hi] = filter.rating;
  if (filter.decision) active.push(DECISIONS[filter.decision] ?? filter.decision);
  if (filter.status) active.push(`status ${filter.status}`);
  if (lo !== null || hi !== null) active.push(ratingText(lo, hi));
  if (filter.duplicates) active.push(filter.duplicates === "only" ? "duplicates only" : "no duplicates");
  if (filter.source) active.push(filter.source);
  if (filter.chunk) active.push("one chunk");
  if (filter.text) active.push(`“${clipText(filter.text, 24)}”`);
  return active;
}

/** @type {Record<string, string>} */
const DECISIONS = {
  undecided: "undecided",
  accept: "accepted",
  reject: "rejected",
  edited: "edited",
  noted: "with a note",
};

/** @param {number | null} lo @param {number | null} hi */
function ratingText(lo, hi) {
  if (lo === null) return `rating ≤ ${numberText(/** @type {number} */ (hi))}`;
  return hi === null ? `rating ≥ ${numberText(lo)}` : `rating ${numberText(lo)}–${numberText(hi)}`;
}

/** @param {Filter} filter the same order, nothing left out */
export function clearedFilter(filter) {
  return {
    ...filter,
    decision: "",
    status: "",
    rating: /** @type {[null, null]} */ ([null, null]),
    duplicates: "",
    source: "",
    chunk: "",
    text: "",
  };
}
