// @ts-check
// The key's row of the picker. A typed key lives in the field only, and leaves it at once.
import { h, replace } from "./dom.js";
import { withHint } from "./picker_server.js";

const PASTE = "paste";
// A key that was typed and never set does not stay in the page.
const FORGOTTEN_MS = 60_000;
const ANOTHER_SERVER = "the form names another server now";

/**
 * @typedef {object} KeyState
 * @property {boolean} set
 * @property {string} from
 * @property {string} choice
 * @property {boolean} typed
 * @property {{ id: string, label: string }[]} offers
 * @property {boolean} needed
 * @property {string} origin
 * @property {string[]} notes
 * @property {string[]} warnings
 * @property {string} error
 * @property {string} hint
 */

/**
 * @typedef {object} KeyRowOptions
 * @property {string} id of the text field, for its label
 * @property {(key: Uint8Array) => void} onKey
 * @property {(choice: string) => void} onChoice
 * @property {() => void} onForget
 * @property {() => string} server what the form names now; a key typed for one is not for another
 */

export class KeyRow {
  /** @param {KeyRowOptions} options */
  constructor(options) {
    this.options = options;
    this.pasting = false;
    this.shown = "";
    this.typedFor = "";
    this.offered = "";
    this.timer = 0;
    this.select = /** @type {HTMLSelectElement} */ (
      h("select", {
        class: "snb-select",
        "aria-label": "Where the key comes from",
        on: { change: () => this.chosen() },
      })
    );
    // No name, no form, and marks that password managers heed: nobody offers to save it.
    this.input = /** @type {HTMLInputElement} */ (
      h("input", {
        class: "snb-input snb-picker-secret",
        id: options.id,
        type: "password",
        autocomplete: "off",
        spellcheck: "false",
        "data-1p-ignore": true,
        "data-lpignore": "true",
        "data-bwignore": true,
        on: { input: () => this.wait(), keydown: (/** @type {Event} */ event) => this.pressed(event) },
      })
    );
    this.button = h("button", {
      class: "snb-btn",
      type: "button",
      text: "Set",
      on: { click: () => this.set() },
    });
    this.typing = h("span", { class: "snb-picker-typing" }, this.input, this.button);
    this.status = h("span", { class: "snb-picker-aside" });
    this.forget = h("button", {
      class: "snb-btn snb-picker-small",
      type: "button",
      text: "Forget",
      on: { click: () => options.onForget() },
    });
    this.controls = h(
      "div",
      { class: "snb-picker-controls" },
      this.select,
      this.typing,
      this.status,
      this.forget,
    );
    this.say = h("div", { class: "snb-picker-say", "aria-live": "polite" });
    this.alert = h("div", { class: "snb-picker-say snb-err", role: "alert" });
    this.note = h("div", { class: "snb-picker-say", role: "status" });
    this.element = h("div", { class: "snb-picker-field" }, this.controls, this.alert, this.note, this.say);
  }

  /** Send what was typed, if anything was. The field is empty before anything else happens. */
  set() {
    if (this.isForAnother()) return this.empty(ANOTHER_SERVER);
    const typed = this.input.value;
    this.input.value = "";
    window.clearTimeout(this.timer);
    this.typedFor = "";
    if (typed === "") return;
    this.pasting = false;
    this.options.onKey(new TextEncoder().encode(typed));
  }

  /** Whether the form has come to name another server since the first character was typed. */
  isForAnother() {
    return this.typedFor !== "" && this.typedFor !== this.options.server();
  }

  wait() {
    if (this.typedFor === "") this.typedFor = this.options.server();
    replace(this.note);
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(
      () => this.empty("a key that is not set does not stay here"),
      FORGOTTEN_MS,
    );
  }

  /** @param {string} why */
  empty(why) {
    this.typedFor = "";
    window.clearTimeout(this.timer);
    if (this.input.value === "") return;
    this.input.value = "";
    replace(this.note, `The field was emptied: ${why}.`);
  }

  /** @param {Event} event */
  pressed(event) {
    const { key, isComposing } = /** @type {KeyboardEvent} */ (event);
    if (isComposing) return;
    if (key === "Enter") this.set();
    else if (key === "Escape") this.empty("Escape was pressed");
  }

  chosen() {
    this.pasting = this.select.value === PASTE;
    this.typing.hidden = !this.pasting;
    if (this.pasting) {
      this.input.focus();
      return;
    }
    this.empty("another key was chosen"); // a check would send it in the chosen one's place
    this.options.onChoice(this.select.value);
  }

  /** @param {KeyState} state */
  apply(state) {
    const some = state.offers.length > 0;
    if (this.isForAnother()) this.empty(ANOTHER_SERVER);
    // A key that was found meanwhile does not take the field from who is typing one.
    if (this.input.value !== "") this.pasting = true;
    else if (state.choice !== this.shown) this.pasting = false;
    this.shown = state.choice;
    this.select.hidden = !some;
    this.offer([...state.offers, { id: PASTE, label: "paste one…" }, { id: "none", label: "no key" }]);
    this.select.value = this.pasting ? PASTE : state.choice;
    this.typing.hidden = some && !this.pasting;
    const wanted = state.needed ? "paste the key" : "only if the server wants one";
    this.input.placeholder = state.origin ? wanted : "name the server first";
    this.input.disabled = !state.origin;
    /** @type {HTMLButtonElement} */ (this.button).disabled = !state.origin;
    replace(this.status, h("span", { class: state.set ? "snb-ok" : "snb-quiet", text: keyInWords(state) }));
    this.forget.hidden = !(state.typed && state.choice === "typed");
    const error = state.error ? `✗ ${withHint(state.error, state.hint)}` : "";
    if (this.alert.textContent !== error) replace(this.alert, error);
    replace(
      this.say,
      ...state.warnings.map((text) => h("p", { class: "snb-warn", text: `! ${text}` })),
      ...state.notes.map((text) => h("p", { text })),
    );
  }

  /** @param {KeyState["offers"]} offers */
  offer(offers) {
    const now = JSON.stringify(offers);
    if (now === this.offered) return; // a list that hangs open would be shut
    this.offered = now;
    replace(this.select, ...offers.map(({ id, label }) => h("option", { value: id, text: label })));
  }

  close() {
    this.input.value = "";
    window.clearTimeout(this.timer);
  }
}

/** @param {KeyState} state */
function keyInWords(state) {
  if (!state.set) return "not set";
  return state.choice === "typed" ? `✓ set, for ${state.origin} only` : "✓ set";
}
