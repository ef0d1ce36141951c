// @ts-check
// What a table says in words, and how wide its columns are: no element, no kernel.

/** @typedef {{ label: string, kind: "number" | "truth" | "time" | "text", width: number }} TableColumn */
/**
 * @typedef {object} TableState
 * @property {number} version
 * @property {number} total
 * @property {number} matching
 * @property {TableColumn[]} columns
 * @property {number[]} chosen places of the shown columns, in the order shown
 * @property {number | null} sort
 * @property {boolean} descending
 * @property {string} text
 * @property {number} searched how many columns a search looks at
 */

const PADDING = 24;

/** @param {number} count */
export function grouped(count) {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}

/**
 * Return what stands beside the search: how many rows are shown, of how many.
 * @param {TableState} state
 */
export function countLine(state) {
  const rows = `${grouped(state.total)} ${state.total === 1 ? "row" : "rows"}`;
  if (!state.text) return rows;
  if (state.searched === 0) return `no text column is shown to search in · 0 of ${rows}`;
  return `${grouped(state.matching)} of ${rows}`;
}

/**
 * Return the next order that a press on a header asks for: up, down, the frame's own.
 * @param {TableState} state
 * @param {number} place
 * @returns {{ column: number | null, descending: boolean }}
 */
export function nextSort(state, place) {
  if (state.sort !== place) return { column: place, descending: false };
  if (!state.descending) return { column: place, descending: true };
  return { column: null, descending: false };
}

/**
 * @param {TableState} state
 * @param {number} place
 * @returns {"ascending" | "descending" | "none"}
 */
export function sortWord(state, place) {
  if (state.sort !== place) return "none";
  return state.descending ? "descending" : "ascending";
}

/**
 * Return the columns' widths for CSS: text takes what is left, by how much it holds.
 * @param {TableState} state
 */
export function tracks(state) {
  const shown = state.chosen.map((place) => /** @type {TableColumn} */ (state.columns[place]));
  const least = shown.map((column) => `calc(${column.width}ch + ${PADDING}px)`);
  const columns = shown.map((column, i) =>
    column.kind === "text" ? `minmax(${least[i]}, ${column.width}fr)` : least[i],
  );
  const sum = shown.reduce((all, column) => all + column.width, 0);
  // Without a text column the last one takes the rest, so that the rows' lines go on.
  if (!shown.some((column) => column.kind === "text"))
    columns[columns.length - 1] = `minmax(${least.at(-1)}, 1fr)`;
  return { columns: columns.join(" "), width: `calc(${sum}ch + ${shown.length * PADDING}px)` };
}

/**
 * Return the row that a key leads to, or `null` if it is no key of that kind.
 * @param {string} key
 * @param {number} at the present row, -1 = none
 * @param {number} total
 * @param {number} page rows of one page
 */
export function rowAfter(key, at, total, page) {
  const wanted = new Map([
    ["ArrowDown", at + 1],
    ["ArrowUp", at - 1],
    ["PageDown", at + page],
    ["PageUp", at - page],
    ["Home", 0],
    ["End", total - 1],
  ]).get(key);
  if (wanted === undefined) return null;
  return total === 0 ? -1 : Math.max(0, Math.min(total - 1, wanted));
}
