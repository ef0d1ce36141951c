// @ts-check
// The provider's form. All it shows comes from the kernel as one state; it keeps nothing.
import { channel } from "./channel.js";
import { h, replace } from "./dom.js";
import { guard } from "./keys.js";
import { CheckRow } from "./picker_check.js";
import { KeyRow } from "./picker_key.js";
import { ModelRow } from "./picker_models.js";
import { HostedField, UrlField, withHint } from "./picker_server.js";

const WAYS = /** @type {const} */ ([
  ["builtin", "Built-in model"],
  ["url", "Server URL"],
  ["hosted", "Hosted API"],
]);

/**
 * @typedef {object} PickerState
 * @property {number} version
 * @property {string} way
 * @property {{ text: string, error: string, hint: string }} builtin
 * @property {import("./picker_server.js").UrlState & { text: string }} url
 * @property {import("./picker_server.js").HostedState} hosted
 * @property {import("./picker_key.js").KeyState} key
 * @property {import("./picker_models.js").ModelState} model
 * @property {import("./picker_check.js").CheckState | null} check
 */

/** @typedef {import("./channel.js").Model} Model */
/** @typedef {(content: object, callbacks?: object, buffers?: ArrayBufferView[]) => void} SendBytes */

class Picker {
  /** @param {Model} model */
  constructor(model) {
    this.model = model;
    this.link = channel(model);
    this.version = -1;
    this.pending = 0;
    /** What the kernel was told to be in the fields. */
    this.told = { way: "", url: "", preset: "", resource: "" };
    this.wantsResource = false;
    const id = `snb-picker-${Math.random().toString(36).slice(2, 8)}`;
    const tell = (/** @type {keyof Picker["told"]} */ field) => (/** @type {string} */ value) => {
      this.told[field] = value;
      this.ask(field, { value });
      // At once, so that the next Tab finds the rows of the way that was chosen.
      if (field === "way") this.showRows(value);
    };
    this.radios = WAYS.map(([way]) => wayRadio(id, way, tell("way")));
    this.url = new UrlField({
      id: `${id}-url`,
      onUrl: tell("url"),
      preview: (text) => this.link.ask("preview", { value: text }).then((answer) => answer.url),
    });
    this.hosted = new HostedField({ id, onPreset: tell("preset"), onResource: tell("resource") });
    this.key = new KeyRow({
      id: `${id}-key`,
      onKey: (key) => this.sendKey(key),
      onChoice: (value) => this.ask("key", { value }),
      onForget: () => this.ask("forget"),
      server: () => JSON.stringify(this.server()),
    });
    this.models = new ModelRow({
      id: `${id}-model`,
      onModel: (value) => this.ask("model", { value }),
      onList: () => this.ask("list"),
      fetch: () => this.link.ask("models"),
    });
    this.builtin = h("div", { class: "snb-picker-field" });
    this.check = new CheckRow({
      onCheck: () => this.startCheck(),
      onStop: () => this.ask("stop"),
      onFix: (op, value) => this.fix(op, value),
    });
    this.rows = {
      builtin: fieldRow("", "Model", this.builtin),
      url: fieldRow(`${id}-url`, "URL", this.url.element),
      preset: fieldRow(`${id}-preset`, "API", this.hosted.preset),
      resource: fieldRow(`${id}-resource`, "Resource", this.hosted.resource),
      key: fieldRow(`${id}-key`, "Key", this.key.element),
      model: fieldRow(`${id}-model`, "Model", this.models.element),
    };
    this.busy = h("span", { class: "snb-quiet", role: "status" });
    this.element = this.layOut();
    this.link.on("state", ({ state }) => this.apply(state));
    this.link.onStall((waiting) => {
      replace(this.busy, waiting ? "the kernel is busy: it answers as soon as it can" : null);
    });
    this.ask("open");
  }

  layOut() {
    const labels = WAYS.map(([, text], i) =>
      h("label", { class: "snb-picker-way" }, this.radios[i], h("span", { text })),
    );
    const ways = { class: "snb-picker-ways", role: "radiogroup", "aria-label": "Kind of provider" };
    const root = h(
      "section",
      { class: "snb snb-picker", role: "group", "aria-label": "Model provider", tabindex: "-1" },
      h("div", { class: "snb-picker-head" }, h("strong", { text: "Model provider" }), this.busy),
      h("div", ways, ...labels),
      h("div", { class: "snb-picker-rows" }, ...Object.values(this.rows)),
      this.check.element,
    );
    guard(root);
    return root;
  }

  /**
   * Ask the kernel; what it refuses is shown, since a click must never do nothing.
   * @param {string} op
   * @param {object} [content]
   */
  async ask(op, content) {
    this.pending += 1;
    try {
      const answer = await this.link.ask(op, content);
      this.pending -= 1;
      replace(this.busy);
      if (answer.state) this.apply(answer.state);
    } catch (error) {
      this.pending -= 1;
      const { message, hint } = /** @type {{ message: string, hint: string }} */ (error);
      replace(this.busy, h("span", { class: "snb-err", text: withHint(message, hint) }));
    }
  }

  /**
   * Send a typed key: bytes beside the message's content, which some logs write down.
   * @param {Uint8Array} key
   */
  sendKey(key) {
    const send = /** @type {SendBytes} */ (this.model.send.bind(this.model));
    send({ typed_for: this.server() }, undefined, [key]);
    // That message has no answer. This question, right behind it, has: a kernel that is busy
    // or gone is told of, where the field was emptied and nothing else would be seen.
    this.ask("open");
  }

  /** Return the fields that name the server. */
  server() {
    const { way, url, preset, resource } = this.told;
    return way === "url" ? { way, url } : { way, preset, resource };
  }

  startCheck() {
    this.key.set();
    this.ask("check");
  }

  /**
   * @param {string} op
   * @param {string} value
   */
  fix(op, value) {
    this.ask(op, { value });
    this.ask("check");
  }

  /** @param {PickerState} state */
  apply(state) {
    if (state.version <= this.version) return;
    this.version = state.version;
    const { way, url, hosted } = state;
    // While the kernel has not taken what was told, its state is the older one.
    if (this.pending === 0)
      this.told = { way, url: url.text, preset: hosted.preset, resource: hosted.resource };
    this.wantsResource = hosted.wants_resource;
    this.showRows(this.told.way);
    this.applyBuiltin(state.builtin);
    this.url.apply(url);
    this.hosted.apply(hosted);
    this.key.apply(state.key);
    this.models.apply(state.model);
    this.check.apply(state.check);
  }

  /** @param {string} way */
  showRows(way) {
    this.radios.forEach((radio, i) => {
      radio.checked = WAYS[i]?.[0] === way;
    });
    this.rows.builtin.hidden = way !== "builtin";
    this.rows.url.hidden = way !== "url";
    this.rows.preset.hidden = way !== "hosted";
    this.rows.resource.hidden = way !== "hosted" || !this.wantsResource;
    this.rows.key.hidden = way === "builtin";
    this.rows.model.hidden = way === "builtin";
  }

  /** @param {PickerState["builtin"]} state */
  applyBuiltin(state) {
    const error = state.error && `✗ ${withHint(state.error, state.hint)}`;
    replace(
      this.builtin,
      h("div", { class: "snb-picker-static", text: state.text }),
      error && h("div", { class: "snb-picker-say snb-err", text: error }),
    );
  }

  close() {
    this.url.close();
    this.key.close();
    this.models.close();
    this.link.close();
  }
}

/**
 * @param {string} id
 * @param {string} way
 * @param {(way: string) => void} onWay
 */
function wayRadio(id, way, onWay) {
  const on = { change: () => onWay(way) };
  const radio = h("input", { type: "radio", name: `${id}-way`, value: way, on });
  return /** @type {HTMLInputElement} */ (radio);
}

/**
 * @param {string} id of the field that the label is for
 * @param {string} text
 * @param {HTMLElement} field
 */
function fieldRow(id, text, field) {
  const label = id
    ? h("label", { class: "snb-picker-label", for: id, text })
    : h("span", { class: "snb-picker-label", text });
  return h("div", { class: "snb-picker-row" }, label, field);
}

export default {
  /** @param {{ model: Model, el: HTMLElement }} context */
  render({ model, el }) {
    const picker = new Picker(model);
    el.appendChild(picker.element);
    return () => picker.close();
  },
};
