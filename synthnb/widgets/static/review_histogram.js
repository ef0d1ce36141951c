// @ts-check
// The judge's ratings as a picture: its bars, and where a threshold stands.
import { barText } from "./review_words.js";

/** @typedef {import("./review_words.js").Judge} Judge */

export const CHART_WIDTH = 200;
export const CHART_HEIGHT = 40;
// Half of a slider's thumb: by so much its track is shorter than the slider.
export const CHART_PAD = 8;
const HATCH_GAP = 3;

/** @param {Judge["bars"]} bars whether each stands for one whole number */
export function wholeBars(bars) {
  return bars.every((bar) => bar.lo === bar.hi);
}

/**
 * Where a rating stands on the picture, and how far the slider goes.
 * @param {Judge["bars"]} bars
 */
export function judgeAxis(bars) {
  const first = bars[0]?.lo ?? 0;
  const last = bars.at(-1) ?? { lo: 1, hi: 1 };
  const whole = wholeBars(bars);
  const end = whole ? last.lo + 1 : last.hi;
  const most = whole ? last.lo : last.hi;
  const width = CHART_WIDTH - 2 * CHART_PAD;
  return {
    min: first,
    max: most,
    step: whole ? 1 : Number(((end - first) / 100).toPrecision(1)),
    track: (width * (most - first)) / (end - first || 1),
    /** @param {number} value */
    x: (value) => CHART_PAD + (width * (value - first)) / (end - first || 1),
  };
}

/**
 * The bars: accepted filled, rejected striped, undecided outlined, from the bottom up.
 * @param {Judge} judge
 * @returns {any[]}
 */
export function judgeBars(judge) {
  const axis = judgeAxis(judge.bars);
  const most = Math.max(1, ...judge.bars.map((bar) => bar.n));
  const whole = wholeBars(judge.bars);
  const parts = [];
  for (const bar of judge.bars) {
    const left = axis.x(bar.lo) + 1;
    const width = Math.max(1, axis.x(whole ? bar.lo + 1 : bar.hi) - left - 1);
    let foot = CHART_HEIGHT;
    const shares = /** @type {[string, number][]} */ ([
      ["accepted", bar.accepted],
      ["rejected", bar.rejected],
      ["open", bar.n - bar.accepted - bar.rejected],
    ]);
    const group = ["g", {}, ["title", {}, barText(bar)]];
    for (const [kind, n] of shares) {
      if (!n) continue;
      // One row among ten thousand is still to be seen.
      const height = Math.max(1, ((CHART_HEIGHT - 4) * n) / most);
      foot -= height;
      group.push(["rect", { class: `snb-bar-${kind}`, x: left, y: foot, width, height }]);
      if (kind === "rejected")
        group.push(["path", { class: "snb-bar-hatch", d: stripes(left, foot, width, height) }]);
    }
    parts.push(group);
  }
  return parts;
}

/** @param {number} x @param {number} y @param {number} width @param {number} height */
function stripes(x, y, width, height) {
  const lines = [];
  for (let at = y + 1.5; at < y + height; at += HATCH_GAP) lines.push(`M${x} ${at.toFixed(1)}h${width}`);
  return lines.join("");
}
