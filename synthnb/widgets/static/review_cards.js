// @ts-check
// The cards that are at hand: those last looked at, and those likely to be next.

/** @typedef {import("./review_words.js").Row} Row */

/**
 * One record as the card shows it.
 * @typedef {object} Card
 * @property {number | null} i place in the view; null: not in it
 * @property {string} id
 * @property {Row} row
 * @property {{ name: string, text: string, was: string | null, cut: number | null }[]} fields
 * @property {{ label: string, before: string, mark: string, after: string, exact: boolean } | null} source
 * @property {number | null} rating
 * @property {string | null} reason
 * @property {{ id: string, i: number | null, title: string } | null} duplicate
 * @property {[string, unknown][]} provenance
 * @property {string | null} status
 * @property {string | null} detail
 * @property {{ decision: string, by: string, at: string } | null} decided
 * @property {string[]} tags
 * @property {number} stars
 * @property {string} note
 */

const KEPT_CARDS = 24;

export class CardShelf {
  /** @param {(op: string, content?: object) => Promise<any>} ask */
  constructor(ask) {
    this.ask = ask;
    /** @type {Map<string, Card>} */
    this.cards = new Map();
    /** @type {Set<string>} */
    this.fetching = new Set();
  }

  /** @param {string} id */
  get(id) {
    return this.cards.get(id) ?? null;
  }

  /** @param {Card} card the newest one; of many the oldest is dropped */
  keep(card) {
    this.cards.delete(card.id);
    this.cards.set(card.id, card);
    for (const old of this.cards.keys()) {
      if (this.cards.size <= KEPT_CARDS) break;
      this.cards.delete(old);
    }
  }

  /**
   * Fetch a card before it is wanted. A failure is shown when it is wanted, and not earlier.
   * @param {string} id
   * @param {string} at the record that is looked at: a page opened later begins there
   */
  fetch(id, at) {
    if (this.cards.has(id) || this.fetching.has(id)) return;
    this.fetching.add(id);
    this.ask("record", { id, at })
      .then(
        (card) => {
          if (this.fetching.has(id)) this.keep(card);
        },
        () => undefined,
      )
      .finally(() => this.fetching.delete(id));
  }

  /** @param {string} id what is known of it is out of date, also what is on its way */
  forget(id) {
    this.cards.delete(id);
    this.fetching.delete(id);
  }

  forgetAll() {
    this.cards.clear();
    this.fetching.clear();
  }
}
