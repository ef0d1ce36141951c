// @ts-check
// The front end's half of channel.py: ask and be answered, hear what the kernel says.

/**
 * What a front end hands to a view.
 * @typedef {object} Model
 * @property {(name: string) => any} get
 * @property {(content: object) => void} send
 * @property {(event: string, handler: (...args: any[]) => void) => void} on
 * @property {(event: string, handler: (...args: any[]) => void) => void} off
 */

/** @typedef {{ resolve: (answer: any) => void, reject: (error: Error) => void, at: number }} Waiting */

/**
 * A kernel's refusal: what went wrong, and the next step.
 */
export class Refused extends Error {
  /**
   * @param {string} message
   * @param {string} hint
   */
  constructor(message, hint) {
    super(message);
    this.hint = hint;
  }
}

const STALL_MS = 3000;

/**
 * @typedef {object} Channel
 * @property {(op: string, content?: object) => Promise<any>} ask
 * @property {(op: string, handler: (content: any) => void) => void} on
 * @property {(handler: (waiting: boolean) => void) => void} onStall
 * @property {() => void} close
 */

/**
 * Ids hold the view's own mark: every front end of a view hears every answer.
 * @param {Model} model
 * @returns {Channel}
 */
export function channel(model) {
  const mine = Math.random().toString(36).slice(2, 10);
  /** @type {Map<string, Waiting>} */
  const waiting = new Map();
  /** @type {Map<string, (content: any) => void>} */
  const handlers = new Map();
  /** @type {((waiting: boolean) => void)[]} */
  const stallHandlers = [];
  let count = 0;
  let stalled = false;

  /** @param {any} content */
  const receive = (content) => {
    if (content.re === undefined) return handlers.get(content.op)?.(content);
    const asked = waiting.get(content.re);
    if (!asked) return undefined;
    waiting.delete(content.re);
    if (content.error === undefined) asked.resolve(content);
    else asked.reject(new Refused(content.error, content.hint ?? ""));
    return look();
  };

  const look = () => {
    const oldest = Math.min(...[...waiting.values()].map((w) => w.at));
    const now = Date.now() - oldest > STALL_MS;
    if (now === stalled) return;
    stalled = now;
    for (const handler of stallHandlers) handler(stalled);
  };

  model.on("msg:custom", receive);
  const timer = setInterval(look, 500);
  return {
    ask(op, content = {}) {
      count += 1;
      const id = `${mine}-${count}`;
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject, at: Date.now() });
        // Not "id": that word belongs to the records that messages are about.
        model.send({ ...content, op, ask: id });
      });
    },
    on(op, handler) {
      handlers.set(op, handler);
    },
    onStall(handler) {
      stallHandlers.push(handler);
    },
    close() {
      clearInterval(timer);
      model.off("msg:custom", receive);
      waiting.clear();
    },
  };
}
