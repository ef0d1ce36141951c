// @ts-check
// A profile whose cells can be pressed: the review then shows the rows of that part.
import { channel } from "./channel.js";
import { figure, h } from "./dom.js";
import { chord, guard } from "./keys.js";

/**
 * Return the cell that a key leads to within a strip, or `null` if it is no such key.
 * @param {string} key
 * @param {number} at
 * @param {number} count
 */
export function cellAfter(key, at, count) {
  const to = new Map([
    ["ArrowRight", at + 1],
    ["ArrowDown", at + 1],
    ["ArrowLeft", at - 1],
    ["ArrowUp", at - 1],
    ["Home", 0],
    ["End", count - 1],
  ]).get(key);
  return to === undefined ? null : Math.max(0, Math.min(count - 1, to));
}

class ProfilePage {
  /** @param {import("./channel.js").Model} model */
  constructor(model) {
    this.link = channel(model);
    this.said = h("div", { class: "snb-profile-said snb-quiet", role: "status" });
    this.body = h("div");
    this.root = h(
      "div",
      { class: "snb snb-profile-live", role: "region", "aria-label": "profile" },
      this.said,
      this.body,
    );
    guard(this.root);
    this.root.removeAttribute("tabindex");
    this.body.addEventListener("click", (event) => this.press(event.target));
    this.body.addEventListener("keydown", (event) => this.key(event));
    this.link.onStall((waiting) => this.say(waiting ? "the kernel is busy …" : ""));
  }

  async start() {
    try {
      const answer = await this.link.ask("open");
      this.body.append(figure(answer.tree));
      this.say("Press a cell of the source: the review shows its rows. Arrow keys move within a document.");
    } catch (error) {
      this.fail(error);
    }
  }

  /** @param {EventTarget | null} target */
  async press(target) {
    const cell = cellOf(target);
    if (!cell) return;
    const again = cell.getAttribute("aria-pressed") === "true";
    const strip = cell.parentElement?.getAttribute("data-strip");
    const wanted = again ? {} : { strip: Number(strip), cell: Number(cell.getAttribute("data-cell")) };
    this.focus(cell);
    try {
      const answer = await this.link.ask("pick", wanted);
      for (const old of this.body.querySelectorAll("[aria-pressed=true]"))
        old.setAttribute("aria-pressed", "false");
      cell.setAttribute("aria-pressed", String(!again));
      this.say(answer.said);
    } catch (error) {
      this.fail(error);
    }
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const cell = cellOf(event.target);
    if (!cell?.parentElement) return;
    const key = chord(event);
    const cells = [...cell.parentElement.children];
    const to = cellAfter(key, cells.indexOf(cell), cells.length);
    if (to !== null) this.focus(/** @type {HTMLElement} */ (cells[to]));
    else if (key === "Enter" || key === "Space") void this.press(cell);
    else return;
    event.preventDefault();
  }

  /** @param {HTMLElement} cell one of its strip is reached by Tab, the others by arrows */
  focus(cell) {
    for (const other of cell.parentElement?.children ?? []) other.setAttribute("tabindex", "-1");
    cell.setAttribute("tabindex", "0");
    cell.focus();
  }

  /** @param {string} text */
  say(text) {
    this.said.className = "snb-profile-said snb-quiet";
    this.said.textContent = text;
  }

  /** @param {any} error */
  fail(error) {
    this.said.className = "snb-profile-said snb-err";
    this.said.textContent = error.hint ? `${error.message}. ${error.hint}` : error.message;
  }
}

/**
 * @param {EventTarget | null} target
 * @returns {HTMLElement | null}
 */
function cellOf(target) {
  return target instanceof Element ? target.closest(".snb-cell") : null;
}

/** @param {{ model: import("./channel.js").Model, el: HTMLElement }} context */
function render({ model, el }) {
  const page = new ProfilePage(model);
  el.appendChild(page.root);
  void page.start();
  return () => page.link.close();
}

export default { render };
