// @ts-check
// The picker's rows that name the server: a URL, or a hosted API.
import { h, replace } from "./dom.js";

const PREVIEW_MS = 120;

/** @typedef {{ base_url: string, notes: string[], error: string, hint: string, from?: string }} UrlState */

/**
 * Return a message and its next step in one line.
 * @param {string} message
 * @param {string} hint
 */
export function withHint(message, hint) {
  return hint ? `${message} - ${hint}` : message;
}

/**
 * Return a text field of a form that the browser keeps its hands off.
 * @param {string} id
 * @param {string} placeholder
 * @param {() => void} leave it was left, or Enter was pressed
 */
function plainField(id, placeholder, leave) {
  const pressed = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Enter" && !event.isComposing) leave();
  };
  const props = { id, placeholder, type: "text", autocomplete: "off", autocapitalize: "off" };
  const on = { keydown: pressed, blur: leave };
  return /** @type {HTMLInputElement} */ (
    h("input", { class: "snb-input", spellcheck: "false", ...props, on })
  );
}

/**
 * @typedef {object} UrlFieldOptions
 * @property {string} id of the text field, for its label
 * @property {(text: string) => void} onUrl
 * @property {(text: string) => Promise<UrlState>} preview
 */

export class UrlField {
  /** @param {UrlFieldOptions} options */
  constructor(options) {
    this.options = options;
    this.timer = 0;
    this.told = "";
    this.input = plainField(options.id, "localhost:8000", () => this.leave());
    this.input.addEventListener("input", () => this.look());
    this.uses = h("div", {
      class: "snb-picker-say snb-picker-uses",
      id: `${options.id}-uses`,
      "aria-live": "polite",
    });
    this.alert = h("div", { class: "snb-picker-say snb-err", id: `${options.id}-error`, role: "alert" });
    this.input.setAttribute("aria-describedby", `${this.uses.id} ${this.alert.id}`);
    this.element = h("div", { class: "snb-picker-field" }, this.input, this.alert, this.uses);
  }

  /** Show what the text would stand for, while it is being typed. */
  look() {
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => {
      const text = this.input.value;
      this.options.preview(text).then(
        (found) => {
          if (this.input.value === text && text.trim() !== this.told) this.say(found);
        },
        () => {}, // the kernel is gone: the next real question says so
      );
    }, PREVIEW_MS);
  }

  leave() {
    window.clearTimeout(this.timer);
    const text = this.input.value.trim();
    if (text === this.told) return;
    this.told = text;
    this.options.onUrl(text);
  }

  /** @param {UrlState & { text: string }} state */
  apply(state) {
    if (this.input.matches(":focus") && this.input.value.trim() !== state.text) return;
    this.told = state.text;
    if (this.input.value.trim() !== state.text) this.input.value = state.text;
    this.input.setAttribute("aria-invalid", String(state.error !== ""));
    const error = state.error ? `✗ ${withHint(state.error, state.hint)}` : "";
    // An alert that is written again is read out again.
    if (this.alert.textContent !== error) replace(this.alert, error);
    this.say(state);
  }

  /** @param {UrlState} found */
  say(found) {
    const from = found.from ? `from ${found.from}` : "";
    const uses = found.base_url ? `uses ${found.base_url}` : "";
    replace(this.uses, [uses, found.notes.join(", "), from].filter((part) => part !== "").join(" · "));
  }

  close() {
    window.clearTimeout(this.timer);
  }
}

/**
 * @typedef {object} HostedState
 * @property {[string, string][]} presets name and title
 * @property {string} preset
 * @property {string} resource
 * @property {boolean} wants_resource
 * @property {string} error
 * @property {string} base_url
 */

/**
 * @typedef {object} HostedFieldOptions
 * @property {string} id the beginning of the fields' ids
 * @property {(name: string) => void} onPreset
 * @property {(text: string) => void} onResource
 */

export class HostedField {
  /** @param {HostedFieldOptions} options */
  constructor(options) {
    this.options = options;
    this.told = "";
    this.select = /** @type {HTMLSelectElement} */ (
      h("select", {
        class: "snb-select",
        id: `${options.id}-preset`,
        on: { change: () => options.onPreset(this.select.value) },
      })
    );
    this.uses = h("div", { class: "snb-picker-say snb-picker-uses", "aria-live": "polite" });
    this.preset = h("div", { class: "snb-picker-field" }, this.select, this.uses);
    this.input = plainField(`${options.id}-resource`, "my-resource", () => this.leave());
    this.alert = h("div", { class: "snb-picker-say snb-err", role: "alert" });
    this.resource = h("div", { class: "snb-picker-field" }, this.input, this.alert);
  }

  leave() {
    const text = this.input.value.trim();
    if (text === this.told) return;
    this.told = text;
    this.options.onResource(text);
  }

  /** @param {HostedState} state */
  apply(state) {
    if (this.select.childElementCount === 0) {
      const options = state.presets.map(([value, text]) => h("option", { value, text }));
      replace(this.select, h("option", { value: "", text: "choose one…" }), ...options);
    }
    this.select.value = state.preset;
    replace(this.uses, state.base_url ? `uses ${state.base_url}` : null);
    if (!this.input.matches(":focus") || this.input.value.trim() === state.resource) {
      this.told = state.resource;
      this.input.value = state.resource;
    }
    replace(this.alert, state.error ? `✗ ${state.error}` : null);
  }
}
