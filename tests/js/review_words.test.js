import assert from "node:assert/strict";
import { test } from "node:test";
import { judgeAxis, judgeBars } from "../../synthnb/widgets/static/review_histogram.js";
import { REVIEW_KEYS, reviewAction } from "../../synthnb/widgets/static/review_keys.js";
import * as words from "../../synthnb/widgets/static/review_words.js";
import { row } from "./review_fake.js";

const judge = {
  threshold: 6,
  bars: [
    { lo: 5, hi: 5, n: 10, accepted: 2, rejected: 3 },
    { lo: 6, hi: 6, n: 4, accepted: 1, rejected: 0 },
  ],
  rated: 14,
  unrated: 2,
  decided: 69,
  edited: 1,
  agreement: 0.8406,
  kappa: 0.606,
  precision: 0.5,
  recall: null,
  confusion: { tp: 1, fp: 0, fn: 2, tn: 3 },
  above: 3,
  below: 1,
  best: 6,
};

test("a row says its place, decision and marks", () => {
  assert.equal(words.rowLabel(row(3), 3, 203), "row 4 of 203, undecided, rating 5: title 3");
  const marked = {
    ...row(3),
    decision: "reject",
    edited: true,
    duplicate: true,
    status: "truncated",
    rating: null,
  };
  assert.equal(
    words.rowLabel(marked, 3, 100_000),
    "row 4 of 100,000, rejected, edited, duplicate, truncated: title 3",
  );
});

test("the figures in words", () => {
  assert.equal(words.agreementText(judge), "agrees 84 % (κ 0.61, 69 decided)");
  assert.equal(words.agreementText({ ...judge, kappa: null }), "agrees 84 % (no κ, 69 decided)");
  assert.equal(words.agreementText({ ...judge, decided: 0 }), "no rated row decided yet");
  assert.equal(words.figureText(-0.5), "−0.50");
  assert.match(words.restText(judge), /Left out: 1 edited row, .* and 2 rows without a rating/);
});

test("the question before many are decided names the numbers and the filter", () => {
  const state = { total: 203, matching: 203 };
  assert.match(
    words.bulkQuestion(judge, state),
    /^Accept 3 undecided rows rated 6 or more and reject 1 rated less\?/,
  );
  assert.match(words.bulkQuestion(judge, { ...state, matching: 40 }), /of the 40 rows in the filter/);
});

test("set filters are named, and cleared without touching the order", () => {
  const filter = {
    decision: "accept",
    status: "ok",
    rating: [2, null],
    duplicates: "only",
    source: "a.pdf",
    chunk: "c",
    text: "river",
    sort: "rating",
    descending: true,
  };
  assert.equal(words.activeFilters(filter).length, 7);
  const cleared = words.clearedFilter(filter);
  assert.deepEqual(words.activeFilters(cleared), []);
  assert.equal(cleared.sort, "rating");
  assert.equal(cleared.descending, true);
});

test("text is cut between characters, not inside one", () => {
  assert.equal(words.clipText("😀😀😀😀", 3), "😀😀…");
  assert.equal(words.clipText("abc", 3), "abc");
});

test("a threshold stands at the left edge of its bar, and the slider's track ends there", () => {
  const axis = judgeAxis(judge.bars);
  assert.deepEqual([axis.min, axis.max, axis.step], [5, 6, 1]);
  assert.equal(axis.x(6) - axis.x(5), axis.track);
  const fractional = judgeAxis([
    { lo: 0, hi: 0.5, n: 1, accepted: 0, rejected: 0 },
    { lo: 0.5, hi: 1, n: 1, accepted: 0, rejected: 0 },
  ]);
  assert.deepEqual([fractional.min, fractional.max, fractional.step], [0, 1, 0.01]);
});

test("the shares of a bar stand on each other and are as high as the bar", () => {
  const [first, second] = judgeBars(judge);
  const rects = (group) => group.slice(3).filter(([tag]) => tag === "rect");
  const height = (group) => rects(group).reduce((sum, [, a]) => sum + a.height, 0);
  assert.deepEqual(
    rects(first).map(([, a]) => a.class),
    ["snb-bar-accepted", "snb-bar-rejected", "snb-bar-open"],
  );
  assert.ok(Math.abs(height(first) / height(second) - 10 / 4) < 0.01);
  assert.equal(first[2][2], "rating 5: 10 rows, 2 accepted, 3 rejected, 5 undecided");
});

/** A key pressed on a plain element, or on what `on` says. */
function pressed(key, how = {}, on = {}) {
  const target = { tagName: "DIV", getAttribute: () => null, closest: () => null, ...on };
  return reviewAction({
    key,
    ctrlKey: false,
    metaKey: false,
    altKey: false,
    shiftKey: false,
    target,
    ...how,
  });
}

test("every key of the table does something, and none does two things", () => {
  const keys = REVIEW_KEYS.flatMap((line) => Object.keys(line.keys));
  assert.equal(new Set(keys).size, keys.length);
  for (const line of REVIEW_KEYS)
    for (const [key, action] of Object.entries(line.keys)) assert.equal(pressed(key), action);
  assert.equal(pressed("A", { shiftKey: true }), "accept");
  assert.equal(pressed("b"), "");
});

test("no key with Ctrl, Alt or Cmd, none while a word is composed, none in a field", () => {
  for (const how of [
    { ctrlKey: true },
    { metaKey: true },
    { altKey: true },
    { isComposing: true },
    { keyCode: 229 },
  ])
    assert.equal(pressed("a", how), "");
  for (const tagName of ["TEXTAREA", "SELECT", "INPUT"]) assert.equal(pressed("a", {}, { tagName }), "");
});

test("a held key moves on, and decides nothing", () => {
  for (const key of ["a", "r", "e", "u", "n", "3"]) assert.equal(pressed(key, { repeat: true }), "");
  assert.equal(pressed("j", { repeat: true }), "down");
});

test("arrows belong to a slider, to the stars, and to a box that scrolls", () => {
  const slider = { tagName: "INPUT", getAttribute: (name) => (name === "type" ? "range" : null) };
  assert.equal(pressed("ArrowDown", {}, slider), "");
  assert.equal(pressed("a", {}, slider), "accept");
  assert.equal(pressed("ArrowDown", {}, { closest: () => ({}) }), "");
});
