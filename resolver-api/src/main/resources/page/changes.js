// The live feed: what changes, as it does.

import { access } from "./api.js";
import { byId, counted, el, name, number, say, sentence, show, svg, time } from "./dom.js";
import { Following } from "./events.js";
import { namesIn } from "./lookup.js";

/** Rows that are kept; a burst shows its last. */
const KEPT = 200;
const SECONDS = 60;
/** A tab that nobody has looked at for so long gives its connection back. */
const AWAY = 60_000;

const WHY = {
  "too-old": "You were away for too long: what was erased meanwhile may be missing here.",
  "other-topic": "The registry's log was made anew; what is shown above may be wrong.",
  gone: "What you missed is not in the log any more.",
  "slow-reader": "This page read too slowly and was cut off; it goes on where it was.",
  failed: "The resolver could not go on with this stream.",
  replaced: "The resolver has filled its table anew.",
  closing: "The resolver is stopping.",
};

const STATES = { connecting: "Connecting…", live: "Live", paused: "Paused", waiting: "Connecting again…", refused: "Off", resting: "Resting" };

export class Changes {
  #list = byId("changes");
  #empty = byId("changes-empty");
  #filter = byId("changes-filter");
  #problem = byId("changes-problem");
  #pauseButton = byId("pause");
  #following = new Following((told) => this.#told(told));
  #lookUp;
  #paused = false;
  #state = "connecting";
  #pending = [];
  #skipped = 0;
  #isDrawing = false;
  #waitsFor = "";
  #perSecond = new Array(SECONDS).fill(0);
  #bars = [];
  #spark;

  /** @param lookUp shows what a name stands for */
  constructor(lookUp) {
    this.#lookUp = lookUp;
    this.#drawSpark();
    setInterval(() => this.#tick(), 1000);
    byId("changes-form").addEventListener("submit", (submitted) => {
      submitted.preventDefault();
      this.#follow();
    });
    this.#filter.addEventListener("change", () => this.#follow());
    this.#pauseButton.addEventListener("click", () => this.pause());
    byId("clear").addEventListener("click", () => this.#clear());
    access.addEventListener("token", () => this.#follow());
    let leaving = 0;
    document.addEventListener("visibilitychange", () => {
      clearTimeout(leaving);
      if (document.hidden) leaving = setTimeout(() => this.#following.rest(), AWAY);
      else if (this.#following.isResting) this.#follow();
    });
    this.#follow();
  }

  get recent() {
    return [...this.#list.querySelectorAll("[data-puri]")].map((row) => row.dataset.puri);
  }

  #follow() {
    say(this.#problem, "");
    const wanted = namesIn(this.#filter.value);
    const query = new URLSearchParams(wanted.map((each) => ["collection", each]));
    this.#following.follow(`/v1/changes${wanted.length ? `?${query}` : ""}`);
  }

  pause() {
    this.#paused = !this.#paused;
    this.#pauseButton.setAttribute("aria-pressed", String(this.#paused));
    if (!this.#paused) this.#draw();
    this.#tellState();
  }

  #clear() {
    this.#list.replaceChildren();
    this.#pending = [];
    this.#skipped = 0;
    show(this.#empty, true);
    this.#tellState();
  }

  #told({ state, event, refusal, why }) {
    if (event) {
      this.#happened(event);
      return;
    }
    this.#state = state;
    if (state === "live") say(this.#empty, "Nothing has changed since you came. What is published shows here at once.");
    if (state === "refused") say(this.#problem, refusal.isAccess ? sentence(String(refusal)) : refusal.message);
    if (state === "waiting") this.#waitsFor = why;
    this.#tellState();
  }

  #tellState() {
    const state = this.#paused && this.#state === "live" ? "paused" : this.#state;
    byId("stream").dataset.state = state;
    const held = this.#pending.length + this.#skipped;
    let text = STATES[state];
    if (this.#paused && held) text += `, ${number(held)} held back`;
    if (state === "waiting" && this.#waitsFor === "not-ready") text = "Waiting for the table";
    if (state === "waiting" && this.#waitsFor === "too-many-streams") text = "Too many follow already; trying again";
    say(byId("stream-text"), text);
  }

  #happened(event) {
    let data = {};
    try {
      data = JSON.parse(event.data);
    } catch {
      // A kind of event that a later resolver tells.
    }
    if (event.type === "changed" || event.type === "erased") this.#perSecond[SECONDS - 1]++;
    this.#pending.push({ type: event.type, data, at: new Date().toISOString() });
    if (this.#pending.length > KEPT) {
      this.#pending.shift();
      this.#skipped++;
    }
    if (this.#paused) this.#tellState();
    else this.#draw();
  }

  /** Draws what has come in, once a frame at most. */
  #draw() {
    if (this.#isDrawing) return;
    this.#isDrawing = true;
    requestAnimationFrame(() => {
      this.#isDrawing = false;
      if (this.#paused || this.#pending.length === 0) return;
      // The newest stands first, so that nobody has to scroll to see it.
      const rows = this.#pending.map((each) => this.#row(each)).reverse();
      if (this.#skipped) rows.push(el("li", { class: "aside" }, `${counted(this.#skipped, "more change")} came too fast to be shown.`));
      this.#pending = [];
      this.#skipped = 0;
      this.#list.prepend(...rows);
      while (this.#list.children.length > KEPT) this.#list.lastElementChild.remove();
      show(this.#empty, false);
      this.#tellState();
    });
  }

  #row({ type, data, at }) {
    if (typeof data.puri !== "string") {
      const why = WHY[data.reason] ?? (data.reason ? sentence(data.reason) : "");
      return el("li", { class: "aside", "data-event": type }, el("b", {}, type), " ", why);
    }
    const what = kind(type, data);
    return el(
      "li",
      { "data-event": type, "data-puri": data.puri },
      el("span", { class: "when" }, time(data.changedAt ?? at)),
      el("span", { class: `badge ${what}` }, what),
      el("span", { class: "what" }, this.#link(data.puri), data.mergedInto && [" → ", this.#link(data.mergedInto)]),
      data.owner && el("span", { class: "where" }, name(data.owner), " on ", name(data.shard), ` · epoch ${number(data.epoch)}`),
    );
  }

  #link(puri) {
    const link = el("button", { type: "button", class: "link", title: "Look it up" }, name(puri));
    link.addEventListener("click", () => this.#lookUp(puri));
    return link;
  }

  #drawSpark() {
    this.#bars = this.#perSecond.map((_, second) => svg("rect", { x: second * 2, width: 1.5, y: 20, height: 0 }));
    this.#spark = svg("svg", { viewBox: `0 0 ${SECONDS * 2} 20`, role: "img", preserveAspectRatio: "none" }, this.#bars);
    byId("spark").append(this.#spark);
    this.#tick();
  }

  #tick() {
    const most = Math.max(4, ...this.#perSecond);
    const sum = this.#perSecond.reduce((a, b) => a + b, 0);
    this.#perSecond.forEach((count, second) => {
      const height = count === 0 ? 0.5 : Math.max(2, (20 * count) / most);
      this.#bars[second].setAttribute("height", height);
      this.#bars[second].setAttribute("y", 20 - height);
    });
    this.#spark.setAttribute("aria-label", `${counted(sum, "change")} in the last minute`);
    byId("spark").title = this.#spark.getAttribute("aria-label");
    this.#perSecond.shift();
    this.#perSecond.push(0);
  }
}

/** What became of it, as far as its row tells. */
function kind(type, row) {
  if (type === "erased") return "erased";
  if (row.status === "merged" || row.status === "deleted") return row.status;
  return row.createdAt === row.changedAt ? "created" : "changed";
}
