// @ts-check
// What an edit changed, word by word.

/** @typedef {{ kind: "same" | "gone" | "new" | "gap", text: string }} Run */

const TOKEN = /\s+|[\p{L}\p{M}\p{N}_]+|[^\s\p{L}\p{M}\p{N}_]/gu;
// Beyond this many pairs of words the changed middle is shown as one exchange.
const MAX_PAIRS = 1_000_000;
const MAX_CHARACTERS = 40_000;
const CONTEXT = 24;

/**
 * Compare two texts by words. What is alike between two changes far apart is a "gap" with
 * the number of characters left out; texts of any length cost bounded time.
 * @param {string} before
 * @param {string} after
 * @returns {Run[]}
 */
export function wordDiff(before, after) {
  if (before === after) return before ? [{ kind: "same", text: before }] : [];
  const old = tokens(before);
  const now = tokens(after);
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head += 1;
  let tail = 0;
  const most = Math.min(old.length, now.length) - head;
  while (tail < most && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail += 1;
  /** @type {Run[]} */
  const runs = [];
  push(runs, "same", old.slice(0, head).join(""));
  middle(runs, old.slice(head, old.length - tail), now.slice(head, now.length - tail));
  push(runs, "same", old.slice(old.length - tail).join(""));
  return shortened(joined(runs));
}

/** @param {string} text */
function tokens(text) {
  // A novel has no place in a card: its middle would be millions of words.
  if (text.length > MAX_CHARACTERS) return text.split(/(?<=\n)/u);
  return text.match(TOKEN) ?? [];
}

/**
 * The longest common subsequence of two lists of words, as runs.
 * @param {Run[]} runs
 * @param {string[]} old
 * @param {string[]} now
 */
function middle(runs, old, now) {
  if (!old.length || !now.length || old.length * now.length > MAX_PAIRS) {
    push(runs, "gone", old.join(""));
    push(runs, "new", now.join(""));
    return;
  }
  const width = now.length + 1;
  const longest = new Uint32Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i -= 1)
    for (let j = now.length - 1; j >= 0; j -= 1)
      longest[i * width + j] =
        old[i] === now[j]
          ? /** @type {number} */ (longest[(i + 1) * width + j + 1]) + 1
          : Math.max(
              /** @type {number} */ (longest[(i + 1) * width + j]),
              /** @type {number} */ (longest[i * width + j + 1]),
            );
  let i = 0;
  let j = 0;
  while (i < old.length && j < now.length) {
    const down = /** @type {number} */ (longest[(i + 1) * width + j]);
    const right = /** @type {number} */ (longest[i * width + j + 1]);
    if (old[i] === now[j]) {
      push(runs, "same", /** @type {string} */ (old[i]));
      i += 1;
      j += 1;
    } else if (down >= right) push(runs, "gone", /** @type {string} */ (old[i++]));
    else push(runs, "new", /** @type {string} */ (now[j++]));
  }
  push(runs, "gone", old.slice(i).join(""));
  push(runs, "new", now.slice(j).join(""));
}

/**
 * @param {Run[]} runs
 * @param {Run["kind"]} kind
 * @param {string} text
 */
function push(runs, kind, text) {
  if (!text) return;
  const last = runs.at(-1);
  if (last?.kind === kind) last.text += text;
  else runs.push({ kind, text });
}

/**
 * A space that two changes have in common is no reason to read them as two: "the old" →
 * "a new" is one exchange, old words first.
 * @param {Run[]} runs
 * @returns {Run[]}
 */
function joined(runs) {
  /** @type {Run[]} */
  const result = [];
  let gone = "";
  let fresh = "";
  const flush = () => {
    push(result, "gone", gone);
    push(result, "new", fresh);
    gone = "";
    fresh = "";
  };
  runs.forEach((run, index) => {
    const between = run.kind === "same" && /^\s+$/u.test(run.text) && index > 0 && index < runs.length - 1;
    if (run.kind === "gone" || between) gone += run.text;
    if (run.kind === "new" || between) fresh += run.text;
    if (run.kind === "same" && !between) {
      flush();
      push(result, "same", run.text);
    }
  });
  flush();
  return result;
}

/**
 * Leave out what is alike, except for some words beside each change.
 * @param {Run[]} runs
 * @returns {Run[]}
 */
function shortened(runs) {
  return runs.flatMap((run, index) => {
    if (run.kind !== "same") return [run];
    const words = tokens(run.text);
    const first = index === 0 ? 0 : CONTEXT;
    const last = index === runs.length - 1 ? 0 : CONTEXT;
    if (words.length <= first + last + CONTEXT) return [run];
    const start = words.slice(0, first).join("");
    const end = last ? words.slice(-last).join("") : "";
    const left = run.text.length - start.length - end.length;
    /** @type {Run[]} */
    const parts = [
      { kind: "same", text: start },
      { kind: "gap", text: String(left) },
      { kind: "same", text: end },
    ];
    return parts.filter((part) => part.text);
  });
}
