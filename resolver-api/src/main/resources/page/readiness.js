// How the table stands, and what to do about it: /health/ready and /health/started, open to everybody.

import { ask } from "./api.js";
import { byId, bytes, counted, el, number, say, sentence, show, time } from "./dom.js";

/** Who is not ready answers 503 and says what is missing. */
const NOT_READY = { answers: 503 };

const TEXTS = {
  connecting: "Connecting…",
  unreachable: "No answer",
  filling: "Filling the table",
  blocked: "Waiting",
  old: "Answers may be old",
  ready: "Ready",
};

/** As it has begun, or is about to, and nothing is in its way. */
const FILLING = ["", "not begun", "the table is being filled"];

/** What a person can do, by what the resolver says is missing. */
const ADVICE = [
  [/schema registry/i, "Is the schema registry up, and does PURI_SCHEMA_REGISTRY name it? The resolver goes on trying."],
  [/puri topics create/i, null],
  [/broker/i, "Is Kafka up, and does PURI_BOOTSTRAP_SERVER name it? The resolver goes on trying."],
];

export class Standing {
  phase = "connecting";
  #banner = byId("banner");
  #told = "";
  #lastHeard = null;
  #before = null;
  #rate = 0;
  #bar = el("progress", { "aria-label": "Records read" });

  /** Asks how the table stands; the rest of the page depends on it. */
  async look() {
    let ready;
    let started;
    let table;
    try {
      ready = await ask("/health/ready", NOT_READY);
      started = ready.status === "UP" ? ready : await ask("/health/started", NOT_READY);
      table = ready.checks.find((check) => check.name === "table")?.data ?? {};
    } catch {
      // What answers without checks is something else, in the resolver's place.
      this.#become("unreachable", {});
      return;
    }
    this.#lastHeard = new Date();
    const trouble = table.reason ?? table.detail ?? "";
    if (ready.status === "UP") this.#become("ready", table);
    else if (started.status === "UP") this.#become("old", table, trouble);
    else this.#become(FILLING.includes(trouble) ? "filling" : "blocked", table, trouble);
  }

  get isAnswering() {
    return this.phase === "ready" || this.phase === "old";
  }

  #become(phase, table, trouble = "") {
    this.phase = phase;
    this.table = table;
    document.body.dataset.phase = phase;
    byId("standing").dataset.phase = phase;
    say(byId("standing-text"), TEXTS[phase]);
    if (phase === "unreachable") {
      const since = this.#lastHeard ? ["It was last heard at ", time(this.#lastHeard.toISOString()), ". "] : [];
      this.#tell(phase, "The resolver does not answer", [since, "This page goes on trying by itself."]);
    } else if (phase === "filling") {
      this.#fill(table);
    } else if (phase === "blocked") {
      this.#tell(`${phase} ${trouble}`, "The table cannot be filled yet", [sentence(trouble), " ", advice(trouble), " Until then look-ups are answered 503, never “unknown”."]);
    } else if (phase === "old") {
      this.#tell(`${phase} ${trouble}`, "Answers may be old", [sentence(trouble), " ", advice(trouble) || "What is shown is the last that is known."]);
    } else if (table.rows === 0) {
      this.#tell("empty", "Nothing is registered yet", [
        "The table is ready and empty. Declare collections and publish what services own, for a start the example:",
        el("pre", { tabindex: "0" }, "./puri collections apply -f examples/music/collections.yaml\n./puri publish -f examples/music/events.jsonl --wait"),
        "It shows here as it comes.",
      ]);
    } else {
      this.#tell("", "", []);
    }
  }

  /** While it is filled, numbers move in what stands already, so that it is not read out each time. */
  #fill({ reached, end, rows }) {
    const now = performance.now();
    if (reached !== undefined && this.#before?.reached < reached) {
      this.#rate = (1000 * (reached - this.#before.reached)) / (now - this.#before.at);
    }
    this.#before = reached === undefined ? null : { reached, at: now };
    const line = el("p", { class: "progress-text", "aria-live": "off" });
    if (this.#told !== "filling") {
      this.#tell("filling", "The table is being filled", [
        this.#bar,
        line,
        "Until it is complete look-ups are answered 503, never “unknown”. There is nothing to do but wait.",
      ]);
    }
    const left = this.#rate > 0 ? Math.ceil((end - reached) / this.#rate) : 0;
    const known = reached !== undefined && end > 0;
    this.#bar.max = known ? end : 1;
    if (known) this.#bar.value = reached;
    else this.#bar.removeAttribute("value");
    const text = known
      ? `${number(reached)} of ${counted(end, "record")} read, ${number(rows)} rows so far` + (left ? `; about ${left < 120 ? `${left} s` : `${Math.ceil(left / 60)} min`} to go` : "")
      : "Looking for the end of its topic…";
    say(this.#banner.querySelector(".progress-text"), text);
  }

  #tell(what, title, children) {
    if (this.#told === what) return;
    this.#told = what;
    this.#banner.dataset.kind = what.split(/[^a-z]/)[0];
    this.#banner.replaceChildren(...(title ? [el("h2", {}, title), el("div", {}, ...children.flat())] : []));
    show(this.#banner, title !== "");
  }

  /** Health and memory, as facts. */
  facts(stats) {
    const table = this.table ?? {};
    const age = stats?.lag?.ageSeconds;
    const facts = [
      ["Topic", table.topic ?? "–"],
      ["Log read", table.end === undefined ? "–" : `${number(table.reached)} of ${number(table.end)}`],
      ["Brokers heard", age === undefined ? "–" : `${age < 10 ? age.toFixed(1) : Math.round(age)} s ago`],
      ["In use", stats ? `${bytes(stats.memory.bytesInUse)} of ${bytes(stats.memory.bytes)}` : "–"],
      ["Index filled", stats ? `${(100 * stats.memory.load).toFixed(1)} %` : "–"],
    ];
    const list = byId("facts");
    if (list.children.length === 0) list.append(...facts.map(([label]) => el("div", {}, el("dt", {}, label), el("dd"))));
    facts.forEach(([, text], index) => say(list.children[index].lastElementChild, text));
  }
}

function advice(trouble) {
  return ADVICE.find(([pattern]) => pattern.test(trouble))?.[1] ?? "";
}
