import assert from "node:assert/strict";
import { test } from "node:test";
import { ago, clock, count, message } from "../../synthnb/widgets/static/monitor_text.js";

const run = (changes = {}) => ({
  state: "running",
  in_flight: 8,
  last: 1,
  stalled: false,
  asleep: false,
  waiting: null,
  note: "",
  ...changes,
});
const view = (changes = {}) => ({ busy: false, gone: false, late: false, ...changes });

test("clocks and counts", () => {
  assert.deepEqual([0, 61.9, 3725].map(clock), ["0:00", "1:01", "1:02:05"]);
  assert.equal(count(1234567), "1,234,567");
});

test("the time since the last answer goes on between two updates", () => {
  assert.equal(ago(run(), 0), "last answer just now");
  assert.equal(ago(run(), 4.2), "last answer 5 s ago");
  assert.equal(ago(run({ last: 200 }), 1), "last answer 3:21 ago");
  assert.equal(ago(run({ last: 40, stalled: true }), 2), "▲ stalled 42 s");
  assert.equal(ago(run({ last: null }), 9), "no answer yet");
  assert.equal(ago(run({ last: null, in_flight: 0 }), 9), "");
});

test("the weightiest thing is said, and one only", () => {
  const all = { asleep: true, note: "disk full", state: "stopping", stalled: true };
  assert.match(message(run(all), view({ gone: true })).text, /Run the cell again/);
  assert.match(message(run(all), view()).text, /kernel is busy/);
  assert.match(message(run(), view({ busy: true })).text, /kernel is busy/);
  assert.equal(message(run({ ...all, asleep: false }), view()).text, "▲ disk full");
  assert.match(message(run({ state: "stopping" }), view()).text, /^Finishing 8 in flight\. Stop now drops/);
  assert.match(message(run({ state: "paused" }), view()).text, /8 in flight still arrive/);
  assert.equal(message(run({ state: "paused", in_flight: 0 }), view()).text, "Nothing is sent.");
  const waiting = { seconds: 12, why: "slow down" };
  assert.equal(message(run({ waiting }), view()).text, "▲ Waiting 12 s: slow down");
  assert.match(message(run({ stalled: true }), view()).text, /No answer comes/);
  assert.match(message(run(), view({ late: true })).text, /when the running cell ends/);
  assert.equal(message(run(), view()).text, "");
});
