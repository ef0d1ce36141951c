// @ts-check
// The picker's row for the model: a list that follows what is typed.
import { Combobox } from "./combobox.js";
import { h, replace } from "./dom.js";
import { withHint } from "./picker_server.js";

/**
 * @typedef {object} ModelState
 * @property {string} chosen
 * @property {number} total
 * @property {number} adapters
 * @property {"unknown" | "asking" | "listed" | "none" | "failed"} state
 * @property {number} list changes with the list
 * @property {boolean} unlisted
 * @property {string} error
 * @property {string} hint
 */

/**
 * @typedef {object} ModelRowOptions
 * @property {string} id of the text field, for its label
 * @property {(model: string) => void} onModel
 * @property {() => void} onList
 * @property {() => Promise<{ models: [string, string][] }>} fetch
 */

export class ModelRow {
  /** @param {ModelRowOptions} options */
  constructor(options) {
    this.options = options;
    this.list = 0;
    /** @type {ModelState["state"]} */
    this.known = "unknown";
    this.box = new Combobox({
      id: options.id,
      label: "models",
      onChoose: options.onModel,
      onOpen: () => {
        if (this.known === "unknown" || this.known === "failed") options.onList();
      },
    });
    this.aside = h("span", { class: "snb-picker-aside snb-num", role: "status" });
    this.say = h("div", { class: "snb-picker-say", role: "status" });
    const controls = h("div", { class: "snb-picker-controls" }, this.box.element, this.aside);
    this.element = h("div", { class: "snb-picker-field" }, controls, this.say);
  }

  /** @param {ModelState} state */
  apply(state) {
    this.known = state.state;
    this.box.setValue(state.chosen);
    this.box.input.placeholder = state.state === "none" ? "type the model's id" : "";
    const aside = modelsInWords(state);
    if (this.aside.textContent !== aside) replace(this.aside, aside);
    const failed = state.error ? `✗ ${withHint(state.error, state.hint)}` : "";
    const said = failed || (state.unlisted ? "! this id is not on the server's list" : "");
    if (this.say.textContent !== said) replace(this.say, said);
    this.say.className = `snb-picker-say ${failed ? "snb-err" : "snb-warn"}`;
    this.take(state);
  }

  /** @param {ModelState} state */
  take(state) {
    const ready = state.state === "listed" && state.total > 0 ? state.list : 0;
    if (ready === this.list) return;
    this.list = ready;
    if (ready === 0) this.box.setItems([]);
    else
      this.options.fetch().then(
        ({ models }) => {
          if (this.list !== ready) return;
          const item = (/** @type {[string, string]} */ [value, parent]) => ({
            value,
            note: parent && `adapter of ${parent}`,
          });
          this.box.setItems(models.map(item));
        },
        () => {
          this.list = 0; // fetched again with the next state
        },
      );
  }

  close() {
    this.box.close();
  }
}

/**
 * Return how many models there are, in words.
 * @param {ModelState} state
 */
export function modelsInWords(state) {
  if (state.state === "asking") return "asking the server…";
  if (state.state === "none") return "no list of models there";
  if (state.state !== "listed") return "";
  const count = state.total - state.adapters;
  const models = `${count.toLocaleString("en")} model${count === 1 ? "" : "s"}`;
  return state.adapters ? `${models}, ${state.adapters} adapter${state.adapters === 1 ? "" : "s"}` : models;
}
