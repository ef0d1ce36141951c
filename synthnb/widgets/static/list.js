// @ts-check
// A list of any length: pages are fetched when seen, only the visible rows are elements.
import { h } from "./dom.js";

const PAGE = 100;
const KEPT_PAGES = 40;
const SPARE_ROWS = 6;
const MAX_HEIGHT = 8_000_000;

/**
 * Where rows stand: browsers end an element at some 17 to 33 million pixels, so a longer
 * list is squeezed, its rows keep their height, and the scroll bar speaks for the place.
 * @param {number} total
 * @param {number} rowHeight
 * @param {number} height of the window, pixels
 */
export function geometry(total, rowHeight, height) {
  const full = total * rowHeight;
  const shown = Math.min(full, MAX_HEIGHT);
  const scale = full > shown && shown > height ? (full - height) / (shown - height) : 1;
  return { shown, scale };
}

/**
 * Return the half-open range of rows to draw at a scroll offset, spare rows included.
 * @param {number} scrollTop
 * @param {number} height
 * @param {number} rowHeight
 * @param {number} total
 * @returns {[number, number]}
 */
export function visibleRows(scrollTop, height, rowHeight, total) {
  const { scale } = geometry(total, rowHeight, height);
  const first = Math.floor((scrollTop * scale) / rowHeight) - SPARE_ROWS;
  const count = Math.ceil(height / rowHeight) + 2 * SPARE_ROWS;
  const from = Math.max(0, Math.min(first, total - count));
  return [from, Math.min(total, from + count)];
}

/**
 * Return the pages that hold the rows `from` (included) to `to` (not included).
 * @param {number} from
 * @param {number} to
 */
export function pagesOf(from, to) {
  const pages = [];
  for (let page = Math.floor(from / PAGE); page * PAGE < to; page += 1) pages.push(page);
  return pages;
}

/**
 * @template T
 * @typedef {object} ListOptions
 * @property {number} rowHeight pixels; every row has the same
 * @property {(element: HTMLElement, index: number, record: T | null) => void} row fills an
 *   empty element; `null` while the row is on its way
 * @property {(start: number, end: number) => Promise<T[]>} fetch
 * @property {string} label for screen readers
 * @property {(index: number) => void} [onSelect] a row was clicked
 * @property {(error: Error) => void} [onError] a page could not be fetched
 * @property {HTMLElement} [grid] an element with the role "grid" that holds this list as its
 *   rows: it has the focus, and the list is a "rowgroup" of "row"s behind a header row
 */

/** @template T */
export class VirtualList {
  /** @param {ListOptions<T>} options */
  constructor(options) {
    this.options = options;
    this.total = 0;
    this.selected = -1;
    /** @type {Map<number, T[]>} */
    this.pages = new Map();
    /** @type {Set<number>} */
    this.asked = new Set();
    /** @type {Map<number, HTMLElement>} */
    this.rows = new Map();
    this.era = 0;
    this.filler = h("div", { class: "snb-list-filler", role: "presentation" });
    const role = options.grid
      ? { role: "rowgroup" }
      : { role: "listbox", "aria-label": options.label, tabindex: "0" };
    this.element = h("div", { class: "snb-list", ...role }, this.filler);
    /** The element that has the focus and names the active row. */
    this.owner = options.grid ?? this.element;
    this.id = `snb-row-${Math.random().toString(36).slice(2, 8)}`;
    this.element.addEventListener("scroll", () => this.draw(), { passive: true });
    this.observer = new ResizeObserver(() => this.draw());
    this.observer.observe(this.element);
  }

  /** @param {number} total */
  setTotal(total) {
    this.total = total;
    this.refresh();
  }

  /**
   * Throw away what was fetched and fetch again what is seen. Until that has come, the rows
   * show what they showed: a list that goes blank at each change would flicker.
   */
  refresh() {
    this.era += 1;
    this.pages.clear();
    this.asked.clear();
    for (const row of this.rows.values())
      if (row.hasAttribute("aria-setsize")) row.setAttribute("aria-setsize", String(this.total));
    this.draw();
  }

  /**
   * @param {number} index
   * @returns {T | null} the record, where it was fetched
   */
  get(index) {
    return this.pages.get(Math.floor(index / PAGE))?.[index % PAGE] ?? null;
  }

  /**
   * Put another record in the place of the one at `index`.
   * @param {number} index
   * @param {T} record
   */
  patch(index, record) {
    const page = this.pages.get(Math.floor(index / PAGE));
    if (page) page[index % PAGE] = record;
    const element = this.rows.get(index);
    if (element) this.fill(element, index);
  }

  /**
   * @param {number} index
   * @param {{ scroll?: boolean }} [how]
   */
  select(index, { scroll = true } = {}) {
    const before = this.rows.get(this.selected);
    this.selected = index;
    if (scroll && index >= 0) this.scrollTo(index);
    this.draw();
    if (before) before.setAttribute("aria-selected", "false");
    const now = this.rows.get(index);
    if (now) {
      now.setAttribute("aria-selected", "true");
      this.owner.setAttribute("aria-activedescendant", now.id);
    } else this.owner.removeAttribute("aria-activedescendant");
  }

  /** @param {number} index brought into sight with as little movement as possible */
  scrollTo(index) {
    const { rowHeight } = this.options;
    const height = this.element.clientHeight;
    const { shown, scale } = geometry(this.total, rowHeight, height);
    // The filler may not have its height yet: a scroll beyond it would be cut short.
    this.filler.style.setProperty("height", `${shown}px`);
    const top = this.element.scrollTop * scale;
    if (index * rowHeight < top) this.element.scrollTop = (index * rowHeight) / scale;
    else if ((index + 1) * rowHeight > top + height)
      this.element.scrollTop = ((index + 1) * rowHeight - height) / scale;
  }

  draw() {
    const { rowHeight } = this.options;
    const height = this.element.clientHeight;
    if (!height) return;
    const { shown, scale } = geometry(this.total, rowHeight, height);
    this.filler.style.setProperty("height", `${shown}px`);
    const top = this.element.scrollTop;
    const [from, to] = visibleRows(top, height, rowHeight, this.total);
    for (const [index, row] of this.rows) {
      if (index >= from && index < to) continue;
      row.remove();
      this.rows.delete(index);
    }
    // Rows stand where the squeezed list is now, so that they move by whole pixels.
    const shift = top - top * scale;
    for (let index = from; index < to; index += 1) {
      const row = this.rows.get(index) ?? this.make(index);
      row.style.setProperty("transform", `translateY(${index * rowHeight + shift}px)`);
    }
    this.load(from, to);
  }

  /** @param {number} index */
  make(index) {
    const place = this.options.grid
      ? { role: "row", "aria-rowindex": String(index + 2) }
      : { role: "option", "aria-posinset": String(index + 1), "aria-setsize": String(this.total) };
    const row = h("div", {
      class: "snb-list-row",
      ...place,
      id: `${this.id}-${index}`,
      "aria-selected": String(index === this.selected),
      on: { click: () => this.options.onSelect?.(index) },
    });
    row.style.setProperty("height", `${this.options.rowHeight}px`);
    this.rows.set(index, row);
    this.fill(row, index);
    this.filler.appendChild(row);
    return row;
  }

  /**
   * @param {HTMLElement} row
   * @param {number} index
   */
  fill(row, index) {
    row.replaceChildren();
    this.options.row(row, index, this.get(index));
  }

  /**
   * @param {number} from
   * @param {number} to
   */
  load(from, to) {
    const era = this.era;
    for (const page of pagesOf(from, to)) {
      if (this.pages.has(page) || this.asked.has(page)) continue;
      this.asked.add(page);
      const start = page * PAGE;
      this.options.fetch(start, Math.min(this.total, start + PAGE)).then(
        (records) => {
          if (era === this.era) this.take(page, records);
        },
        (error) => {
          if (era === this.era) this.asked.delete(page);
          this.options.onError?.(error);
        },
      );
    }
  }

  /**
   * @param {number} page
   * @param {T[]} records
   */
  take(page, records) {
    this.asked.delete(page);
    this.pages.set(page, records);
    // Memory stays flat: of a long way through the list only the last pages are kept, and
    // those in sight, which may be the oldest after a quick way there and back.
    const inSight = new Set([...this.rows.keys()].map((index) => Math.floor(index / PAGE)));
    for (const old of this.pages.keys()) {
      if (this.pages.size <= KEPT_PAGES) break;
      if (!inSight.has(old)) this.pages.delete(old);
    }
    for (const [index, row] of this.rows) if (Math.floor(index / PAGE) === page) this.fill(row, index);
  }

  close() {
    this.observer.disconnect();
  }
}
