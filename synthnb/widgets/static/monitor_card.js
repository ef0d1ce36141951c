// @ts-check
// The card of a living run: its elements, made once, and what is written into them.
import { figure, h, replace, visible } from "./dom.js";
import { count, stateText } from "./monitor_text.js";

/** @typedef {import("./monitor_text.js").Snapshot} Snapshot */

const SHAPE = { ok: "✓", attention: "▲", error: "✗" };
const COLOUR = { ok: "snb-ok", attention: "snb-warn", error: "snb-err" };

/**
 * Set a text, and touch the page only where it is another one.
 * @param {Element} element
 * @param {string} text
 */
export function put(element, text) {
  const shown = visible(text);
  if (element.textContent !== shown) element.textContent = shown;
}

/** The elements of the live view: made once, filled again and again. */
export function elements() {
  const at = {
    title: h("strong", {}),
    about: h("span", { class: "snb-quiet" }),
    state: h("span", { class: "snb-run-state", role: "status" }),
    time: h("span", { class: "snb-num" }),
    bar: h("progress", { class: "snb-run-bar", max: 1, value: 0 }),
    done: h("span", { class: "snb-num" }),
    statuses: h("div", { class: "snb-run-statuses snb-num" }),
    speed: h("span", { class: "snb-run-stat" }),
    flight: h("span", { class: "snb-run-stat" }),
    retries: h("span", { class: "snb-run-stat" }),
    cost: h("span", { class: "snb-run-stat" }),
    last: h("span", { class: "snb-run-stat" }),
    curves: h("div", { class: "snb-run-curves" }),
    pause: h("button", { class: "snb-btn", type: "button" }, "Pause"),
    stop: h("button", { class: "snb-btn", type: "button" }, "Stop"),
    said: h("span", { class: "snb-run-said", role: "status" }),
    failed: h("summary", {}),
    failures: h("ul", {}),
    peek: h("div", { class: "snb-run-peek" }),
  };
  const details = h("details", { class: "snb-run-failed" }, at.failed, at.failures);
  const root = h(
    "div",
    { class: "snb snb-run-live", role: "group", tabindex: -1 },
    h(
      "div",
      { class: "snb-run-head" },
      h("span", { class: "snb-run-title" }, at.title, at.about),
      h("span", { class: "snb-run-when" }, at.state, " ", at.time),
    ),
    h("div", { class: "snb-run-progress" }, at.bar, at.done),
    at.statuses,
    h("div", { class: "snb-run-stats snb-num" }, at.speed, at.flight, at.retries, at.cost, at.last),
    at.curves,
    h("div", { class: "snb-run-buttons" }, at.pause, at.stop, at.said),
    details,
    at.peek,
  );
  return { root, details, ...at };
}

/** @typedef {ReturnType<typeof elements>} Elements */

/**
 * @param {Elements} at
 * @param {Snapshot} run
 */
export function fill(at, run) {
  at.root.setAttribute("aria-label", visible(`Run ${run.name}`));
  put(at.title, run.name);
  put(at.about, [run.recipe, run.model].map((part) => part && ` · ${part}`).join(""));
  put(at.state, stateText(run));
  at.state.dataset.state = run.state;
  const rows = run.wanted === null ? `${count(run.done)} rows` : `${count(run.done)} of ${count(run.wanted)}`;
  put(at.done, rows);
  at.bar.setAttribute("value", String(run.wanted ? Math.min(1, run.done / run.wanted) : 0));
  at.bar.setAttribute("aria-label", `${rows} done`);
  put(at.speed, `${count(run.speed)} tokens/s`);
  put(at.flight, `${run.in_flight} in flight${run.limit === null ? "" : ` of ${run.limit}`}`);
  put(at.retries, `${count(run.retries)} ${run.retries === 1 ? "retry" : "retries"}`);
  put(at.cost, run.local ? "local, no cost" : `${count(run.tokens)} tokens`);
  fillStatuses(at.statuses, run);
  fillFailures(at, run);
  fillPeek(at.peek, run);
  fillCurves(at.curves, run);
}

/**
 * @param {Element} element
 * @param {Snapshot} run
 */
function fillStatuses(element, run) {
  const ledger = run.resumed ? `${count(run.resumed)} answers from the ledger` : "";
  const parts = run.statuses.map((s) => `${SHAPE[s.kind]} ${count(s.count)} ${s.name}`);
  while (element.children.length <= parts.length) element.append(h("span", {}));
  [...element.children].forEach((child, i) => {
    const kind = run.statuses[i]?.kind;
    child.className = kind ? COLOUR[kind] : "snb-quiet";
    put(child, parts[i] ?? (i === parts.length ? ledger || (parts.length ? "" : "no rows yet") : ""));
  });
}

/**
 * Grow the list in place: somebody may be reading it.
 * @param {Elements} at
 * @param {Snapshot} run
 */
function fillFailures(at, run) {
  const total = run.troubles.reduce((sum, t) => sum + t.count, 0);
  at.details.classList.toggle("snb-run-none", !total);
  const kinds = run.troubles.map((t) => `${t.name} (${count(t.count)})`).join(", ");
  put(at.failed, total ? `${count(total)} failed: ${kinds}` : "no failed rows");
  for (const t of run.troubles) {
    let item = [...at.failures.children].find((child) => child.getAttribute("data-name") === t.name);
    if (!item) {
      item = h(
        "li",
        { "data-name": t.name },
        h("strong", {}),
        h("span", { text: `: ${t.detail || "no detail"} (for example row ${t.row_id})` }),
        h("div", { class: "snb-quiet", text: `→ ${t.next_step}` }),
      );
      at.failures.append(item);
    }
    if (item.firstElementChild) put(item.firstElementChild, `${count(t.count)} ${t.name}`);
  }
}

/**
 * @param {Element} element
 * @param {Snapshot} run
 */
function fillPeek(element, run) {
  while (element.children.length < 2 * run.peek.length)
    element.append(h("span", { class: "snb-quiet" }), h("span", { class: "snb-run-value" }));
  run.peek.forEach(([name, text], i) => {
    const [term, value] = [element.children[2 * i], element.children[2 * i + 1]];
    if (!term || !value) return;
    put(term, i ? name : `latest ${name}`);
    put(value, text);
    value.setAttribute("title", visible(text));
  });
}

/** @type {WeakMap<Element, any>} */
const drawn = new WeakMap();

/**
 * @param {Element} element
 * @param {Snapshot} run
 */
function fillCurves(element, run) {
  if (drawn.get(element) === run.curves) return;
  drawn.set(element, run.curves);
  replace(element, ...run.curves.map(figure));
}
