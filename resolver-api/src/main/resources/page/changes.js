// The live list of changes.

import { access } from "./api.js";
import { byId, counted, el, name, number, sentence, setText, show, svg, time } from "./dom.js";
import { EventStream } from "./events.js";
import { parseNames } from "./lookup.js";

/** The maximum number of rows in the list. */
const MAX_ROWS = 200;
const SECONDS = 60;
/** A tab that is hidden for this time closes its stream, because a browser limits the connections to a host. */
const HIDDEN_LIMIT_MILLIS = 60_000;

/** Explains the reasons of the events reset, dropped and bye. */
const REASONS = {
  "too-old": "The page was disconnected for too long. Erasures of that time may be missing here.",
  "other-topic": "The topic was created again. Earlier changes in this list may be wrong.",
  gone: "The topic no longer has the changes that this page missed.",
  "slow-reader": "The page read too slowly, so the resolver disconnected it. The stream resumes at the same place.",
  failed: "The stream failed in the resolver.",
  "table-replaced": "The resolver has rebuilt its table.",
  stopping: "The resolver is stopping.",
};

const STATES = {
  connecting: "Connecting…",
  live: "Live",
  paused: "Paused",
  waiting: "Reconnecting…",
  refused: "Disconnected",
  suspended: "Suspended",
};

export class Changes {
  #list = byId("changes");
  #empty = byId("changes-empty");
  #filter = byId("changes-filter");
  #problem = byId("changes-problem");
  #pauseButton = byId("pause");
  #stream = new EventStream((update) => this.#receive(update));
  #lookUp;
  #isPaused = false;
  #state = "connecting";
  #pending = [];
  #omitted = 0;
  #isDrawScheduled = false;
  #retryReason = "";
  #perSecond = new Array(SECONDS).fill(0);
  #bars = [];
  #sparkline;

  /** @param lookUp a function that looks up a pURI */
  constructor(lookUp) {
    this.#lookUp = lookUp;
    this.#drawSparkline();
    setInterval(() => this.#shiftSparkline(), 1000);
    byId("changes-form").addEventListener("submit", (submitted) => {
      submitted.preventDefault();
      this.#open();
    });
    this.#filter.addEventListener("change", () => this.#open());
    this.#pauseButton.addEventListener("click", () => this.togglePause());
    byId("clear").addEventListener("click", () => this.#clear());
    access.addEventListener("token", () => this.#open());
    let hiddenTimer = 0;
    document.addEventListener("visibilitychange", () => {
      clearTimeout(hiddenTimer);
      if (document.hidden) hiddenTimer = setTimeout(() => this.#stream.suspend(), HIDDEN_LIMIT_MILLIS);
      else if (this.#stream.isSuspended) this.#open();
    });
    this.#open();
  }

  get recentNames() {
    return [...this.#list.querySelectorAll("[data-puri]")].map((row) => row.dataset.puri);
  }

  #open() {
    setText(this.#problem, "");
    const collections = parseNames(this.#filter.value);
    const query = new URLSearchParams(collections.map((each) => ["collection", each]));
    this.#stream.open(`/v1/changes${collections.length ? `?${query}` : ""}`);
  }

  togglePause() {
    this.#isPaused = !this.#isPaused;
    this.#pauseButton.setAttribute("aria-pressed", String(this.#isPaused));
    if (!this.#isPaused) this.#scheduleDraw();
    this.#showState();
  }

  #clear() {
    this.#list.replaceChildren();
    this.#pending = [];
    this.#omitted = 0;
    show(this.#empty, true);
    this.#showState();
  }

  #receive({ state, event, error, reason }) {
    if (event) {
      this.#add(event);
      return;
    }
    this.#state = state;
    if (state === "live") setText(this.#empty, "No changes since you opened this page. New ones appear here at once.");
    if (state === "refused") setText(this.#problem, error.isAccessDenied ? sentence(String(error)) : error.message);
    if (state === "waiting") this.#retryReason = reason;
    this.#showState();
  }

  #showState() {
    const state = this.#isPaused && this.#state === "live" ? "paused" : this.#state;
    byId("stream").dataset.state = state;
    const buffered = this.#pending.length + this.#omitted;
    let text = STATES[state];
    if (this.#isPaused && buffered) text += `, ${counted(buffered, "new event")}`;
    if (state === "waiting" && this.#retryReason === "not-ready") text = "Waiting for the table";
    if (state === "waiting" && this.#retryReason === "too-many-streams") {
      text = "Too many change streams are open; retrying";
    }
    setText(byId("stream-text"), text);
  }

  #add(event) {
    let data = {};
    try {
      data = JSON.parse(event.data);
    } catch {
      // A newer resolver may send events of other types, whose data need not be JSON.
    }
    if (event.type === "changed" || event.type === "erased") this.#perSecond[SECONDS - 1]++;
    this.#pending.push({ type: event.type, data, receivedAt: new Date().toISOString() });
    if (this.#pending.length > MAX_ROWS) {
      this.#pending.shift();
      this.#omitted++;
    }
    if (this.#isPaused) this.#showState();
    else this.#scheduleDraw();
  }

  /** Draws the pending events at the next frame. */
  #scheduleDraw() {
    if (this.#isDrawScheduled) return;
    this.#isDrawScheduled = true;
    requestAnimationFrame(() => {
      this.#isDrawScheduled = false;
      if (this.#isPaused || this.#pending.length === 0) return;
      // Newest first, so that nobody must scroll to see a change.
      const rows = this.#pending.map((each) => this.#row(each)).reverse();
      if (this.#omitted) {
        rows.push(el("li", { class: "notice" }, `${counted(this.#omitted, "more event")} omitted during a burst.`));
      }
      this.#pending = [];
      this.#omitted = 0;
      this.#list.prepend(...rows);
      while (this.#list.children.length > MAX_ROWS) this.#list.lastElementChild.remove();
      show(this.#empty, false);
      this.#showState();
    });
  }

  #row({ type, data, receivedAt }) {
    if (typeof data.puri !== "string") {
      const reason = REASONS[data.reason] ?? (data.reason ? sentence(data.reason) : "");
      return el("li", { class: "notice", "data-event": type }, el("b", {}, type), " ", reason);
    }
    const kind = kindOf(type, data);
    return el(
      "li",
      { "data-event": type, "data-puri": data.puri },
      el("span", { class: "time" }, time(data.changedAt ?? receivedAt)),
      el("span", { class: `badge ${kind}` }, kind),
      el("span", { class: "subject" }, this.#link(data.puri), data.mergedInto && [" → ", this.#link(data.mergedInto)]),
      data.owner &&
        el(
          "span",
          { class: "placement" },
          name(data.owner),
          " on ",
          name(data.shard),
          ` · epoch ${number(data.epoch)}`,
        ),
    );
  }

  #link(puri) {
    const link = el("button", { type: "button", class: "link", title: "Look up this name" }, name(puri));
    link.addEventListener("click", () => this.#lookUp(puri));
    return link;
  }

  #drawSparkline() {
    this.#bars = this.#perSecond.map((_, second) => svg("rect", { x: second * 2, width: 1.5, y: 20, height: 0 }));
    this.#sparkline = svg(
      "svg",
      { viewBox: `0 0 ${SECONDS * 2} 20`, role: "img", preserveAspectRatio: "none" },
      this.#bars,
    );
    byId("sparkline").append(this.#sparkline);
    this.#shiftSparkline();
  }

  #shiftSparkline() {
    const max = Math.max(4, ...this.#perSecond);
    const sum = this.#perSecond.reduce((a, b) => a + b, 0);
    this.#perSecond.forEach((count, second) => {
      const height = count === 0 ? 0.5 : Math.max(2, (20 * count) / max);
      this.#bars[second].setAttribute("height", height);
      this.#bars[second].setAttribute("y", 20 - height);
    });
    this.#sparkline.setAttribute("aria-label", `${counted(sum, "change")} in the last minute`);
    byId("sparkline").title = this.#sparkline.getAttribute("aria-label");
    this.#perSecond.shift();
    this.#perSecond.push(0);
  }
}

/** Returns the kind of a change. A row does not say whether a later change moved or described the object. */
function kindOf(type, row) {
  if (type === "erased") return "erased";
  if (row.status === "merged" || row.status === "deleted") return row.status;
  return row.createdAt === row.changedAt ? "created" : "changed";
}
