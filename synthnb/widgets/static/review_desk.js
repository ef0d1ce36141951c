// @ts-check
// What is done at the desk: decide, edit, annotate, undo, filter. Decisions show at once and
// are taken back on the page if the kernel could not write them.
import { asError, Walk } from "./review_walk.js";
import { decisionWord, numberText } from "./review_words.js";

/** @typedef {import("./review_words.js").Row} Row */
/** @typedef {import("./review_words.js").DeskState} DeskState */
/** @typedef {import("./review_words.js").Filter} Filter */
/** @typedef {import("./review_cards.js").Card} Card */

export class Desk extends Walk {
  /**
   * @param {ConstructorParameters<typeof Walk>[0]} ask
   * @param {ConstructorParameters<typeof Walk>[1]} rows
   * @param {ConstructorParameters<typeof Walk>[2]} face
   */
  constructor(ask, rows, face) {
    super(ask, rows, face);
    this.filterTurn = 0;
    /** @type {Map<string, number>} ids → notes on their way to the disk */
    this.noting = new Map();
  }

  /**
   * A page of the list.
   * @param {number} start
   * @param {number} end
   * @returns {Promise<Row[]>}
   */
  async fetch(start, end) {
    const answer = await this.ask("rows", { start, end });
    // The list changed under this page and nobody has said so yet.
    if (this.state && answer.version > this.state.version) void this.sync().catch(() => undefined);
    return answer.rows;
  }

  /** @returns {Card | null} the card that a key pressed now can be about */
  ready() {
    return this.seen && !this.face.busy() && this.here && !this.pending.has(this.here.id) ? this.here : null;
  }

  /** @param {"accept" | "reject"} action */
  async decide(action) {
    const here = this.ready();
    if (!here) return;
    const from = this.at;
    const version = this.state?.version ?? 0;
    const before = this.rowOf(here);
    if (before.decision === action) {
      this.prefix = `already ${decisionWord(action)}`;
      await this.next();
      return;
    }
    const row = { ...before, decision: action };
    this.pending.set(here.id, row);
    this.shelf.forget(here.id);
    this.patch(row);
    this.prefix = decisionWord(action);
    const ahead = this.ahead(from);
    if (ahead >= 0) this.go(ahead);
    else this.mark(here, row, action);
    const { turn } = this;
    try {
      const answer = await this.ask("decide", { id: here.id, action, from });
      this.pending.delete(here.id);
      this.settle(answer, ahead < 0 && turn === this.turn, version);
    } catch (error) {
      this.pending.delete(here.id);
      this.patch(before);
      this.prefix = "";
      if (this.here?.id === here.id) this.reload();
      this.face.fail(`“${before.title}” was not ${decisionWord(action)}`, asError(error), here.id);
    }
  }

  /**
   * Show a card as decided while the kernel looks for the next one.
   * @param {Card} card
   * @param {Row} row
   * @param {"accept" | "reject"} action
   */
  mark(card, row, action) {
    const decided = { decision: action, by: this.state?.by ?? "", at: new Date().toISOString() };
    this.here = { ...card, row, decided };
    this.face.card(this.here, this.at);
  }

  /**
   * @param {{ state: DeskState, row: Row, next: number | null }} answer
   * @param {boolean} waits nobody has moved on since
   * @param {number} version of the list when it was asked
   */
  settle(answer, waits, version) {
    this.adopt(answer.state);
    const moved = answer.state.version !== version;
    if (!moved) this.patch(answer.row);
    if (!waits) {
      if (moved) void this.relocate();
    } else if (answer.next === null) {
      this.prefix = `${this.prefix}; nothing left to decide`;
      this.reload();
    } else this.go(answer.next);
  }

  async undo() {
    const answer = await this.ask("undo");
    const moved = this.adopt(answer.state);
    if (answer.many > 1 || answer.id === null) {
      this.shelf.forgetAll();
      if (!moved) this.rows.refresh();
    } else this.shelf.forget(answer.id);
    this.prefix = `undone: ${answer.what}`;
    if (answer.i !== null && !this.face.busy()) this.go(answer.i);
    else if (answer.id === null || answer.id === this.here?.id) this.reload();
    else {
      this.announce("the filter hides that row");
      if (moved) void this.relocate();
    }
  }

  /**
   * Save an edit; its row stays in sight, so that what changed can be looked at.
   * @param {Card} card
   * @param {Record<string, string>} values
   */
  async edit(card, values) {
    const answer = await this.ask("edit", { id: card.id, values, from: this.at });
    this.shelf.forget(card.id);
    if (!this.adopt(answer.state)) this.patch(answer.row);
    this.prefix = "saved and accepted";
  }

  /**
   * @param {Card} card
   * @param {{ tags?: string[], stars?: number, note?: string }} change
   */
  async annotate(card, change) {
    Object.assign(card, change);
    this.shelf.fetching.delete(card.id);
    this.noting.set(card.id, (this.noting.get(card.id) ?? 0) + 1);
    try {
      const answer = await this.ask("annotate", { id: card.id, ...change });
      this.noted(card.id);
      this.announce(`${Object.keys(change)[0]} saved`);
      if (!this.adopt(answer.state)) this.patch(answer.row);
      else if (this.here === card) void this.relocate();
    } catch (error) {
      this.noted(card.id);
      this.shelf.forget(card.id);
      if (this.here?.id === card.id) this.reload();
      const what = Object.keys(change)[0] ?? "note";
      this.face.fail(`the ${what} of “${card.row.title}” was not saved`, asError(error), card.id);
    }
  }

  /** @param {string} id */
  noted(id) {
    const left = (this.noting.get(id) ?? 1) - 1;
    if (left) this.noting.set(id, left);
    else this.noting.delete(id);
  }

  /**
   * @param {Filter} filter
   * @returns {Promise<Filter | null>} as the kernel understood it; null: a later one counts
   */
  async filter(filter) {
    this.filterTurn += 1;
    const turn = this.filterTurn;
    const answer = await this.ask("filter", filter);
    if (turn !== this.filterTurn) return null;
    await this.refilled(answer);
    return turn === this.filterTurn ? answer.filter : null;
  }

  /**
   * Show what a filter lets through; the row that is looked at stays, if it is among it.
   * @param {{ state: DeskState, selected: number | null }} answer
   */
  async refilled({ state, selected }) {
    const { here } = this;
    if (!this.adopt(state)) this.rows.setTotal(state.matching);
    this.prefix = `${numberText(state.matching)} of ${numberText(state.total)} rows match`;
    if (!state.matching) {
      this.place(-1);
      this.announce("clear the filters to see rows");
      return;
    }
    const { turn } = this;
    const still = here ? (await this.ask("record", { id: here.id })).i : null;
    if (turn === this.turn) this.place(still ?? selected ?? 0);
  }

  /** @param {number} threshold */
  async bulk(threshold) {
    const answer = await this.ask("bulk", { threshold });
    this.shelf.forgetAll();
    if (!this.adopt(answer.state)) this.rows.refresh();
    this.prefix = `${answer.accepted} accepted and ${answer.rejected} rejected`;
    this.reload();
  }

  /**
   * Somebody wrote: this page, another view, process or call.
   * @param {{ state: DeskState, rows: Row[] | null }} content
   */
  changed({ state, rows }) {
    const moved = this.adopt(state);
    if (!rows || moved) {
      this.shelf.forgetAll();
      if (!moved) this.rows.refresh();
      // The answer to a decision under way says where to go; a reload would get in between.
      if (!this.pending.size) this.reload();
      return;
    }
    for (const row of rows) {
      if (this.pending.has(row.id)) continue;
      const known = row.i === null ? null : this.rows.get(row.i);
      if (known && JSON.stringify(known) === JSON.stringify(row)) continue;
      this.patch(row);
      if (this.noting.has(row.id)) continue;
      this.shelf.forget(row.id);
      if (this.here?.id === row.id) this.reload();
    }
  }

  async sync() {
    const { state } = await this.ask("sync");
    if (JSON.stringify(state) !== JSON.stringify(this.state)) this.changed({ state, rows: null });
  }
}
