// @ts-check
// The grid of a table: a header that scrolls along, and the rows of a virtual list.
import { h, replace } from "./dom.js";
import { VirtualList } from "./list.js";
import { nextSort, rowAfter, sortWord, tracks } from "./table_words.js";

/** @typedef {import("./table_words.js").TableState} TableState */
/** @typedef {(string | null)[]} TableRow */

const TABLE_ROW = 28;
const TABLE_HEAD = 32;

/**
 * @typedef {object} GridOptions
 * @property {(start: number, end: number) => Promise<TableRow[]>} fetch
 * @property {(order: { column: number | null, descending: boolean }) => void} onSort
 * @property {(index: number) => void} onOpen
 * @property {(error: Error) => void} onError
 */

export class TableGrid {
  /** @param {GridOptions} options */
  constructor(options) {
    this.options = options;
    /** @type {TableState | null} */
    this.state = null;
    this.column = 0;
    this.head = h("div", { class: "snb-table-row", role: "row", "aria-rowindex": "1" });
    this.rail = h("div", { class: "snb-table-head", role: "rowgroup" }, this.head);
    this.element = h("div", { class: "snb-table-grid", role: "grid", tabindex: "0", "aria-label": "rows" });
    this.list = /** @type {VirtualList<TableRow>} */ (
      new VirtualList({
        rowHeight: TABLE_ROW,
        label: "rows",
        grid: this.element,
        row: (element, index, record) => this.fill(element, index, record),
        fetch: options.fetch,
        onSelect: (index) => this.select(index),
        onError: options.onError,
      })
    );
    this.empty = h("div", { class: "snb-table-empty snb-quiet", hidden: true });
    this.list.element.addEventListener("scroll", () => this.follow(), { passive: true });
    this.list.element.addEventListener("dblclick", () => this.open());
    this.element.append(this.rail, this.list.element, this.empty);
    this.observer = new ResizeObserver(() => this.follow());
    this.observer.observe(this.list.element);
  }

  /** @param {number} height pixels, header included */
  setHeight(height) {
    this.list.element.style.setProperty("height", `${Math.max(height - TABLE_HEAD, TABLE_ROW * 2)}px`);
  }

  /** @param {TableState} state */
  show(state) {
    const fresh = this.state?.version !== state.version;
    this.state = state;
    if (!fresh) return;
    this.column = Math.min(this.column, state.chosen.length - 1);
    const { columns, width } = tracks(state);
    this.element.style.setProperty("--snb-table-columns", columns);
    this.element.style.setProperty("--snb-table-width", width);
    this.element.setAttribute("aria-rowcount", String(state.matching + 1));
    this.element.setAttribute("aria-colcount", String(state.chosen.length));
    this.headers();
    this.empty.hidden = state.matching > 0;
    this.empty.textContent = state.total ? "No row holds this text." : "No rows.";
    this.list.element.scrollTop = 0;
    this.list.selected = state.matching ? 0 : -1;
    this.list.setTotal(state.matching);
    this.select(this.list.selected, false);
    this.follow();
  }

  headers() {
    const state = /** @type {TableState} */ (this.state);
    const cells = state.chosen.map((place, i) => {
      const column = /** @type {import("./table_words.js").TableColumn} */ (state.columns[place]);
      const order = sortWord(state, place);
      const mark = order === "none" ? "" : order === "ascending" ? "▲" : "▼";
      const name = h(
        "button",
        { class: "snb-table-sort", type: "button", title: column.label, on: { click: () => this.sort(i) } },
        h("span", { class: "snb-table-name", text: column.label }),
        h("span", { class: "snb-table-mark", "aria-hidden": "true", text: mark }),
      );
      const kind = `snb-table-cell snb-table-${column.kind}`;
      return h(
        "div",
        { class: kind, role: "columnheader", "aria-sort": order, "aria-colindex": i + 1 },
        name,
      );
    });
    // The button that was pressed is made anew: the focus stays where it was.
    const at = [...this.head.children].findIndex((cell) => cell.contains(cell.ownerDocument.activeElement));
    replace(this.head, ...cells);
    if (at >= 0) /** @type {HTMLElement | null} */ (cells[at]?.firstElementChild ?? null)?.focus();
  }

  /** @param {number} i the shown column, from the left */
  sort(i) {
    const place = this.state?.chosen[i];
    if (this.state && place !== undefined) this.options.onSort(nextSort(this.state, place));
  }

  /**
   * @param {HTMLElement} element
   * @param {number} index
   * @param {TableRow | null} record
   */
  fill(element, index, record) {
    const state = /** @type {TableState} */ (this.state);
    element.classList.add("snb-table-row");
    if (!record) {
      element.append(h("div", { class: "snb-table-cell snb-quiet", role: "gridcell", text: "…" }));
      return;
    }
    state.chosen.forEach((place, i) => {
      const value = record[i] ?? null;
      const kind = state.columns[place]?.kind ?? "text";
      const cell = h("div", {
        class: `snb-table-cell snb-table-${kind}`,
        role: "gridcell",
        id: `${element.id}-${i}`,
        "aria-colindex": i + 1,
      });
      if (value === null) cell.append(missing());
      else cell.append(h("span", { text: value }));
      element.append(cell);
    });
    if (index === this.list.selected) this.point();
  }

  /**
   * @param {number} index
   * @param {boolean} [scroll]
   */
  select(index, scroll = true) {
    this.list.select(index, { scroll });
    this.point();
  }

  /** Mark the cell that the arrow keys are at, also for screen readers. */
  point() {
    for (const old of this.element.querySelectorAll(".snb-table-at")) old.classList.remove("snb-table-at");
    const row = this.list.rows.get(this.list.selected);
    const cell = row?.children[this.column];
    if (!cell?.id) return;
    cell.classList.add("snb-table-at");
    this.element.setAttribute("aria-activedescendant", cell.id);
  }

  open() {
    if (this.list.selected >= 0) this.options.onOpen(this.list.selected);
  }

  /**
   * @param {string} key
   * @returns {boolean} whether it was one of the grid's keys
   */
  press(key) {
    const page = Math.max(1, Math.floor(this.list.element.clientHeight / TABLE_ROW) - 1);
    const to = rowAfter(key, this.list.selected, this.list.total, page);
    if (to !== null) this.select(to);
    else if (key === "ArrowLeft") this.across(this.column - 1);
    else if (key === "ArrowRight") this.across(this.column + 1);
    else if (key === "Enter" || key === "Space") this.open();
    else if (key === "s") this.sort(this.column);
    else return false;
    return true;
  }

  /** @param {number} column brought into sight */
  across(column) {
    this.column = Math.max(0, Math.min(column, this.head.children.length - 1));
    const cell = /** @type {HTMLElement | undefined} */ (this.head.children[this.column]);
    const box = this.list.element;
    if (cell && cell.offsetLeft < box.scrollLeft) box.scrollLeft = cell.offsetLeft;
    else if (cell && cell.offsetLeft + cell.offsetWidth > box.scrollLeft + box.clientWidth)
      box.scrollLeft = Math.min(cell.offsetLeft, cell.offsetLeft + cell.offsetWidth - box.clientWidth);
    this.point();
  }

  /** The header stands above what is scrolled below it, and ends where the bar begins. */
  follow() {
    const { scrollLeft, offsetWidth, clientWidth } = this.list.element;
    this.rail.style.setProperty("padding-right", `${offsetWidth - clientWidth}px`);
    this.head.style.setProperty("transform", `translateX(${-scrollLeft}px)`);
  }

  close() {
    this.observer.disconnect();
    this.list.close();
  }
}

/** A value that is not there: a dash for the eye, a word for screen readers. */
export function missing() {
  return h(
    "span",
    { class: "snb-quiet" },
    h("span", { "aria-hidden": "true", text: "–" }),
    h("span", { class: "snb-sr", text: "missing" }),
  );
}
