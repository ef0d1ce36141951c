// @ts-check
// Judge against human: the ratings as a histogram, a threshold, and what the person's own
// decisions say about it.
import { figure, h, replace } from "./dom.js";
import { CHART_HEIGHT, CHART_PAD, CHART_WIDTH, judgeAxis, judgeBars } from "./review_histogram.js";
import {
  agreementText,
  barRange,
  barText,
  bulkLabel,
  bulkQuestion,
  figureText,
  numberText,
  percentText,
  restText,
} from "./review_words.js";

/** @typedef {import("./review_words.js").Judge} Judge */
/** @typedef {import("./review_words.js").DeskState} DeskState */

const SLIDE_MS = 120;

export class JudgeStrip {
  /**
   * @param {{ threshold: (ms: number) => void, bulk: (value: number) => void, leave: () => void }} on
   *   `threshold`: ask for the figures about `wanted`, in so many milliseconds
   */
  constructor(on) {
    this.on = on;
    /** @type {Judge | null} */
    this.judge = null;
    /** @type {DeskState | null} */
    this.state = null;
    /** @type {number | null} the threshold last asked for */
    this.wanted = null;
    /** Whether the question is to open once its numbers are there. */
    this.opening = false;
    this.picture = h("div", { class: "snb-judge-picture" });
    this.slider = /** @type {HTMLInputElement} */ (
      h("input", { type: "range", class: "snb-judge-slider", "aria-label": "threshold of the rating" })
    );
    this.slider.addEventListener("input", () => this.moved(Number(this.slider.value)));
    this.value = h("strong");
    this.says = h("span");
    this.figures = h("div", { class: "snb-judge-figures" });
    this.details = h("details", { class: "snb-pop" }, h("summary", null, "details"), this.figures);
    this.button = h("button", { class: "snb-btn", type: "button", on: { click: () => this.confirm() } });
    this.question = h("div", {
      class: "snb-pop-box",
      role: "group",
      "aria-label": "accept and reject many",
      hidden: true,
    });
    this.element = h(
      "div",
      { class: "snb-judge", role: "group", "aria-label": "judge against human" },
      h("div", { class: "snb-judge-chart" }, this.picture, this.slider),
      h(
        "div",
        { class: "snb-judge-says" },
        h("div", { class: "snb-num" }, "rating ≥ ", this.value, ": ", this.says),
        h("div", { class: "snb-judge-bulk" }, this.button, this.details),
        this.question,
      ),
    );
  }

  /**
   * @param {Judge} judge
   * @param {DeskState} state
   */
  show(judge, state) {
    // An answer about where the slider was a moment ago must not move it back.
    if (this.wanted !== null && judge.threshold !== this.wanted) return;
    this.judge = judge;
    this.state = state;
    this.wanted = judge.threshold;
    const axis = judgeAxis(judge.bars);
    this.slider.min = String(axis.min);
    this.slider.max = String(axis.max);
    this.slider.step = String(axis.step);
    this.slider.value = String(judge.threshold);
    this.slider.style.setProperty("width", `${axis.track + 2 * CHART_PAD}px`);
    this.draw(judge.threshold);
    this.says.textContent = agreementText(judge);
    replace(this.figures, ...this.table(judge));
    this.button.textContent = bulkLabel(judge);
    this.button.setAttribute("aria-disabled", String(judge.above + judge.below === 0));
    if (this.opening || !this.question.hidden) this.ask();
  }

  /** @param {number} threshold */
  draw(threshold) {
    if (!this.judge) return;
    const x = judgeAxis(this.judge.bars).x(threshold);
    const label = this.judge.bars
      .filter((bar) => bar.n)
      .map(barText)
      .join("; ");
    const line = ["line", { class: "snb-bar-line", x1: x, x2: x, y1: 0, y2: CHART_HEIGHT }];
    const attributes = {
      viewBox: `0 0 ${CHART_WIDTH} ${CHART_HEIGHT}`,
      width: CHART_WIDTH,
      height: CHART_HEIGHT,
      role: "img",
      "aria-label": label,
    };
    this.picture.replaceChildren(figure(["svg", attributes, ...judgeBars(this.judge), line]));
    this.value.textContent = numberText(threshold);
    this.slider.setAttribute("aria-valuetext", `rating ${numberText(threshold)} or more`);
  }

  /** @param {number} threshold */
  moved(threshold) {
    this.wanted = threshold;
    this.slider.value = String(threshold);
    this.draw(threshold);
    if (this.judge) this.button.textContent = bulkLabel({ ...this.judge, threshold });
    this.question.hidden = true;
    this.on.threshold(SLIDE_MS);
  }

  /** @param {Judge} judge */
  table(judge) {
    const { tp, fp, fn, tn } = judge.confusion;
    const at = numberText(judge.threshold);
    const row = (/** @type {string[]} */ [head, ...cells]) =>
      h(
        "tr",
        null,
        h("th", { scope: "row" }, head),
        ...cells.map((cell) => h("td", { class: "snb-num" }, cell)),
      );
    const head = (/** @type {string[]} */ ...names) =>
      h("thead", null, h("tr", null, ...names.map((name) => h("th", { scope: "col" }, name))));
    const { best } = judge;
    const click = () => best !== null && this.moved(best);
    return [
      h("p", null, restText(judge)),
      h(
        "table",
        null,
        h(
          "tbody",
          null,
          row(["agreement", percentText(judge.agreement), "judge and person say the same"]),
          row(["Cohen's κ", figureText(judge.kappa), "agreement beyond chance, 1 at most"]),
          row(["precision", percentText(judge.precision), `of those rated ≥ ${at}, accepted`]),
          row(["recall", percentText(judge.recall), `of those accepted, rated ≥ ${at}`]),
        ),
      ),
      h(
        "table",
        null,
        head("", "accepted", "rejected"),
        h(
          "tbody",
          null,
          row([`rated ≥ ${at}`, numberText(tp), numberText(fp)]),
          row([`rated < ${at}`, numberText(fn), numberText(tn)]),
        ),
      ),
      h(
        "table",
        null,
        head("rating", "rows", "accepted", "rejected"),
        h(
          "tbody",
          null,
          ...judge.bars
            .filter((bar) => bar.n)
            .map((bar) =>
              row([barRange(bar), numberText(bar.n), numberText(bar.accepted), numberText(bar.rejected)]),
            ),
        ),
      ),
      best === null
        ? null
        : h(
            "button",
            { class: "snb-btn", type: "button", on: { click } },
            `Best κ: rating ≥ ${numberText(best)}`,
          ),
    ];
  }

  /** Say first what it would do, by numbers of this moment. */
  confirm() {
    if (!this.judge || this.button.getAttribute("aria-disabled") === "true") return;
    this.opening = true;
    this.on.threshold(0);
  }

  ask() {
    const { judge, state } = this;
    if (!judge || !state) return;
    const active = /** @type {Document} */ (this.question.getRootNode()).activeElement;
    const focus = this.opening || this.question.contains(active);
    this.opening = false;
    this.question.hidden = false;
    const go = () => {
      this.close();
      this.on.bulk(judge.threshold);
      this.on.leave();
    };
    const no = () => {
      this.close();
      this.on.leave();
    };
    const label = `Accept ${numberText(judge.above)}, reject ${numberText(judge.below)}`;
    replace(
      this.question,
      h("p", { role: "status" }, bulkQuestion(judge, state)),
      h("button", { class: "snb-btn snb-btn-main", type: "button", on: { click: go } }, label),
      h("button", { class: "snb-btn", type: "button", on: { click: no } }, "Cancel", h("kbd", null, "Esc")),
    );
    if (focus)
      /** @type {HTMLElement} */ (this.question.querySelector("button")).focus({ preventScroll: true });
  }

  /** @returns {boolean} whether anything was open */
  close() {
    const open = !this.question.hidden || this.details.hasAttribute("open");
    this.question.hidden = true;
    this.opening = false;
    this.details.removeAttribute("open");
    return open;
  }
}
