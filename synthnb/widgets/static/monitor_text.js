// @ts-check
// The words of the monitor, without a page: numbers, clocks, and the one line that explains.

/**
 * @typedef {{ name: string, count: number, kind: "ok" | "attention" | "error" }} StatusCount
 * @typedef {{ name: string, count: number, detail: string, row_id: string, next_step: string }} Trouble
 * @typedef {object} Snapshot
 * @property {string} name
 * @property {string} recipe
 * @property {string} model
 * @property {string} state
 * @property {boolean} final
 * @property {number} seconds
 * @property {number | null} eta
 * @property {number} done
 * @property {number | null} wanted
 * @property {StatusCount[]} statuses
 * @property {number} speed
 * @property {number} in_flight
 * @property {number | null} limit
 * @property {number} retries
 * @property {number} resumed
 * @property {number} tokens
 * @property {boolean} local
 * @property {number | null} last
 * @property {boolean} stalled
 * @property {boolean} asleep
 * @property {{ seconds: number, why: string } | null} waiting
 * @property {[string, string][]} peek
 * @property {any[]} curves
 * @property {Trouble[]} troubles
 * @property {string} note
 * @property {any} [block]
 */

/**
 * @param {number} value
 */
export function count(value) {
  return value.toLocaleString("en-US");
}

/**
 * Return seconds as m:ss or h:mm:ss.
 * @param {number} seconds
 */
export function clock(seconds) {
  const whole = Math.floor(seconds);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (/** @type {number} */ n) => String(n).padStart(2, "0");
  return hours ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

/**
 * Return when the last answer came. `since` is the time since the kernel said so.
 * @param {Snapshot} run
 * @param {number} since
 */
export function ago(run, since) {
  if (run.last === null) return run.in_flight ? "no answer yet" : "";
  const seconds = run.last + since;
  if (run.stalled) return `▲ stalled ${long(seconds)}`;
  return seconds < 2 ? "last answer just now" : `last answer ${long(seconds)} ago`;
}

/**
 * @param {number} seconds
 */
function long(seconds) {
  return seconds < 100 ? `${Math.floor(seconds)} s` : clock(seconds);
}

/**
 * @param {Snapshot} run
 */
export function stateText(run) {
  return run.state === "connecting" ? "connecting" : run.state;
}

/**
 * Return the one line beside the buttons: the weightiest thing a person must know now.
 * @param {Snapshot} run
 * @param {{ busy: boolean, gone: boolean, late: boolean }} view
 * @returns {{ text: string, kind: string }}
 */
export function message(run, view) {
  const say = (/** @type {string} */ text, kind = "snb-quiet") => ({ text, kind });
  if (view.gone) return say("Run the cell again: it goes on from what was saved.", "snb-warn");
  if (run.asleep || view.busy)
    return say("The kernel is busy with a cell; the run waits for it.", "snb-warn");
  if (run.note) return say(`▲ ${run.note}`, "snb-warn");
  const flying = `${count(run.in_flight)} in flight`;
  if (run.state === "stopping")
    return say(`Finishing ${flying}. Stop now drops them: they are paid for again later.`);
  if (run.state === "paused")
    return say(run.in_flight ? `Nothing new is sent; ${flying} still arrive.` : "Nothing is sent.");
  if (run.waiting) return say(`▲ Waiting ${run.waiting.seconds} s: ${run.waiting.why}`, "snb-warn");
  if (run.stalled) return say("▲ No answer comes. Look at the server.", "snb-warn");
  if (view.late) return say("A click takes effect when the running cell ends.");
  return say("");
}
