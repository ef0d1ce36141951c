import assert from "node:assert/strict";
import { test } from "node:test";
import { Desk } from "../../synthnb/widgets/static/review_desk.js";
import { Face, Kernel, Rows, settled } from "./review_fake.js";

/** A desk whose first card is painted, with the list at hand or not. */
async function opened(n, { listed = true } = {}) {
  const kernel = new Kernel(n);
  const rows = new Rows(kernel);
  const face = new Face();
  const desk = new Desk(kernel.ask, rows, face);
  const open = desk.open();
  await kernel.flush();
  await open;
  if (listed) rows.fill();
  await face.paint();
  await kernel.flush();
  return { kernel, rows, face, desk };
}

const decided = (kernel) => kernel.log.map((step) => step.id);

test("a decision shows at once, and the next card without waiting for the kernel", async () => {
  const { kernel, rows, face, desk } = await opened(5);
  void desk.decide("accept");
  assert.equal(desk.overlaid(rows.get(0)).decision, "accept");
  assert.equal(face.shown.at(-1), "r1");
  assert.equal(kernel.log.length, 0);
  await kernel.flush();
  assert.deepEqual(decided(kernel), ["r0"]);
  assert.match(face.said.at(-1), /^accepted; row 2 of 5, undecided/);
});

test("ten presses decide ten rows, each once", async () => {
  const { kernel, face, desk } = await opened(30);
  for (let n = 0; n < 10; n += 1) {
    void desk.decide(n % 2 ? "reject" : "accept");
    await face.paint();
    if (n % 3 === 0) await kernel.flush();
  }
  await kernel.flush();
  assert.deepEqual(
    decided(kernel),
    Array.from({ length: 10 }, (_, n) => `r${n}`),
  );
});

test("a press before the next card is painted is about no row", async () => {
  const { kernel, face, desk } = await opened(5);
  void desk.decide("accept");
  void desk.decide("accept");
  void desk.decide("accept");
  await kernel.flush();
  assert.deepEqual(decided(kernel), ["r0"]);
  await face.paint();
  void desk.decide("accept");
  await kernel.flush();
  assert.deepEqual(decided(kernel), ["r0", "r1"]);
});

test("where the list does not know the next row, the kernel says it, and no row is decided twice", async () => {
  const { kernel, face, desk } = await opened(5, { listed: false });
  void desk.decide("accept");
  await face.paint();
  void desk.decide("reject");
  assert.equal(face.shown.at(-1), "r0");
  await kernel.flush();
  assert.deepEqual(decided(kernel), ["r0"]);
  assert.equal(face.shown.at(-1), "r1");
});

test("a decision that was not saved goes back and says so", async () => {
  const { kernel, rows, face, desk } = await opened(5);
  kernel.refusing = 1;
  void desk.decide("reject");
  await face.paint();
  void desk.decide("accept");
  await kernel.flush();
  assert.equal(rows.get(0).decision, null);
  assert.equal(rows.get(1).decision, "accept");
  assert.deepEqual(face.failed, [["“title 0” was not rejected", "the disk is full", "r0"]]);
  assert.deepEqual(face.counts, { accept: 1, reject: 0, todo: 4 });
});

test("the same decision again is no second step", async () => {
  const { kernel, face, desk } = await opened(5);
  void desk.decide("accept");
  await kernel.flush();
  desk.go(0);
  await kernel.flush();
  await face.paint();
  void desk.decide("accept");
  await kernel.flush();
  assert.deepEqual(decided(kernel), ["r0"]);
  assert.equal(face.shown.at(-1), "r1");
  assert.match(face.said.at(-1), /^already accepted/);
});

test("after the last undecided row it stays and says that nothing is left", async () => {
  const { kernel, face, desk } = await opened(1);
  void desk.decide("accept");
  await kernel.flush();
  assert.match(face.said.at(-1), /^accepted; nothing left to decide/);
  assert.equal(desk.at, 0);
});

test("cards that are likely to be next are fetched ahead, and the kernel told which one is looked at", async () => {
  const { kernel } = await opened(30);
  const peeks = kernel.asked.filter(([op, content]) => op === "record" && content.at);
  assert.deepEqual(
    peeks.map(([, content]) => [content.id, content.at]),
    [
      ["r1", "r0"],
      ["r2", "r0"],
      ["r3", "r0"],
    ],
  );
});

test("running through the list fetches the row it ends at, not each on the way", async () => {
  const { kernel, face, desk } = await opened(500, { listed: false });
  for (let n = 0; n < 200; n += 1) desk.move(1);
  await kernel.flush();
  assert.equal(face.shown.at(-1), "r200");
  assert.ok(kernel.asked.filter(([op]) => op === "record").length < 10);
});

test("undo goes back to the row, as often as there are steps", async () => {
  const { kernel, face, desk } = await opened(40);
  for (let n = 0; n < 30; n += 1) {
    void desk.decide("accept");
    await face.paint();
    await kernel.flush();
  }
  for (let n = 29; n >= 0; n -= 1) {
    void desk.undo();
    await kernel.flush();
    assert.equal(face.shown.at(-1), `r${n}`);
  }
  assert.deepEqual(face.counts, { accept: 0, reject: 0, todo: 40 });
  await assert.rejects(async () => {
    const undone = desk.undo();
    await kernel.flush();
    await undone;
  }, /nothing is left/);
});

test("moving stops at both ends and says so", async () => {
  const { kernel, face, desk } = await opened(3);
  desk.move(-1);
  assert.equal(face.said.at(-1), "this is the first row");
  desk.move(Infinity);
  await kernel.flush();
  assert.equal(desk.at, 2);
  desk.move(10);
  assert.equal(face.said.at(-1), "this is the last row");
});

test("a filter keeps the row that is looked at, if it lets it through", async () => {
  const { kernel, rows, face, desk } = await opened(10);
  void desk.decide("accept");
  await kernel.flush();
  await face.paint();
  desk.go(6);
  await kernel.flush();
  const filtered = desk.filter({ decision: "undecided" });
  await kernel.flush();
  await filtered;
  assert.equal(desk.here.id, "r6");
  assert.equal(rows.selected, 5);
});

test("of two filters only the later one counts", async () => {
  const { kernel, desk } = await opened(10);
  const first = desk.filter({ decision: "undecided" });
  const second = desk.filter({ decision: "" });
  await kernel.flush();
  assert.equal(await first, null);
  assert.deepEqual(await second, { decision: "" });
});

test("a filter that is changed while its rows are fetched does not come back", async () => {
  const { kernel, desk } = await opened(10);
  const first = desk.filter({ decision: "undecided" });
  kernel.answer(kernel.waiting.shift());
  await settled();
  const second = desk.filter({ decision: "" });
  await kernel.flush();
  assert.equal(await first, null);
  assert.deepEqual(await second, { decision: "" });
});

test("what another view wrote is shown; an edit under way is left alone", async () => {
  const { kernel, rows, face, desk } = await opened(5);
  kernel.write("r0", { decision: "reject" });
  kernel.write("r3", { decision: "accept" });
  desk.changed({ state: kernel.state(), rows: [kernel.find("r0"), kernel.find("r3")] });
  await kernel.flush();
  assert.equal(rows.get(3).decision, "accept");
  assert.deepEqual(face.shown, ["r0", "r0"]);
  face.editing = true;
  desk.changed({ state: kernel.state(), rows: null });
  await kernel.flush();
  assert.deepEqual(face.shown, ["r0", "r0"]);
});

test("hearing of its own step does not send the desk back", async () => {
  const { kernel, face, desk } = await opened(5);
  void desk.decide("accept");
  await face.paint();
  // The kernel tells every page, before it answers the one that asked.
  kernel.write("r0", { decision: "accept" });
  desk.changed({ state: kernel.state(), rows: [kernel.find("r0")] });
  await kernel.flush();
  assert.equal(desk.here.id, "r1");
});

test("hearing that many rows changed does not hold up a decision under way", async () => {
  const { kernel, face, desk } = await opened(5, { listed: false });
  void desk.decide("accept");
  desk.changed({ state: kernel.state(), rows: null });
  await kernel.flush();
  assert.equal(face.shown.at(-1), "r1");
});

test("a frame that shows an earlier card says nothing about this one", async () => {
  const { kernel, face, desk } = await opened(5);
  desk.go(1);
  desk.go(2);
  face.frames.shift()();
  await settled();
  void desk.decide("accept");
  await face.paint();
  void desk.decide("accept");
  await kernel.flush();
  assert.deepEqual(decided(kernel), ["r2"]);
});

test("stars that were not saved go back", async () => {
  const { kernel, face, desk } = await opened(5);
  kernel.refusing = 1;
  void desk.annotate(desk.here, { stars: 4 });
  await kernel.flush();
  assert.deepEqual(face.failed, [["the stars of “title 0” was not saved", "the disk is full", "r0"]]);
  assert.equal(desk.here.stars, 0);
});

test("while a note is on its way, hearing of it does not draw the card anew", async () => {
  const { kernel, face, desk } = await opened(5);
  const card = desk.here;
  const saved = desk.annotate(card, { stars: 2 });
  desk.changed({ state: kernel.state(), rows: [{ ...kernel.find("r0"), stars: 2 }] });
  await settled();
  await kernel.flush();
  await saved;
  assert.equal(desk.here, card);
  assert.deepEqual(face.shown, ["r0"]);
});
