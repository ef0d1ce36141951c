import assert from "node:assert/strict";
import { test } from "node:test";
import "./page.js";
import { geometry, pagesOf, VirtualList, visibleRows } from "../../synthnb/widgets/static/list.js";

const ROW = 30;
const HEIGHT = 600;
/** Firefox ends an element at 17.8 million pixels; Chromium and Safari later. */
const BROWSER_LIMIT = 17_000_000;

test("a list that fits is as high as its rows", () => {
  assert.deepEqual(geometry(0, ROW, HEIGHT), { shown: 0, scale: 1 });
  assert.deepEqual(geometry(100_000, ROW, HEIGHT), { shown: 3_000_000, scale: 1 });
});

test("a longer list is squeezed under the browsers' limit", () => {
  for (const total of [300_000, 1_000_000, 50_000_000]) {
    const { shown, scale } = geometry(total, ROW, HEIGHT);
    assert.ok(shown < BROWSER_LIMIT, `${total} rows make ${shown} pixels`);
    assert.ok(scale > 1);
  }
});

test("the end of the scroll bar is the end of the list, squeezed or not", () => {
  for (const total of [1, 20, 21, 1000, 266_666, 266_667, 300_000, 10_000_000]) {
    const { shown, scale } = geometry(total, ROW, HEIGHT);
    const end = Math.max(0, shown - HEIGHT);
    const bottom = end * scale + HEIGHT;
    assert.ok(Math.abs(bottom - Math.max(total * ROW, HEIGHT)) < 0.01, `${total} rows end at ${bottom}`);
    const [, to] = visibleRows(end, HEIGHT, ROW, total);
    assert.equal(to, total);
  }
});

test("nothing is drawn of nothing", () => {
  assert.deepEqual(visibleRows(0, HEIGHT, ROW, 0), [0, 0]);
});

test("a short list is drawn whole", () => {
  assert.deepEqual(visibleRows(0, HEIGHT, ROW, 5), [0, 5]);
  assert.deepEqual(visibleRows(0, HEIGHT, ROW, 20), [0, 20]);
});

test("every row in sight is drawn, and few others", () => {
  for (const total of [40, 1000, 100_000, 5_000_000]) {
    const { shown, scale } = geometry(total, ROW, HEIGHT);
    for (let part = 0; part <= 1; part += 1 / 64) {
      const scrollTop = part * (shown - HEIGHT);
      const [from, to] = visibleRows(scrollTop, HEIGHT, ROW, total);
      const top = scrollTop * scale;
      const first = Math.floor(top / ROW);
      const last = Math.min(total - 1, Math.ceil((top + HEIGHT) / ROW) - 1);
      assert.ok(from >= 0 && from <= first, `row ${first} of ${total} is missing above`);
      assert.ok(to <= total && to > last, `row ${last} of ${total} is missing below`);
      assert.ok(to - from <= 40, `${to - from} rows are elements`);
    }
  }
});

test("a scroll position from a longer list stays within a shorter one", () => {
  const [from, to] = visibleRows(90_000, HEIGHT, ROW, 10);
  assert.deepEqual([from, to], [0, 10]);
});

test("pages hold a hundred rows each", () => {
  assert.deepEqual(pagesOf(0, 0), []);
  assert.deepEqual(pagesOf(0, 1), [0]);
  assert.deepEqual(pagesOf(0, 100), [0]);
  assert.deepEqual(pagesOf(0, 101), [0, 1]);
  assert.deepEqual(pagesOf(99, 201), [0, 1, 2]);
  assert.deepEqual(pagesOf(100, 200), [1]);
});

/** A list in a window of `height`, whose pages arrive when the test says so. */
function opened({ total, height = HEIGHT, ...options }) {
  const asked = [];
  const list = new VirtualList({
    rowHeight: ROW,
    label: "Rows",
    fetch: (start, end) =>
      new Promise((resolve, reject) => {
        const range = Array.from({ length: end - start }, (_, i) => `row ${start + i}`);
        asked.push({ start, end, reject, answer: (records = range) => resolve(records) });
      }),
    row: (element, index, record) => {
      element.textContent = record ?? `… ${index}`;
    },
    ...options,
  });
  list.element.clientHeight = height;
  list.setTotal(total);
  return { list, asked };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));
const text = (list, index) => list.rows.get(index)?.textContent;

function scroll(list, row) {
  list.element.scrollTop = row * ROW;
  list.element.dispatch("scroll");
}

test("a page is asked for once, and its rows are filled when it comes", async () => {
  const { list, asked } = opened({ total: 1000 });
  list.draw();
  assert.deepEqual(
    asked.map(({ start, end }) => [start, end]),
    [[0, 100]],
  );
  assert.equal(text(list, 3), "… 3");
  asked[0].answer();
  await settled();
  assert.equal(text(list, 3), "row 3");
  assert.equal(list.get(99), "row 99");
  assert.equal(list.get(100), null);
  list.draw();
  assert.equal(asked.length, 1);
});

test("the last page asks for no row behind the end", () => {
  const { list, asked } = opened({ total: 130 });
  scroll(list, 110);
  assert.deepEqual(
    asked.map(({ start, end }) => [start, end]),
    [
      [0, 100],
      [100, 130],
    ],
  );
});

test("rows out of sight are no elements", () => {
  const { list } = opened({ total: 100_000 });
  for (let row = 0; row < 100_000; row += 977) {
    scroll(list, row);
    assert.ok(list.rows.size <= 40);
    assert.equal(list.filler.children.length, list.rows.size);
  }
});

test("a screen reader hears the place in the whole list, not in the page", () => {
  const { list } = opened({ total: 100_000 });
  scroll(list, 54_320);
  const row = list.rows.get(54_320);
  assert.equal(row.getAttribute("role"), "option");
  assert.equal(row.getAttribute("aria-posinset"), "54321");
  assert.equal(row.getAttribute("aria-setsize"), "100000");
  assert.equal(list.element.getAttribute("role"), "listbox");
  assert.equal(list.element.getAttribute("aria-label"), "Rows");
});

test("one row is selected, brought into sight and named as the active one", () => {
  const { list } = opened({ total: 100_000 });
  list.select(2);
  assert.equal(list.element.scrollTop, 0, "it was in sight");
  list.select(5000);
  const chosen = [...list.rows.values()].filter((row) => row.getAttribute("aria-selected") === "true");
  assert.deepEqual(
    chosen.map((row) => row.getAttribute("aria-posinset")),
    ["5001"],
  );
  assert.equal(list.element.getAttribute("aria-activedescendant"), chosen[0].id);
  assert.equal(list.element.scrollTop, 5001 * ROW - HEIGHT, "moved no further than needed");
  list.select(4999);
  assert.equal(list.element.scrollTop, 5001 * ROW - HEIGHT);
  list.select(-1);
  assert.equal(list.element.getAttribute("aria-activedescendant"), null);
});

test("a selected row keeps its mark when it comes back into sight", () => {
  const { list } = opened({ total: 1000 });
  list.select(4);
  scroll(list, 800);
  assert.equal(list.rows.has(4), false);
  scroll(list, 0);
  assert.equal(list.rows.get(4).getAttribute("aria-selected"), "true");
});

test("in a squeezed list every row can be reached", () => {
  const total = 5_000_000;
  const { list } = opened({ total });
  for (const index of [0, 1, 2_499_999, total - 1, 1_000_000, 0]) {
    list.select(index);
    const row = list.rows.get(index);
    assert.ok(row, `row ${index} is drawn`);
    const top = Number(row.getAttribute("style.transform").match(/\((-?[\d.]+)px/)[1]);
    const place = top - list.element.scrollTop;
    assert.ok(place > -0.01 && place + ROW < HEIGHT + 0.01, `row ${index} stands at ${place}`);
  }
});

test("only one row in sight is selected", () => {
  const { list } = opened({ total: 100 });
  list.select(2);
  list.select(3);
  assert.equal(list.rows.get(2).getAttribute("aria-selected"), "false");
  assert.equal(list.rows.get(3).getAttribute("aria-selected"), "true");
});

test("a refresh fetches again what is in sight", async () => {
  const { list, asked } = opened({ total: 1000 });
  asked[0].answer();
  await settled();
  list.refresh();
  assert.equal(asked.length, 2);
  assert.equal(text(list, 5), "row 5", "no flicker meanwhile");
  asked[1].answer(Array.from({ length: 100 }, () => "new"));
  await settled();
  assert.equal(text(list, 5), "new");
});

test("a list that became shorter has no row beyond its end", async () => {
  const { list, asked } = opened({ total: 1000 });
  asked[0].answer();
  await settled();
  list.setTotal(3);
  assert.deepEqual([...list.rows.keys()], [0, 1, 2]);
  assert.equal(list.rows.get(0).getAttribute("aria-setsize"), "3");
});

test("what was asked before a refresh is not shown after it", async () => {
  const { list, asked } = opened({ total: 1000 });
  list.refresh();
  assert.equal(asked.length, 2);
  asked[0].answer(Array.from({ length: 100 }, () => "old"));
  await settled();
  assert.equal(list.get(0), null);
  asked[1].answer();
  await settled();
  assert.equal(text(list, 0), "row 0");
});

test("a patched row is shown at once and stays", async () => {
  const { list, asked } = opened({ total: 1000 });
  asked[0].answer();
  await settled();
  list.patch(7, "decided");
  assert.equal(text(list, 7), "decided");
  scroll(list, 500);
  scroll(list, 0);
  assert.equal(text(list, 7), "decided");
});

test("a page that failed is reported and asked for again", async () => {
  const failures = [];
  const { list, asked } = opened({ total: 1000, onError: (error) => failures.push(error.message) });
  asked[0].reject(new Error("the kernel is gone"));
  await settled();
  assert.deepEqual(failures, ["the kernel is gone"]);
  list.draw();
  assert.equal(asked.length, 2);
});

test("memory stays flat over a long way", async () => {
  const { list, asked } = opened({ total: 100_000 });
  for (let row = 0; row < 100_000; row += 100) {
    scroll(list, row);
    for (const page of asked.splice(0)) page.answer();
    await settled();
  }
  assert.ok(list.pages.size <= 40, `${list.pages.size} pages are kept`);
});

test("late pages do not push out the one in sight", async () => {
  const { list, asked } = opened({ total: 100_000 });
  asked.shift().answer();
  await settled();
  for (let page = 1; page < 90; page += 1) scroll(list, page * 100);
  scroll(list, 0);
  for (const page of asked) page.answer();
  await settled();
  assert.equal(list.get(0), "row 0");
  list.patch(0, "decided");
  assert.equal(text(list, 0), "decided");
});

test("a click selects by the row's index", () => {
  const clicked = [];
  const { list } = opened({ total: 1000, onSelect: (index) => clicked.push(index) });
  list.rows.get(12).dispatch("click");
  assert.deepEqual(clicked, [12]);
});
