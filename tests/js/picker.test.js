// The picker's logic that needs no page.
import assert from "node:assert/strict";
import { test } from "node:test";

import { matching } from "../../synthnb/widgets/static/combobox.js";
import { shortTime } from "../../synthnb/widgets/static/picker_check.js";
import { modelsInWords } from "../../synthnb/widgets/static/picker_models.js";
import { withHint } from "../../synthnb/widgets/static/picker_server.js";

const items = ["org/llama-8b", "org/llama-70b", "qwen-7b", "base-llama"].map((value) => ({
  value,
  note: "",
}));
const values = (query) => matching(items, query).map((item) => item.value);

test("every word has to be there, in any case and order", () => {
  assert.deepEqual(values("LLAMA 8b"), ["org/llama-8b"]);
  assert.deepEqual(values("8b llama"), ["org/llama-8b"]);
  assert.deepEqual(values("llama qwen"), []);
  assert.deepEqual(
    values(""),
    items.map((item) => item.value),
  );
});

test("what begins with the text comes first", () => {
  assert.deepEqual(values("base"), ["base-llama"]);
  assert.deepEqual(values("7"), ["org/llama-70b", "qwen-7b"]);
  assert.deepEqual(values("q"), ["qwen-7b"]);
  assert.deepEqual(matching([...items, { value: "llama", note: "" }], "llama")[0]?.value, "llama");
});

test("an adapter is found by its parent", () => {
  const found = matching([{ value: "mine", note: "adapter of qwen-7b" }, ...items], "qwen");
  assert.deepEqual(
    found.map((item) => item.value),
    ["qwen-7b", "mine"],
  );
});

test("times as people read them", () => {
  assert.deepEqual([0.6, 4.2, 999, 1000, 12_345].map(shortTime), [
    "1 ms",
    "4 ms",
    "999 ms",
    "1.0 s",
    "12.3 s",
  ]);
});

test("how many models there are", () => {
  const words = (state, total = 0, adapters = 0) => modelsInWords({ state, total, adapters });
  assert.equal(words("listed", 1), "1 model");
  assert.equal(words("listed", 1304, 3), "1,301 models, 3 adapters");
  assert.equal(words("listed", 2, 1), "1 model, 1 adapter");
  assert.equal(words("none"), "no list of models there");
  assert.equal(words("failed"), "");
});

test("a message with its next step", () => {
  assert.equal(withHint("wrong", ""), "wrong");
  assert.equal(withHint("wrong", "do this"), "wrong - do this");
});
