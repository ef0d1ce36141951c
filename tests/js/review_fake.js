// A kernel and a page for the desk, without either: the kernel keeps rows and a log and is
// answered when a test lets it, the page keeps what it was told.

/** A kernel of `n` undecided rows that answers in order, each question when `flush` is called. */
export class Kernel {
  constructor(n) {
    this.rows = Array.from({ length: n }, (_, i) => row(i));
    this.view = this.rows.map((one) => one.id);
    this.log = [];
    this.asked = [];
    this.waiting = [];
    this.refusing = 0;
    this.version = 1;
    this.ask = (op, content = {}) =>
      new Promise((resolve, reject) => {
        this.asked.push([op, content]);
        this.waiting.push({ op, content, resolve, reject });
      });
  }

  /** Answer what is waiting, and what is asked because of the answers. */
  async flush() {
    for (let round = 0; round < 40; round += 1) {
      while (this.waiting.length) this.answer(this.waiting.shift());
      await settled();
    }
  }

  answer({ op, content, resolve, reject }) {
    try {
      resolve(structuredClone(this[op](content)));
    } catch (error) {
      reject(error);
    }
  }

  state() {
    const counts = { accept: 0, reject: 0, todo: 0 };
    for (const one of this.rows) counts[one.decision ?? "todo"] += 1;
    const undo = this.log.at(-1)?.id ?? null;
    return {
      total: this.rows.length,
      matching: this.view.length,
      counts,
      undo,
      by: "anna",
      log: "log",
      version: this.version,
    };
  }

  find(id) {
    const found = this.rows.find((one) => one.id === id);
    const i = this.view.indexOf(id);
    return { ...found, i: i < 0 ? null : i };
  }

  after(from) {
    for (let k = 1; k <= this.view.length; k += 1) {
      const i = (from + k) % this.view.length;
      if (!this.find(this.view[i]).decision) return i;
    }
    return null;
  }

  write(id, change) {
    if (this.refusing) {
      this.refusing -= 1;
      throw new Error("the disk is full");
    }
    const one = this.rows.find((other) => other.id === id);
    this.log.push({ id, before: { ...one } });
    Object.assign(one, change);
  }

  open() {
    return { state: this.state(), selected: 0 };
  }

  list({ start, end }) {
    return { version: this.version, rows: this.view.slice(start, end).map((id) => this.find(id)) };
  }

  record({ i, id }) {
    const one = this.find(id ?? this.view[i]);
    return { i: one.i, id: one.id, row: one, tags: [], stars: one.stars, note: "", decided: null };
  }

  decide({ id, action, from }) {
    this.write(id, { decision: action });
    return { state: this.state(), row: this.find(id), next: this.after(from) };
  }

  edit({ id, from }) {
    this.write(id, { decision: "accept", edited: true });
    return { state: this.state(), row: this.find(id), next: this.after(from) };
  }

  annotate({ id, ...change }) {
    this.write(id, change);
    return { state: this.state(), row: this.find(id) };
  }

  undo() {
    const step = this.log.pop();
    if (!step) throw new Error("nothing is left to take back");
    Object.assign(
      this.rows.find((one) => one.id === step.id),
      step.before,
    );
    return { state: this.state(), what: "a step", i: this.find(step.id).i, id: step.id, many: 1 };
  }

  next({ from }) {
    return { i: this.after(from) };
  }

  filter({ decision }) {
    this.view = this.rows.filter((one) => !decision || !one.decision).map((one) => one.id);
    this.version += 1;
    return { state: this.state(), filter: { decision }, selected: 0 };
  }

  bulk() {
    for (const one of this.rows) one.decision ??= "accept";
    return { state: this.state(), many: this.rows.length, accepted: this.rows.length, rejected: 0 };
  }

  sync() {
    return { state: this.state() };
  }
}

export function row(i) {
  return {
    i,
    id: `r${i}`,
    title: `title ${i}`,
    rating: 5,
    decision: null,
    edited: false,
    duplicate: false,
    status: "ok",
    stars: 0,
  };
}

/** The list: pages are there once the kernel has been asked for them with `fill`. */
export class Rows {
  constructor(kernel) {
    this.kernel = kernel;
    this.there = [];
    this.selected = -1;
  }

  fill() {
    this.there = this.kernel.list({ start: 0, end: this.kernel.view.length }).rows;
  }

  get(index) {
    return this.there[index] ?? null;
  }

  patch(index, record) {
    this.there[index] = record;
  }

  setTotal() {
    this.there = [];
  }

  refresh() {
    this.there = [];
  }

  select(index) {
    this.selected = index;
  }
}

/** The page: a card is painted when a test says so. */
export class Face {
  constructor() {
    this.shown = [];
    this.said = [];
    this.failed = [];
    this.editing = false;
    this.frames = [];
  }

  card(card) {
    this.shown.push(card?.id ?? null);
  }

  painted() {
    return new Promise((resolve) => this.frames.push(resolve));
  }

  /** Let the browser draw. */
  async paint() {
    for (const frame of this.frames.splice(0)) frame();
    await settled();
  }

  state(state) {
    this.counts = state.counts;
  }

  say(text) {
    this.said.push(text);
  }

  fail(what, error, id) {
    this.failed.push([what, error.message, id]);
  }

  busy() {
    return this.editing;
  }
}

export async function settled() {
  for (let n = 0; n < 8; n += 1) await Promise.resolve();
}
