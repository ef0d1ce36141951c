// @ts-check
// Which row is looked at, and how one gets to the next. No page here: the page is the
// `face`, the list is `rows`, the kernel is `ask`.
import { CardShelf } from "./review_cards.js";
import { decisionWord, rowPlace } from "./review_words.js";

/** @typedef {import("./review_words.js").Row} Row */
/** @typedef {import("./review_words.js").DeskState} DeskState */
/** @typedef {import("./review_cards.js").Card} Card */

/**
 * @typedef {object} Rows the list, as far as the desk needs it
 * @property {(index: number) => Row | null} get
 * @property {(index: number, row: Row) => void} patch
 * @property {(total: number) => void} setTotal
 * @property {() => void} refresh
 * @property {(index: number) => void} select
 */

/**
 * @typedef {object} Face
 * @property {(card: Card | null, index: number) => void} card
 * @property {() => Promise<void>} painted resolves when the card is on the screen
 * @property {(state: DeskState) => void} state
 * @property {(text: string) => void} say
 * @property {(what: string, error: Error, id: string | null) => void} fail
 * @property {() => boolean} busy an edit is under way: its card stays
 */

const CARDS_AHEAD = 3;
// Beyond so many decided rows the kernel is asked where the next undecided one is.
const LOOK_AHEAD = 300;

export class Walk {
  /**
   * @param {(op: string, content?: object) => Promise<any>} ask
   * @param {Rows} rows
   * @param {Face} face
   */
  constructor(ask, rows, face) {
    this.ask = ask;
    this.rows = rows;
    this.face = face;
    this.shelf = new CardShelf(ask);
    /** @type {DeskState | null} */
    this.state = null;
    /** @type {Card | null} the card on the screen */
    this.here = null;
    this.at = -1;
    /** Whether that card was painted: only then can a key be about it. */
    this.seen = false;
    /** Whether its row has left the view, so that the next row has its place. */
    this.outside = false;
    this.turn = 0;
    this.prefix = "";
    /** @type {{ id?: string, i?: number } | null} */
    this.want = null;
    this.loading = false;
    /** @type {Map<string, Row>} decisions on their way to the disk */
    this.pending = new Map();
  }

  async open() {
    const answer = await this.ask("open");
    this.shelf.forgetAll();
    this.state = answer.state;
    this.face.state(answer.state);
    this.rows.setTotal(answer.state.matching);
    this.place(answer.state.matching ? (answer.selected ?? 0) : -1);
    return answer;
  }

  /** @param {number} index -1: there is nothing to show */
  place(index) {
    if (index >= 0) {
      this.go(index);
      return;
    }
    this.turn += 1;
    this.at = -1;
    this.here = this.want = null;
    this.rows.select(-1);
    this.face.card(null, -1);
  }

  /** @param {number} index */
  go(index) {
    this.turn += 1;
    this.at = index;
    this.seen = false;
    this.outside = false;
    this.rows.select(index);
    const row = this.rows.get(index);
    const card = row && this.shelf.get(row.id);
    // Asked for by id: the place may have moved by the time the kernel reads this.
    this.want = row ? { id: row.id } : { i: index };
    if (card) this.show(card, index);
    else void this.load();
  }

  /** @param {string} id */
  goTo(id) {
    this.turn += 1;
    this.seen = false;
    this.want = { id };
    return this.load();
  }

  /** Fetch what is wanted; of rows that were run past, none. */
  async load() {
    if (this.loading) return;
    this.loading = true;
    try {
      while (this.want) {
        const want = this.want;
        const card = /** @type {Card} */ (await this.ask("record", want));
        this.shelf.keep(card);
        if (this.want === want) this.show(card, card.i);
      }
    } catch (error) {
      this.want = null;
      this.face.fail("this row could not be read", asError(error), null);
    } finally {
      this.loading = false;
    }
  }

  /**
   * @param {Card} card
   * @param {number | null} index
   */
  show(card, index) {
    this.want = null;
    this.here = card;
    this.seen = false;
    this.stand(index);
    if (!this.pending.has(card.id)) this.patch(card.row);
    this.face.card(card, this.at);
    this.announce(this.placeText(card));
    const { turn } = this;
    void this.face.painted().then(() => {
      if (turn !== this.turn || this.here !== card) return;
      this.seen = true;
      this.prefetch();
    });
  }

  /** @param {number | null} index */
  stand(index) {
    this.outside = index === null;
    if (index !== null) this.at = index;
    this.rows.select(index ?? -1);
  }

  /** @param {Card} card */
  placeText(card) {
    const row = this.rowOf(card);
    if (this.outside) return `${decisionWord(row.decision)}, not in the filter`;
    return rowPlace(row, this.at, this.state?.matching ?? 0);
  }

  /** @param {Card} card the row as the list has it, with a decision that is on its way */
  rowOf(card) {
    const listed = this.rows.get(this.at);
    return this.overlaid(listed?.id === card.id ? listed : card.row);
  }

  /** @param {Row} row */
  overlaid(row) {
    return this.pending.get(row.id) ?? row;
  }

  /** @param {string} text */
  announce(text) {
    this.face.say(this.prefix ? `${this.prefix}; ${text}` : text);
    this.prefix = "";
  }

  reload() {
    if (!this.here || this.face.busy()) return;
    this.shelf.forget(this.here.id);
    this.turn += 1;
    this.want = { id: this.here.id };
    void this.load();
  }

  /** Fetch the cards that are likely to be next. */
  prefetch() {
    const here = this.here?.id ?? "";
    const next = this.rows.get(this.at + 1);
    if (next) this.shelf.fetch(next.id, here);
    let from = this.at;
    for (let n = 0; n < CARDS_AHEAD; n += 1) {
      from = this.ahead(from);
      const row = from < 0 ? null : this.rows.get(from);
      if (!row) break;
      this.shelf.fetch(row.id, here);
    }
  }

  /**
   * The next undecided row after `from` as far as the list knows, or -1.
   * @param {number} from
   */
  ahead(from) {
    const end = Math.min(this.state?.matching ?? 0, from + 1 + LOOK_AHEAD);
    for (let index = from + 1; index < end; index += 1) {
      const row = this.rows.get(index);
      if (!row) return -1;
      if (!this.overlaid(row).decision) return index;
    }
    return -1;
  }

  async next() {
    const ahead = this.ahead(this.outside ? this.at - 1 : this.at);
    if (ahead >= 0) {
      this.go(ahead);
      return;
    }
    const { turn } = this;
    const { i } = await this.ask("next", { from: this.at, back: false });
    if (turn !== this.turn) return;
    if (i === null) this.announce("nothing left to decide");
    else if (i === this.at && !this.outside) this.announce("no other row is undecided");
    else this.go(i);
  }

  /** @param {number} by rows; Infinity: to the end */
  move(by) {
    const last = (this.state?.matching ?? 0) - 1;
    if (last < 0) return;
    const step = this.outside && by > 0 ? by - 1 : by;
    const to = Math.max(0, Math.min(last, this.at + step));
    if (to !== this.at || this.outside) this.go(to);
    else this.announce(by > 0 ? "this is the last row" : "this is the first row");
  }

  /** @param {Row} row put in its place, if the list still has it there */
  patch(row) {
    if (row.i !== null && this.rows.get(row.i)?.id === row.id) this.rows.patch(row.i, row);
  }

  /**
   * Take a new state; returns whether the order of the rows is another one now.
   * @param {DeskState} state
   */
  adopt(state) {
    const moved = this.state !== null && state.version !== this.state.version;
    this.state = state;
    this.face.state(state);
    if (moved) this.rows.setTotal(state.matching);
    return moved;
  }

  /** Find the row that is looked at in a list that has another order now. */
  async relocate() {
    const { here, turn } = this;
    if (!here || this.want) return;
    try {
      const card = /** @type {Card} */ (await this.ask("record", { id: here.id }));
      if (turn === this.turn && this.here === here) this.stand(card.i);
    } catch (error) {
      this.face.fail("this row could not be found again", asError(error), null);
    }
  }
}

/** @param {unknown} error */
export function asError(error) {
  return error instanceof Error ? error : new Error(String(error));
}
