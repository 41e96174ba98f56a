// The readiness of the table, from /health/ready and /health/started, which need no token.

import { fetchJson } from "./api.js";
import { byId, bytes, counted, el, number, sentence, setText, show, time } from "./dom.js";

/** A resolver that is not ready answers 503 with the reason. */
const NOT_READY = { acceptedStatus: 503 };

const TEXTS = {
  connecting: "Connecting…",
  unreachable: "Unreachable",
  filling: "Filling the table",
  blocked: "Not ready",
  stale: "Answers may be stale",
  ready: "Ready",
};

/** The resolver's reasons while it fills the table without a problem. Other reasons block it. */
const FILLING_REASONS = ["", "not begun", "the table is being filled"];

/** Remedies by the resolver's reason; the first match counts. */
const REMEDIES = [
  [
    /schema registry/i,
    "Check that the schema registry is running and that PURI_SCHEMA_REGISTRY has its address. The resolver retries.",
  ],
  // This reason names its remedy itself.
  [/puri topics create/i, null],
  [/broker/i, "Check that Kafka is running and that PURI_BOOTSTRAP_SERVER has its address. The resolver retries."],
];

const FIRST_STEPS =
  "./puri collections apply -f examples/music/collections.yaml\n./puri publish -f examples/music/events.jsonl --wait";

export class Readiness {
  state = "connecting";
  #banner = byId("banner");
  /** Identifies the content of the banner, which is replaced only if this changes. */
  #bannerKey = "";
  #lastAnswerAt = null;
  #lastProgress = null;
  #recordsPerSecond = 0;
  #progressBar = el("progress", { "aria-label": "Records read" });

  /** Requests the readiness and shows it. */
  async refresh() {
    let ready;
    let started;
    let table;
    try {
      ready = await fetchJson("/health/ready", NOT_READY);
      started = ready.status === "UP" ? ready : await fetchJson("/health/started", NOT_READY);
      table = ready.checks.find((check) => check.name === "table")?.data ?? {};
    } catch {
      // This includes JSON without checks: another server answers at the resolver's address.
      this.#setState("unreachable", {});
      return;
    }
    this.#lastAnswerAt = new Date();
    const reason = table.reason ?? table.detail ?? "";
    if (ready.status === "UP") this.#setState("ready", table);
    else if (started.status === "UP") this.#setState("stale", table, reason);
    else this.#setState(FILLING_REASONS.includes(reason) ? "filling" : "blocked", table, reason);
  }

  get isAnswering() {
    return this.state === "ready" || this.state === "stale";
  }

  #setState(state, table, reason = "") {
    this.state = state;
    this.table = table;
    document.body.dataset.readiness = state;
    byId("readiness").dataset.readiness = state;
    setText(byId("readiness-text"), TEXTS[state]);
    if (state === "unreachable") {
      const lastAnswer = this.#lastAnswerAt
        ? ["Its last answer was at ", time(this.#lastAnswerAt.toISOString()), ". "]
        : [];
      this.#setBanner(state, "The resolver does not answer", [lastAnswer, "This page retries automatically."]);
    } else if (state === "filling") {
      this.#showProgress(table);
    } else if (state === "blocked") {
      this.#setBanner(`${state} ${reason}`, "The resolver cannot fill its table", [
        sentence(reason),
        " ",
        remedy(reason),
        " Until the table is complete, the answer to each look-up is status 503, never “unknown”.",
      ]);
    } else if (state === "stale") {
      this.#setBanner(`${state} ${reason}`, "Answers may be stale", [
        sentence(reason),
        " ",
        remedy(reason) || "The resolver answers from the last state that it has read.",
      ]);
    } else if (table.rows === 0) {
      this.#setBanner("empty", "Nothing is registered yet", [
        "The table is ready and empty. Declare collections and publish identities. To load the example, run:",
        el("pre", { tabindex: "0" }, FIRST_STEPS),
        "This page shows new identities at once.",
      ]);
    } else {
      this.#setBanner("", "", []);
    }
  }

  /** Updates the numbers inside the banner, because a screen reader reads a replaced banner again. */
  #showProgress({ reached, end, rows }) {
    const now = performance.now();
    const last = this.#lastProgress;
    if (reached !== undefined && last?.reached < reached) {
      this.#recordsPerSecond = (1000 * (reached - last.reached)) / (now - last.at);
    }
    this.#lastProgress = reached === undefined ? null : { reached, at: now };
    if (this.#bannerKey !== "filling") {
      this.#setBanner("filling", "The resolver is filling its table", [
        this.#progressBar,
        el("p", { class: "progress-text", "aria-live": "off" }),
        "Until the table is complete, the answer to each look-up is status 503, never “unknown”. No action is needed.",
      ]);
    }
    const isEndKnown = reached !== undefined && end > 0;
    this.#progressBar.max = isEndKnown ? end : 1;
    if (isEndKnown) this.#progressBar.value = reached;
    else this.#progressBar.removeAttribute("value");
    const secondsLeft = this.#recordsPerSecond > 0 ? Math.ceil((end - reached) / this.#recordsPerSecond) : 0;
    const text = isEndKnown
      ? `${number(reached)} of ${counted(end, "record")} read, ${number(rows)} rows so far${timeLeft(secondsLeft)}`
      : "Requesting the end offsets of the topic…";
    setText(this.#banner.querySelector(".progress-text"), text);
  }

  #setBanner(key, title, children) {
    if (this.#bannerKey === key) return;
    this.#bannerKey = key;
    this.#banner.dataset.kind = key.split(/[^a-z]/)[0];
    this.#banner.replaceChildren(...(title ? [el("h2", {}, title), el("div", {}, ...children.flat())] : []));
    show(this.#banner, title !== "");
  }

  /** Shows the topic, the progress and the memory of the table. */
  drawFacts(stats) {
    const table = this.table ?? {};
    const age = stats?.lag?.ageSeconds;
    const facts = [
      ["Topic", table.topic ?? "–"],
      ["Records read", table.end === undefined ? "–" : `${number(table.reached)} of ${number(table.end)}`],
      ["End offsets reported", age === undefined ? "–" : `${age < 10 ? age.toFixed(1) : Math.round(age)} s ago`],
      ["Memory", stats ? `${bytes(stats.memory.bytesInUse)} of ${bytes(stats.memory.bytes)}` : "–"],
      ["Index load", stats ? `${(100 * stats.memory.load).toFixed(1)} %` : "–"],
    ];
    const list = byId("facts");
    if (list.children.length === 0) {
      list.append(...facts.map(([label]) => el("div", {}, el("dt", {}, label), el("dd"))));
    }
    facts.forEach(([, text], index) => setText(list.children[index].lastElementChild, text));
  }
}

function remedy(reason) {
  return REMEDIES.find(([pattern]) => pattern.test(reason))?.[1] ?? "";
}

function timeLeft(seconds) {
  if (!seconds) return "";
  return `; about ${seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`} left`;
}
