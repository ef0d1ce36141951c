// As much of a page as a list needs, so that its paging is tested without a browser.
// Layout, focus and painting are tests/browser's.

class Node {
  children = [];
  parent = null;

  appendChild(child) {
    child.remove?.();
    child.parent = this;
    this.children.push(child);
    return child;
  }
}

class Text extends Node {
  constructor(text) {
    super();
    this.textContent = text;
  }
}

class Element extends Node {
  attributes = new Map();
  listeners = new Map();
  style = { setProperty: (name, value) => this.attributes.set(`style.${name}`, value) };
  textContent = "";
  className = "";
  clientHeight = 0;
  scrollTop = 0;

  constructor(tag) {
    super();
    this.tagName = tag.toUpperCase();
  }

  get id() {
    return this.getAttribute("id") ?? "";
  }

  getAttribute(name) {
    return this.attributes.get(name) ?? null;
  }

  hasAttribute(name) {
    return this.attributes.has(name);
  }

  setAttribute(name, value) {
    this.attributes.set(name, String(value));
  }

  removeAttribute(name) {
    this.attributes.delete(name);
  }

  addEventListener(name, listener) {
    this.listeners.set(name, [...(this.listeners.get(name) ?? []), listener]);
  }

  dispatch(name, event = {}) {
    for (const listener of this.listeners.get(name) ?? []) listener(event);
  }

  remove() {
    if (this.parent) this.parent.children = this.parent.children.filter((child) => child !== this);
    this.parent = null;
  }

  replaceChildren() {
    this.children = [];
    this.textContent = "";
  }
}

class ResizeObserver {
  observe() {}
  disconnect() {}
}

Object.assign(globalThis, {
  Node,
  ResizeObserver,
  document: { createElement: (tag) => new Element(tag), createTextNode: (text) => new Text(text) },
});

export { Element };
