// Server-sent events over fetch (HTML Living Standard, 9.2). EventSource can neither send a bearer token nor set the
// id from which the stream resumes.

import { ResolverError, send } from "./api.js";

const MAX_LINE_LENGTH = 1 << 20;
const MIN_PAUSE_MILLIS = 500;
const MAX_PAUSE_MILLIS = 30_000;
/** By default the resolver sends at least a comment every 15 s. A longer silence means that the network is gone. */
const MAX_SILENCE_MILLIS = 90_000;
/** A retry cannot succeed after these: the request is invalid or not allowed. */
const FINAL_STATUSES = [400, 401, 403, 404];

/** Parses events from chunks of text. */
export class EventParser {
  #rest = "";
  #event = "";
  #data = [];
  #id = "";
  /** The id of the last complete event; the stream resumes from it. */
  lastId = "";
  retry = 0;

  constructor(lastId = "") {
    this.#id = lastId;
    this.lastId = lastId;
  }

  /** Returns the events that this chunk completes. */
  read(chunk) {
    const events = [];
    this.#rest += chunk;
    for (;;) {
      const end = this.#rest.search(/[\r\n]/);
      // The next chunk may begin with the line feed of this carriage return.
      if (end < 0 || (this.#rest[end] === "\r" && end + 1 === this.#rest.length)) break;
      const isCrLf = this.#rest[end] === "\r" && this.#rest[end + 1] === "\n";
      const line = this.#rest.slice(0, end);
      this.#rest = this.#rest.slice(end + (isCrLf ? 2 : 1));
      const event = this.#readLine(line);
      if (event) events.push(event);
    }
    if (this.#rest.length > MAX_LINE_LENGTH) throw new Error(`a line has more than ${MAX_LINE_LENGTH} characters`);
    return events;
  }

  #readLine(line) {
    if (line === "") return this.#completeEvent();
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

  #completeEvent() {
    this.lastId = this.#id;
    const event = { type: this.#event || "message", data: this.#data.join("\n"), id: this.lastId };
    const hasData = this.#data.length > 0;
    this.#event = "";
    this.#data = [];
    return hasData ? event : null;
  }
}

/**
 * A stream that reconnects after each end of its connection and resumes from the last event.
 * `listener` gets { state: "connecting" | "live" | "waiting" | "refused" | "suspended", … } and { event }.
 */
export class EventStream {
  #path;
  #listener;
  #lastId = "";
  #abort = null;
  #pauseMillis = MIN_PAUSE_MILLIS;

  constructor(listener) {
    this.#listener = listener;
  }

  /** Opens the stream of a path. A stream that is open already continues with this path and misses no event. */
  open(path) {
    this.#path = path;
    this.#abort?.abort();
    this.#abort = new AbortController();
    this.#run(this.#abort.signal);
  }

  /** Closes the connection; `open` resumes from the last event. */
  suspend() {
    this.#abort?.abort();
    this.#abort = null;
    this.#listener({ state: "suspended" });
  }

  get isSuspended() {
    return this.#abort === null;
  }

  async #run(signal) {
    this.#pauseMillis = MIN_PAUSE_MILLIS;
    while (!signal.aborted) {
      try {
        await this.#readConnection(signal);
        if (signal.aborted) return;
        this.#announceRetry("ended");
      } catch (e) {
        if (signal.aborted) return;
        if (e.kind === "invalid-event-id") this.#lastId = "";
        else if (FINAL_STATUSES.includes(e.status)) {
          this.#listener({ state: "refused", error: e });
          return;
        }
        if (e instanceof ResolverError && e.retryAfterSeconds) {
          this.#pauseMillis = Math.max(this.#pauseMillis, e.retryAfterSeconds * 1000);
        }
        this.#announceRetry(e instanceof ResolverError ? e.kind : "lost");
      }
      await sleep(this.#pauseMillis, signal);
      this.#pauseMillis = Math.min(this.#pauseMillis * 2, MAX_PAUSE_MILLIS);
    }
  }

  #announceRetry(reason) {
    this.#listener({ state: "waiting", reason, millis: this.#pauseMillis });
  }

  /** Reads one connection to its end. */
  async #readConnection(signal) {
    this.#listener({ state: "connecting" });
    const connection = new AbortController();
    const disconnect = () => connection.abort();
    signal.addEventListener("abort", disconnect);
    let silenceTimer = setTimeout(disconnect, MAX_SILENCE_MILLIS);
    try {
      const headers = this.#lastId ? { "Last-Event-ID": this.#lastId } : {};
      const response = await send(this.#path, { headers, signal: connection.signal });
      this.#listener({ state: "live" });
      const parser = new EventParser(this.#lastId);
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done || signal.aborted) return;
        clearTimeout(silenceTimer);
        silenceTimer = setTimeout(disconnect, MAX_SILENCE_MILLIS);
        for (const event of parser.read(value)) this.#listener({ event });
        this.#lastId = parser.lastId;
        this.#pauseMillis = parser.retry || MIN_PAUSE_MILLIS;
      }
    } finally {
      clearTimeout(silenceTimer);
      signal.removeEventListener("abort", disconnect);
      connection.abort();
    }
  }
}

/** Sleeps until the time has passed, the network is back, or the signal aborts. */
function sleep(millis, signal) {
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
