// The key's field: what leaves it, for which server, and what must never leave it.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import "./page.js";

const { KeyRow } = await import("../../synthnb/widgets/static/picker_key.js");

Object.assign(globalThis, { window: { setTimeout: () => 0, clearTimeout: () => {} } });

const ENVIRONMENT = { id: "environment:K", label: "environment K" };
const STATE = {
  ...{ set: false, from: "", choice: "none", typed: false, offers: [], needed: false },
  ...{ origin: "http://a", notes: [], warnings: [], error: "", hint: "" },
};
let server;
let sent;
let chosen;
let row;

beforeEach(() => {
  server = "a";
  sent = [];
  chosen = [];
  row = new KeyRow({
    id: "key",
    onKey: (key) => sent.push(new TextDecoder().decode(key)),
    onChoice: (choice) => chosen.push(choice),
    onForget: () => {},
    server: () => server,
  });
  row.input.value = "";
  row.apply(STATE);
});

function type(text) {
  row.input.value = text;
  row.input.dispatch("input");
}

test("a typed key leaves the field when it is set", () => {
  type("k1");
  row.set();
  assert.deepEqual([sent, row.input.value], [["k1"], ""]);
});

test("a key typed for one server is not set for the next, even before the kernel answers", () => {
  type("k1");
  server = "b"; // the URL was left, and the button pressed at once
  row.set();
  assert.deepEqual([sent, row.input.value], [[], ""]);
  type("k2");
  row.set();
  assert.deepEqual(sent, ["k2"]);
});

test("half a key is not sent in the place of the one that was chosen instead", () => {
  row.apply({ ...STATE, offers: [ENVIRONMENT] });
  row.select.value = "paste";
  row.input.focus = () => {};
  row.select.dispatch("change");
  type("half");
  row.select.value = ENVIRONMENT.id;
  row.select.dispatch("change");
  row.set(); // as Check does
  assert.deepEqual([sent, chosen, row.input.value], [[], [ENVIRONMENT.id], ""]);
});

test("a key that is found meanwhile does not hide the field from who types", () => {
  type("ha");
  row.apply({ ...STATE, set: true, choice: "keyring:a", offers: [{ id: "keyring:a", label: "keyring" }] });
  assert.deepEqual([row.typing.hidden, row.input.value, row.select.value], [false, "ha", "paste"]);
  type("half");
  row.set();
  assert.deepEqual(sent, ["half"]);
});
