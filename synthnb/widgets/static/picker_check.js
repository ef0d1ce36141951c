// @ts-check
// The check's line of the picker: a mark and a time for each step, then a summary.
import { h, replace } from "./dom.js";

/** @typedef {{ label: string, outcome: string, ms: number | null, detail: string }} CheckStep */

/**
 * @typedef {object} CheckState
 * @property {"running" | "done" | "stopped"} state
 * @property {boolean} stale
 * @property {boolean} ok
 * @property {string} note
 * @property {CheckStep[]} steps
 * @property {{ message: string, hint: string, fix: { op: string, value: string } | null } | null} problem
 * @property {string[]} summary
 */

/** @type {Record<string, [string, string]>} */
const OUTCOMES = {
  ok: ["✓", "ok"],
  failed: ["✗", "failed"],
  skipped: ["–", "not needed"],
  running: ["…", "under way"],
  untried: ["○", "not tried"],
};

/**
 * Return a time as people read it: "4 ms", "2.3 s".
 * @param {number} ms
 */
export function shortTime(ms) {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

/**
 * @typedef {object} CheckRowOptions
 * @property {() => void} onCheck
 * @property {() => void} onStop
 * @property {(op: string, value: string) => void} onFix
 */

export class CheckRow {
  /** @param {CheckRowOptions} options */
  constructor(options) {
    this.options = options;
    this.button = h("button", {
      class: "snb-btn snb-picker-check",
      type: "button",
      text: "Check",
      on: { click: options.onCheck },
    });
    this.stop = h("button", {
      class: "snb-btn snb-picker-small",
      type: "button",
      text: "Stop",
      hidden: true,
      on: { click: options.onStop },
    });
    this.steps = h("ol", { class: "snb-steps", "aria-label": "Steps of the check" });
    this.summary = h("span", { class: "snb-picker-summary snb-num" });
    this.said = h("span", { class: "snb-sr", role: "status" });
    this.alert = h("div", { class: "snb-picker-problem", role: "alert" });
    this.shown = "";
    this.line = h("div", { class: "snb-picker-result" }, this.steps, this.summary, this.stop);
    this.element = h(
      "div",
      { class: "snb-picker-checking" },
      this.button,
      h("div", { class: "snb-picker-field" }, this.line, this.alert, this.said),
    );
  }

  /** @param {CheckState | null} check */
  apply(check) {
    const running = check?.state === "running";
    this.stop.hidden = !running;
    const begun = check?.steps.some((step) => step.outcome !== "untried");
    const steps = check && !check.stale && (begun || !check.problem);
    replace(this.steps, ...(steps ? check.steps.map(stepItem) : []));
    replace(
      this.summary,
      check ? summaryOf(check) : h("span", { class: "snb-quiet", text: "not checked yet" }),
    );
    this.tell(check);
  }

  /** @param {CheckState | null} check */
  tell(check) {
    const problem = check && !check.stale ? check.problem : null;
    const text = problem ? `${problem.message}|${problem.hint}` : "";
    this.said.textContent = check ? spoken(check) : "";
    if (text === this.shown) return; // an alert that is written again is read out again
    this.shown = text;
    replace(this.alert, ...(problem ? this.problem(problem) : []));
  }

  /** @param {NonNullable<CheckState["problem"]>} problem */
  problem(problem) {
    const { fix } = problem;
    return [
      h("span", { class: "snb-err", text: `✗ ${problem.message}` }),
      problem.hint ? h("span", { text: ` - ${problem.hint} ` }) : null,
      fix &&
        h("button", {
          class: "snb-btn snb-picker-small",
          type: "button",
          text: `Use ${fix.value}`,
          on: { click: () => this.options.onFix(fix.op, fix.value) },
        }),
    ];
  }
}

/** @param {CheckStep} step */
function stepItem(step) {
  const [mark, word] = OUTCOMES[step.outcome] ?? ["?", step.outcome];
  return h(
    "li",
    { class: `snb-step snb-step-${step.outcome}`, title: step.detail || word },
    h("span", { "aria-hidden": "true", class: "snb-step-mark", text: mark }),
    h("span", { class: "snb-sr", text: `${word}: ` }),
    h("span", { text: step.label }),
    step.ms === null || step.ms < 0.5
      ? null
      : h("span", { class: "snb-quiet snb-num", text: ` ${shortTime(step.ms)}` }),
  );
}

/** @param {CheckState} check */
function summaryOf(check) {
  if (check.stale) return h("span", { class: "snb-quiet", text: "changed since it was checked" });
  if (check.state === "running") return h("span", { class: "snb-quiet", text: check.note });
  if (check.state === "stopped" && !check.problem) return h("span", { class: "snb-quiet", text: "stopped" });
  return h("span", { text: check.summary.join(" · ") });
}

/** @param {CheckState} check */
function spoken(check) {
  if (check.stale) return "";
  if (check.state === "running") return check.note || "checking";
  return check.ok ? `check passed: ${check.summary.join(", ")}` : "";
}
