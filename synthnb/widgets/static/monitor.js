// @ts-check
// What a run shows while it lives. The kernel sends what changed; the clocks go on here.
import { channel } from "./channel.js";
import { figure, replace } from "./dom.js";
import { guard } from "./keys.js";
import { elements, fill, put } from "./monitor_card.js";
import { ago, clock, message } from "./monitor_text.js";

const SILENT_MS = 5000;
const LOST_MS = 15_000;
const INERT_MS = 700;

/**
 * @typedef {import("./monitor_text.js").Snapshot} Snapshot
 * @typedef {import("./channel.js").Model} Model
 */

/** One run on one page, from its opening until its output goes. */
class RunPage {
  /**
   * @param {Model} model
   * @param {HTMLElement} el
   */
  constructor(model, el) {
    this.model = model;
    this.el = el;
    this.at = elements();
    this.link = channel(model);
    /** @type {Snapshot | null} */
    this.run = null;
    this.number = -1;
    this.late = false;
    this.busy = false;
    this.gone = false;
    this.heardAt = 0;
    this.askedAt = 0;
    this.inertUntil = 0;
    this.frame = 0;
    // Held as values: they have to be taken off again.
    this.look = () => {
      if (!document.hidden && !this.run?.final) this.ask("sync");
    };
    this.lose = () => this.kernelGone();
    this.listen();
    this.timer = setInterval(() => this.tick(), 1000);
    this.ask("open");
  }

  listen() {
    guard(this.at.root);
    this.link.on("state", (update) => this.hear(update));
    this.link.onStall((waiting) => {
      this.busy = waiting;
      this.tick();
    });
    this.at.pause.addEventListener("click", () => {
      if (isOn(this.at.pause)) this.press(this.run?.state === "paused" ? "resume" : "pause");
    });
    this.at.stop.addEventListener("click", () => {
      if (isOn(this.at.stop)) this.press("stop", { now: this.run?.state === "stopping" });
    });
    this.model.on("comm_live_update", this.lose);
    document.addEventListener("visibilitychange", this.look);
    window.addEventListener("focus", this.look);
    window.addEventListener("online", this.look);
  }

  close() {
    clearInterval(this.timer);
    cancelAnimationFrame(this.frame);
    this.link.close();
    this.model.off("comm_live_update", this.lose);
    document.removeEventListener("visibilitychange", this.look);
    window.removeEventListener("focus", this.look);
    window.removeEventListener("online", this.look);
  }

  /**
   * One question at a time: a kernel that is busy must not find a heap of them.
   * @param {"open" | "sync"} op
   */
  ask(op) {
    const now = performance.now();
    if (this.askedAt && now - this.askedAt < LOST_MS) return;
    this.askedAt = now;
    this.link.ask(op).then(
      (answer) => {
        this.askedAt = 0;
        this.number = answer.number;
        this.late = answer.late;
        this.take(answer.all);
      },
      () => {
        this.askedAt = 0;
      },
    );
  }

  /** @param {{ number: number, changes: Partial<Snapshot> }} update */
  hear(update) {
    // A gap means that something was lost on the way: then only the whole will do.
    if (this.number < 0 || update.number !== this.number + 1) return this.ask("sync");
    this.number += 1;
    return this.take(update.changes);
  }

  /** @param {Partial<Snapshot>} changes */
  take(changes) {
    this.heardAt = performance.now();
    this.gone = false;
    this.run = /** @type {Snapshot} */ ({ ...this.run, ...changes });
    // A page in the background gets no frames, and so only the last state is painted.
    if (!this.frame) this.frame = requestAnimationFrame(() => this.paint());
  }

  paint() {
    this.frame = 0;
    const run = this.run;
    if (!run) return;
    if (run.final) {
      replace(this.el, figure(run.block));
      return;
    }
    fill(this.at, run);
    if (!this.at.root.isConnected) replace(this.el, this.at.root);
    this.tick();
  }

  /** What goes on by itself: the clocks, and what the buttons offer. */
  tick() {
    const { run, at } = this;
    if (!run || run.final || this.gone) return;
    const now = performance.now();
    const since = (now - this.heardAt) / 1000;
    put(at.time, clock(run.seconds + since) + (run.eta === null ? "" : `, about ${clock(run.eta)} left`));
    put(at.last, ago(run, since));
    at.last.classList.toggle("snb-warn", run.stalled);
    const stopping = run.state === "stopping";
    const inert = now < this.inertUntil;
    put(at.pause, run.state === "paused" ? "Resume" : "Pause");
    put(at.stop, stopping ? "Stop now" : "Stop");
    at.pause.setAttribute("aria-disabled", String(inert || stopping));
    at.stop.setAttribute("aria-disabled", String(inert));
    this.say(message(run, this));
    if (now - this.heardAt > SILENT_MS) this.ask("sync");
  }

  /**
   * @param {string} op
   * @param {object} [content]
   */
  press(op, content) {
    // The second click of a hasty hand must not land on what the button has become.
    this.inertUntil = performance.now() + INERT_MS;
    this.tick();
    setTimeout(() => this.tick(), INERT_MS + 10);
    this.link
      .ask(op, content)
      .catch((error) => this.say({ text: `${error.message} ${error.hint ?? ""}`, kind: "snb-err" }));
  }

  /** @param {{ text: string, kind: string }} said */
  say(said) {
    put(this.at.said, said.text);
    this.at.said.className = `snb-run-said ${said.kind}`;
  }

  /** The kernel was restarted or shut down: nothing will ever come. */
  kernelGone() {
    const { run, at } = this;
    if (!run || run.final) return;
    this.gone = true;
    put(at.state, "kernel gone");
    put(at.time, "");
    put(at.last, "");
    at.pause.setAttribute("aria-disabled", "true");
    at.stop.setAttribute("aria-disabled", "true");
    this.say(message(run, this));
  }
}

/** @param {HTMLElement} button */
function isOn(button) {
  return button.getAttribute("aria-disabled") !== "true";
}

export default {
  /** @param {{ model: Model, el: HTMLElement }} context */
  render({ model, el }) {
    const page = new RunPage(model, el);
    return () => page.close();
  },
};
