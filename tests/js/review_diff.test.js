import assert from "node:assert/strict";
import { test } from "node:test";
import { wordDiff } from "../../synthnb/widgets/static/review_diff.js";

/** A diff as text: [-gone-] {+new+} <left out>. */
function shown(before, after) {
  const marks = { same: ["", ""], gone: ["[-", "-]"], new: ["{+", "+}"], gap: ["<", ">"] };
  return wordDiff(before, after)
    .map(({ kind, text }) => marks[kind][0] + text + marks[kind][1])
    .join("");
}

function rebuilt(before, after, kind) {
  return wordDiff(before, after)
    .filter((run) => run.kind === "same" || run.kind === kind)
    .map((run) => run.text)
    .join("");
}

test("one word for another", () => {
  assert.equal(shown("about 2,850 km long", "about 2,860 km long"), "about 2,[-850-]{+860+} km long");
});

test("words beside each other are one exchange", () => {
  assert.equal(shown("it is the old one", "it is a new one"), "it is [-the old-]{+a new+} one");
});

test("added at the end, taken from the start, emptied, filled", () => {
  assert.equal(shown("a river", "a river in Europe"), "a river{+ in Europe+}");
  assert.equal(shown("Well, a river", "a river"), "[-Well, -]a river");
  assert.equal(shown("gone", ""), "[-gone-]");
  assert.equal(shown("", "here"), "{+here+}");
  assert.equal(shown("a ", "b "), "[-a-]{+b+} ");
  assert.deepEqual(wordDiff("", ""), []);
});

test("words of any script are words", () => {
  assert.equal(shown("Die Größe des Flusses", "Die Länge des Flusses"), "Die [-Größe-]{+Länge+} des Flusses");
  assert.equal(shown("река Дунай", "река Волга"), "река [-Дунай-]{+Волга+}");
});

test("both texts can be read from a diff of short texts", () => {
  const words = ["the", "river", "flows", " ", ",", "\n", "south", "east", "é", "日本", "1"];
  let seed = 7;
  const random = () => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return seed / 2147483648;
  };
  const text = () =>
    Array.from({ length: random() * 14 }, () => words[Math.floor(random() * words.length)]).join(" ");
  for (let n = 0; n < 500; n += 1) {
    const [before, after] = [text(), text()];
    assert.equal(rebuilt(before, after, "gone"), before);
    assert.equal(rebuilt(before, after, "new"), after);
  }
});

test("what is alike far from a change is left out, with its length", () => {
  const long = Array.from({ length: 400 }, (_, n) => `w${n}`).join(" ");
  const runs = wordDiff(`${long} old`, `${long} new`);
  assert.deepEqual(
    runs.map((run) => run.kind),
    ["gap", "same", "gone", "new"],
  );
  assert.equal(Number(runs[0].text) + runs[1].text.length, long.length + 1);
});

test("texts with nothing in common cost bounded work", () => {
  const many = (word) => Array.from({ length: 30_000 }, (_, n) => `${word}${n}`).join(" ");
  const [before, after] = [many("a"), many("b")];
  assert.equal(rebuilt(before, after, "gone").length, before.length);
  const word = "x".repeat(1_000_000);
  assert.deepEqual(wordDiff(word, `${word}y`), [
    { kind: "gone", text: word },
    { kind: "new", text: `${word}y` },
  ]);
});
