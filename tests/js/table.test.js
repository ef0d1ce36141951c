// What a table says in words, how wide it is, and where its keys lead.
import assert from "node:assert/strict";
import { test } from "node:test";
import { cellAfter } from "../../synthnb/widgets/static/profile.js";
import {
  countLine,
  grouped,
  nextSort,
  rowAfter,
  sortWord,
  tracks,
} from "../../synthnb/widgets/static/table_words.js";

const STATE = {
  version: 1,
  total: 100_000,
  matching: 1203,
  columns: [
    { label: "question", kind: "text", width: 30 },
    { label: "rating", kind: "number", width: 6 },
  ],
  chosen: [0, 1],
  sort: null,
  descending: false,
  text: "",
  searched: 1,
};

test("rows are counted in words", () => {
  assert.equal(grouped(1234567), "1,234,567");
  assert.equal(grouped(999), "999");
  assert.equal(countLine(STATE), "100,000 rows");
  assert.equal(countLine({ ...STATE, total: 1 }), "1 row");
  assert.equal(countLine({ ...STATE, text: "x" }), "1,203 of 100,000 rows");
  assert.match(countLine({ ...STATE, text: "x", searched: 0 }), /no text column/);
});

test("a header goes up, down, and back to the frame's order", () => {
  const up = nextSort(STATE, 1);
  assert.deepEqual(up, { column: 1, descending: false });
  const down = nextSort({ ...STATE, sort: 1 }, 1);
  assert.deepEqual(down, { column: 1, descending: true });
  assert.equal(nextSort({ ...STATE, sort: 1, descending: true }, 1).column, null);
  assert.deepEqual(nextSort({ ...STATE, sort: 1, descending: true }, 0), { column: 0, descending: false });
  assert.equal(sortWord({ ...STATE, sort: 1, descending: true }, 1), "descending");
  assert.equal(sortWord(STATE, 1), "none");
});

test("text takes the room that is left; without text the last column does", () => {
  assert.deepEqual(tracks(STATE), {
    columns: "minmax(calc(30ch + 24px), 30fr) calc(6ch + 24px)",
    width: "calc(36ch + 48px)",
  });
  assert.equal(tracks({ ...STATE, chosen: [1] }).columns, "minmax(calc(6ch + 24px), 1fr)");
});

test("keys stay within the rows", () => {
  assert.equal(rowAfter("ArrowDown", -1, 5, 3), 0);
  assert.equal(rowAfter("ArrowDown", 4, 5, 3), 4);
  assert.equal(rowAfter("ArrowUp", 0, 5, 3), 0);
  assert.equal(rowAfter("PageDown", 1, 5, 3), 4);
  assert.equal(rowAfter("PageUp", 2, 5, 3), 0);
  assert.equal(rowAfter("End", 0, 5, 3), 4);
  assert.equal(rowAfter("End", -1, 0, 3), -1);
  assert.equal(rowAfter("x", 1, 5, 3), null);
  assert.equal(rowAfter("constructor", 1, 5, 3), null);
});

test("arrows walk along a strip", () => {
  assert.equal(cellAfter("ArrowRight", 0, 3), 1);
  assert.equal(cellAfter("ArrowRight", 2, 3), 2);
  assert.equal(cellAfter("ArrowLeft", 0, 3), 0);
  assert.equal(cellAfter("End", 0, 3), 2);
  assert.equal(cellAfter("Enter", 0, 3), null);
});
