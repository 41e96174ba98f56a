// Server-sent events over fetch (HTML Living Standard, 9.2). EventSource cannot send a bearer token, nor
// be told where to go on.

import { Refusal, send } from "./api.js";

const MAX_LINE = 1 << 20;
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 30_000;
/** The resolver is heard every 15 s at least, unless set otherwise; a network that went away is not. */
const SILENCE = 90_000;
/** Answers that do not change by asking again: what is asked is wrong, or not allowed. */
const FINAL = [400, 401, 403, 404];

/** Reads events out of text that comes in pieces. */
export class EventParser {
  #rest = "";
  #event = "";
  #data = [];
  #id = "";
  /** That of the last event that was read whole: what to go on with. */
  lastId = "";
  retry = 0;

  constructor(lastId = "") {
    this.#id = lastId;
    this.lastId = lastId;
  }

  /** The events that this piece completes. */
  read(text) {
    const events = [];
    this.#rest += text;
    for (;;) {
      const end = this.#rest.search(/[\r\n]/);
      // The line feed that belongs to a carriage return may be still to come.
      if (end < 0 || (this.#rest[end] === "\r" && end + 1 === this.#rest.length)) break;
      const isPair = this.#rest[end] === "\r" && this.#rest[end + 1] === "\n";
      const line = this.#rest.slice(0, end);
      this.#rest = this.#rest.slice(end + (isPair ? 2 : 1));
      const event = this.#line(line);
      if (event) events.push(event);
    }
    if (this.#rest.length > MAX_LINE) throw new Error("a line without end");
    return events;
  }

  #line(line) {
    if (line === "") return this.#dispatch();
    const colon = line.indexOf(":");
    if (colon === 0) return null;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") this.#event = value;
    else if (field === "data") this.#data.push(value);
    else if (field === "id" && !value.includes("\0")) this.#id = value;
    else if (field === "retry" && /^\d+$/.test(value)) this.retry = Number(value);
    return null;
  }

  #dispatch() {
    this.lastId = this.#id;
    const event = { type: this.#event || "message", data: this.#data.join("\n"), id: this.lastId };
    const isOne = this.#data.length > 0;
    this.#event = "";
    this.#data = [];
    return isOne ? event : null;
  }
}

/**
 * Follows a stream for good: connects again where it was when the connection ends, whoever ended it.
 * `tell` hears { state: "connecting" | "live" | "waiting" | "refused" | "resting", … } and { event }.
 */
export class Following {
  #path;
  #tell;
  #lastId = "";
  #stop = null;
  #pause = FIRST_PAUSE;

  constructor(tell) {
    this.#tell = tell;
  }

  /** Begins, or goes on with another path, without missing anything between. */
  follow(path) {
    this.#path = path;
    this.#stop?.abort();
    this.#stop = new AbortController();
    this.#run(this.#stop.signal);
  }

  /** Ends the connection; following goes on where it was. */
  rest() {
    this.#stop?.abort();
    this.#stop = null;
    this.#tell({ state: "resting" });
  }

  get isResting() {
    return this.#stop === null;
  }

  async #run(signal) {
    this.#pause = FIRST_PAUSE;
    while (!signal.aborted) {
      try {
        await this.#once(signal);
        if (signal.aborted) return;
        this.#wait("ended");
      } catch (e) {
        if (signal.aborted) return;
        if (e.kind === "invalid-event-id") this.#lastId = "";
        else if (FINAL.includes(e.status)) {
          // It says the same again, until something is changed.
          this.#tell({ state: "refused", refusal: e });
          return;
        }
        if (e instanceof Refusal && e.retryAfter) this.#pause = Math.max(this.#pause, e.retryAfter * 1000);
        this.#wait(e instanceof Refusal ? e.kind : "lost");
      }
      await slept(this.#pause, signal);
      this.#pause = Math.min(this.#pause * 2, LONGEST_PAUSE);
    }
  }

  #wait(why) {
    this.#tell({ state: "waiting", why, millis: this.#pause });
  }

  async #once(signal) {
    this.#tell({ state: "connecting" });
    const connection = new AbortController();
    const end = () => connection.abort();
    signal.addEventListener("abort", end);
    let silence = setTimeout(end, SILENCE);
    try {
      const headers = this.#lastId ? { "Last-Event-ID": this.#lastId } : {};
      const response = await send(this.#path, { headers, signal: connection.signal });
      this.#tell({ state: "live" });
      const parser = new EventParser(this.#lastId);
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done || signal.aborted) return;
        clearTimeout(silence);
        silence = setTimeout(end, SILENCE);
        for (const event of parser.read(value)) this.#tell({ event });
        this.#lastId = parser.lastId;
        this.#pause = parser.retry || FIRST_PAUSE;
      }
    } finally {
      clearTimeout(silence);
      signal.removeEventListener("abort", end);
      connection.abort();
    }
  }
}

/** Waits, or less: until it is to stop, or the network is back. */
function slept(millis, signal) {
  return new Promise((resolve) => {
    const wake = () => {
      clearTimeout(timer);
      removeEventListener("online", wake);
      signal.removeEventListener("abort", wake);
      resolve();
    };
    const timer = setTimeout(wake, millis);
    addEventListener("online", wake);
    signal.addEventListener("abort", wake);
  });
}
