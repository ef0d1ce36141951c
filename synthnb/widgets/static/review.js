// @ts-check
// The reviewer's desk: a list of all records, one of them in full, and the keys to decide.
import { channel } from "./channel.js";
import { VirtualList } from "./list.js";
import { Desk } from "./review_desk.js";
import { FilterBar } from "./review_filters.js";
import { fillRow } from "./review_frame.js";
import { JudgeStrip } from "./review_judge.js";
import { reviewAction } from "./review_keys.js";
import { ReviewPage } from "./review_page.js";
import { asError } from "./review_walk.js";

/** @typedef {import("./review_words.js").Row} Row */
/** @typedef {import("./review_words.js").Filter} Filter */
/** @typedef {import("./review_words.js").DeskState} DeskState */

const ROW_HEIGHT = 30;
const PAGE_STEP = 10;
// The figures follow the decisions, but do not get between two quick ones.
const JUDGE_IDLE_MS = 600;
const SYNC_MS = 2000;

class Review {
  /** @param {import("./channel.js").Model} model */
  constructor(model) {
    this.channel = channel(model);
    this.resized = new ResizeObserver(() => this.desk.at >= 0 && this.list.scrollTo(this.desk.at));
    this.judgeTimer = 0;
    this.idleTimer = 0;
    this.synced = 0;
    this.hasRating = false;
    this.judge = new JudgeStrip({
      threshold: (ms) => this.judgeIn(ms),
      bulk: (threshold) => this.run("this was not saved", this.desk.bulk(threshold)),
      leave: () => this.page.home(),
    });
    this.filters = new FilterBar({
      filter: (filter) => this.run("this filter does not work", this.filter(filter)),
      first: () => this.desk.move(-Infinity),
      leave: () => this.page.home(),
    });
    /** @type {VirtualList<Row>} */
    this.list = new VirtualList({
      rowHeight: ROW_HEIGHT,
      label: "records",
      row: (element, index, row) => fillRow(element, index, row && this.desk.overlaid(row), this.list.total),
      fetch: (start, end) => this.desk.fetch(start, end),
      onSelect: (index) => this.desk.go(index),
      onError: (error) => this.page.fail("the list could not be read", error, null),
    });
    this.page = new ReviewPage(this.list.element, this.judge.element, this.filters.element, {
      act: (action) => this.act(action),
      jump: (id) => this.run("that row could not be read", this.desk.goTo(id)),
      annotate: (card, change) => void this.desk.annotate(card, change),
      clear: () => this.filters.reset(),
      rowOf: (card) => this.desk.rowOf(card),
    });
    this.desk = new Desk(this.channel.ask, this.list, this.page);
    this.listen();
  }

  listen() {
    this.page.root.addEventListener("keydown", (event) => {
      const action = reviewAction(event);
      if (!action) return;
      event.preventDefault();
      this.act(action, event.key);
    });
    this.channel.on("changed", (content) => {
      if (content.filter) {
        this.filters.show(content.filter);
        this.run("the rows could not be read", this.desk.refilled(content));
      } else this.desk.changed(content);
      this.judgeSoon();
    });
    this.channel.onStall((waiting) => this.page.foot.stall(waiting));
    this.sync = () => {
      if (document.hidden || !this.desk.state || Date.now() - this.synced < SYNC_MS) return;
      this.synced = Date.now();
      this.desk.sync().catch((error) => this.page.fail("the log could not be read", asError(error), null));
    };
    // The row that is looked at stays in sight when the list folds above the card.
    this.resized.observe(this.list.element);
    document.addEventListener("visibilitychange", this.sync);
    window.addEventListener("focus", this.sync);
    this.page.root.addEventListener("focusin", this.sync);
  }

  async open() {
    const answer = await this.desk.open();
    this.hasRating = Boolean(answer.has.rating && answer.judge?.bars.length);
    this.judge.element.hidden = !this.hasRating;
    this.filters.offer(answer.options, answer.has, answer.scale);
    this.filters.show(answer.filter);
    if (this.hasRating) this.judge.show(answer.judge, answer.state);
    if (answer.problem) this.page.fail("note", new Error(answer.problem), null);
  }

  /**
   * Show what went wrong with a step that the desk does not take back by itself.
   * @param {string} what
   * @param {Promise<unknown>} promise
   */
  run(what, promise) {
    promise.then(() => this.judgeSoon()).catch((error) => this.page.fail(what, asError(error), null));
  }

  /** @param {Filter} filter */
  async filter(filter) {
    const understood = await this.desk.filter(filter);
    if (understood) this.filters.show(understood);
  }

  /** @param {number} ms */
  judgeIn(ms) {
    clearTimeout(this.judgeTimer);
    this.judgeTimer = window.setTimeout(() => void this.askJudge(), ms);
  }

  /** Ask for the figures when nothing has happened for a moment. */
  judgeSoon() {
    if (!this.hasRating) return;
    clearTimeout(this.idleTimer);
    this.idleTimer = window.setTimeout(() => void this.askJudge(), JUDGE_IDLE_MS);
  }

  async askJudge() {
    try {
      const judge = await this.channel.ask("judge", { threshold: this.judge.wanted });
      if (this.desk.state)
        this.page.holding(() => this.judge.show(judge, /** @type {DeskState} */ (this.desk.state)));
    } catch (error) {
      this.page.fail("the figures could not be counted", asError(error), null);
    }
  }

  /**
   * Do what a key or a button asks for.
   * @param {string} action
   * @param {string} [key]
   */
  act(action, key = "") {
    const { desk, page } = this;
    if (action === "accept" || action === "reject") this.run("this was not saved", desk.decide(action));
    else if (action === "undo") this.undo();
    else if (action === "edit") this.edit();
    else if (action === "save") this.save();
    else if (action === "leave") this.leaveEdit();
    else if (action === "down") desk.move(1);
    else if (action === "up") desk.move(-1);
    else if (action === "pageDown") desk.move(PAGE_STEP);
    else if (action === "pageUp") desk.move(-PAGE_STEP);
    else if (action === "home") desk.move(-Infinity);
    else if (action === "end") desk.move(Infinity);
    else if (action === "next") this.run("the next row was not found", desk.next());
    else if (action === "search") this.search();
    else if (action === "tag") page.notes.input.focus({ preventScroll: true });
    else if (action === "note") page.notes.note.focus({ preventScroll: true });
    else if (action === "stars") this.stars(Number(key));
    else if (action === "help") page.showHelp(Boolean(page.help.hidden));
    else if (action === "escape") this.escape();
  }

  undo() {
    if (this.desk.state?.undo) this.run("nothing was undone", this.desk.undo());
    else this.page.say("there is nothing to undo");
  }

  search() {
    this.filters.search.focus({ preventScroll: true });
    this.filters.search.select();
  }

  /** @param {number} stars */
  stars(stars) {
    if (!this.desk.ready()) return;
    this.page.notes.setStars(stars);
  }

  edit() {
    const card = this.desk.ready();
    if (card) this.page.startEdit(card, { save: () => this.save(), leave: () => this.leaveEdit() });
  }

  save() {
    const { form } = this.page;
    if (!form) return;
    const values = form.values();
    if (!Object.keys(values).length) {
      this.leaveEdit();
      return;
    }
    this.run("the edit was not saved; your text is still here", this.saveEdit(form, values));
  }

  /**
   * @param {import("./review_edit.js").EditForm} form
   * @param {Record<string, string>} values
   */
  async saveEdit(form, values) {
    await this.desk.edit(form.card, values);
    form.saved();
    if (this.page.form === form) this.page.endEdit();
    this.page.drafts.delete(form.card.id);
    this.page.home();
    this.desk.reload();
  }

  leaveEdit() {
    const { form } = this.page;
    if (!form) return;
    const kept = form.put();
    this.page.endEdit();
    this.page.home();
    this.page.say(kept ? "not saved; the text is kept until you press e again" : "nothing was changed");
    this.desk.reload();
  }

  escape() {
    const { page } = this;
    if (!page.help.hidden) page.showHelp(false);
    else if (this.page.form) this.leaveEdit();
    else if (this.judge.close() || page.foot.quiet()) page.home();
    else page.home();
  }

  close() {
    document.removeEventListener("visibilitychange", /** @type {() => void} */ (this.sync));
    window.removeEventListener("focus", /** @type {() => void} */ (this.sync));
    clearTimeout(this.judgeTimer);
    clearTimeout(this.idleTimer);
    this.resized.disconnect();
    this.filters.close();
    this.list.close();
    this.channel.close();
  }
}

/** @param {{ model: import("./channel.js").Model, el: HTMLElement }} context */
function render({ model, el }) {
  const review = new Review(model);
  el.appendChild(review.page.root);
  review.run("the rows could not be read", review.open());
  return () => review.close();
}

export default { render };
