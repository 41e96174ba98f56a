// Any mix of names in, verdicts and the shard plan out.

import { json, send } from "./api.js";
import { byId, counted, el, name, number, say, sentence, show, time } from "./dom.js";

const VERDICTS = ["found", "merged", "deleted", "unknown", "malformed", "refused", "not-caught-up"];
const LONGEST_LINK = 1500;
const MOST_RECENT = 12;

/** The references in a text: a JSON array of them (or a whole batch), or names. */
export function refsOf(text) {
  const trimmed = text.trim();
  if (trimmed.startsWith("[") || trimmed.startsWith("{")) {
    try {
      const json = JSON.parse(trimmed);
      const refs = Array.isArray(json) ? json : json.refs;
      if (Array.isArray(refs)) return refs.map((each) => String(each?.ref ?? each));
    } catch {
      // Then it is taken as names, which will be malformed and say why.
    }
  }
  return namesIn(trimmed);
}

/**
 * Names between spaces, line breaks and commas. A comma is a separator only before a space or the end of a
 * line, for names may have one.
 */
export function namesIn(text) {
  return text
    .split(/[,;]?\s+/)
    .map((word) => word.replace(/[,;]$/, "").replace(/^"(.*)"$/, "$1"))
    .filter(Boolean);
}

export class LookUp {
  #text = byId("refs");
  #answers = byId("answers");
  #under = null;
  #isUnanswered = false;
  /** Told of every change of what stands there. */
  onInput = () => {};

  constructor() {
    byId("look-up").addEventListener("submit", (submitted) => {
      submitted.preventDefault();
      this.ask();
    });
    this.#text.addEventListener("keydown", (key) => {
      if (key.key === "Enter" && (key.ctrlKey || key.metaKey)) {
        key.preventDefault();
        this.ask();
      }
    });
    this.#text.addEventListener("input", () => this.#count());
    addEventListener("hashchange", () => this.#fromLink());
    this.#fromLink();
  }

  /** Looks up one name, and goes to the answer. */
  one(ref) {
    this.#text.value = ref;
    this.ask();
    byId("answers-title").focus();
    byId("answers-title").scrollIntoView({ block: "nearest" });
  }

  fill(refs) {
    this.#text.value = refs.join("\n");
    this.ask();
    this.#text.focus();
  }

  /** Asks again what could not be answered. */
  again() {
    if (this.#isUnanswered) this.ask();
  }

  get isEmpty() {
    return this.#text.value.trim() === "";
  }

  #fromLink() {
    if (!location.hash.startsWith("#q=")) return;
    try {
      const text = decodeURIComponent(location.hash.slice(3));
      if (text === this.#text.value) return;
      this.#text.value = text;
      this.ask();
    } catch {
      // No link of ours.
    }
  }

  #count() {
    const count = refsOf(this.#text.value).length;
    this.onInput();
    say(byId("refs-count"), count ? counted(count, "reference") : "");
  }

  async ask() {
    this.#count();
    const refs = refsOf(this.#text.value);
    this.#under?.abort();
    const under = new AbortController();
    this.#under = under;
    if (refs.length === 0) {
      this.#text.focus();
      return;
    }
    this.#answers.setAttribute("aria-busy", "true");
    try {
      const response = await send("/v1/resolve", {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ refs, groupBy: "shard" }),
        signal: under.signal,
      });
      const answer = await json(response);
      this.#isUnanswered = false;
      byId("answers-problem").replaceChildren();
      this.#show(answer, Number(response.headers.get("Puri-Table-Lag")));
      this.#link();
    } catch (e) {
      if (under.signal.aborted) return;
      this.#isUnanswered = true;
      byId("answers-problem").replaceChildren(
        el("p", { class: "problem" }, sentence(String(e)), e.kind && [" ", el("a", { href: `/problems/${encodeURIComponent(e.kind)}` }, "What this means")]),
      );
      say(byId("answers-summary"), "");
      this.#answers.replaceChildren();
    } finally {
      if (this.#under === under) this.#answers.removeAttribute("aria-busy");
    }
  }

  /** So that what is looked at can be sent to a colleague. */
  #link() {
    const link = `#q=${encodeURIComponent(this.#text.value.trim())}`;
    history.replaceState(null, "", link.length <= LONGEST_LINK ? link : location.pathname);
  }

  /** @param lag seconds since the table was last known to have all; 0 while it has */
  #show({ results, shards }, lag) {
    const counts = VERDICTS.map((verdict) => [verdict, results.filter((each) => each.verdict === verdict).length])
      .filter(([, count]) => count > 0)
      .map(([verdict, count]) => `${number(count)} ${verdict}`);
    const places = Object.keys(shards).length;
    say(byId("answers-summary"), `${counts.join(", ")}; ${counted(places, "shard")} to ask${lag ? `; as it was ${counted(lag, "second")} ago` : ""}`);
    this.#answers.replaceChildren(table(results), plan(results, shards));
  }
}

function table(results) {
  const heads = ["#", "Asked for", "Verdict", "Owner", "Shard", "Row"];
  return el(
    "table",
    { class: "results", role: "table", "aria-labelledby": "answers-title" },
    el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, heads.map((head) => el("th", { scope: "col", role: "columnheader" }, head)))),
    el("tbody", { role: "rowgroup" }, results.map(row)),
  );
}

/** What there is to say of one that is nowhere. */
const NOWHERE = {
  merged: "What it goes on as is not known.",
  deleted: "It was there, and is no more.",
  unknown: "Never seen, or erased.",
  "not-caught-up": "The table has not seen that event yet.",
};

// The roles are said, because a table that is laid out as cards on a narrow screen loses its own.
function row(result, index) {
  const cell = (kind, ...children) => el("td", { role: "cell", class: `of-${kind}` }, ...children);
  const epoch = result.epoch && el("div", { class: "more" }, `epoch ${number(result.epoch)}, changed `, time(result.changedAt));
  const nowhere = cell("nowhere", el("div", {}, why(result)), epoch);
  nowhere.setAttribute("colspan", "3");
  return el(
    "tr",
    { role: "row", id: `answer-${index}`, "data-verdict": result.verdict },
    cell("index", String(index + 1)),
    cell(
      "ref",
      name(result.ref),
      result.puri && result.puri !== result.ref && el("div", { class: "more" }, "is ", name(result.puri)),
      result.canonical && el("div", { class: "more" }, "goes on as ", name(result.canonical)),
      result.handle && result.handle !== result.ref && el("div", { class: "more" }, name(result.handle)),
    ),
    cell("verdict", el("span", { class: `badge ${result.verdict}` }, result.verdict)),
    result.shard
      ? [cell("owner", name(result.owner)), cell("shard", name(result.shard)), cell("row", name(result.uuid), epoch)]
      : nowhere,
  );
}

function why({ verdict, reason, detail, holder, importing }) {
  if (importing) return "Not known so far. Its collection is being imported.";
  const held = holder && [" Held by ", name(holder.owner), " on ", name(holder.shard), "."];
  return detail || reason ? [reason && `${reason}: `, sentence(detail ?? ""), held] : (NOWHERE[verdict] ?? "");
}

/** What a caller does next: one query for each shard, by collection, for these rows. */
function plan(results, shards) {
  const entries = Object.entries(shards);
  if (entries.length === 0) return el("p", { class: "empty" }, "None of these is in a shard.");
  return el(
    "section",
    { class: "plan", "aria-labelledby": "plan-title" },
    el("h3", { id: "plan-title" }, "Shard plan"),
    el("p", { class: "note" }, entries.length === 1 ? "One query for all of it." : `${number(entries.length)} queries, one for each shard; # leads back to what was asked for.`),
    el("ul", { class: "shards" }, entries.map(([shard, indexes]) => card(shard, indexes.map((index) => ({ index, ...results[index] }))))),
  );
}

function card(shard, placed) {
  // Two names can lead to one row, which is asked for once.
  const rows = new Map();
  for (const each of placed) {
    const known = rows.get(each.uuid) ?? { collection: collectionOf(each), asked: [] };
    known.asked.push(each.index);
    rows.set(each.uuid, known);
  }
  const uuids = [...rows.keys()];
  const byCollection = Map.groupBy(rows, ([, { collection }]) => collection);
  return el(
    "li",
    { class: "place", "data-shard": shard },
    el("div", { class: "row" }, el("h4", {}, name(shard)), el("span", { class: "note" }, counted(uuids.length, "row")), copyButton(shard, uuids)),
    [...byCollection].map(([collection, members]) => [
      el("p", { class: "group" }, name(collection)),
      el("ul", {}, members.map(([uuid, { asked }]) =>
        el("li", {}, name(uuid, { class: "uuid" }), " ", asked.map((index) => [el("a", { href: `#answer-${index}`, "aria-label": `answer ${index + 1}` }, `#${index + 1}`), " "])))),
    ]),
  );
}

const collectionOf = ({ canonical, puri }) => String(canonical ?? puri ?? "").split(":").slice(0, 2).join(":");

function copyButton(shard, uuids) {
  const button = el("button", { type: "button", class: "quiet copy", "aria-label": `Copy the uuids of ${shard}` }, "Copy");
  button.addEventListener("click", async () => {
    try {
      await copy(uuids.join("\n"));
      say(button, "Copied");
    } catch {
      say(button, "Not allowed");
    }
    setTimeout(() => say(button, "Copy"), 2000);
  });
  return button;
}

async function copy(text) {
  if (navigator.clipboard) {
    await navigator.clipboard.writeText(text);
    return;
  }
  // Over plain HTTP from another machine there is no clipboard, only what is selected.
  const area = el("textarea", { class: "aside-copy", "aria-hidden": "true" });
  area.value = text;
  document.body.append(area);
  area.select();
  const isCopied = document.execCommand("copy");
  area.remove();
  if (!isCopied) throw new Error("not copied");
}

/** Offers names that were seen lately, as long as none are there. */
export function offerRecent(lookUp, names) {
  const button = byId("use-recent");
  button.addEventListener("click", () => lookUp.fill(names().slice(0, MOST_RECENT)));
  lookUp.onInput = () => show(button, lookUp.isEmpty && names().length > 0);
  return lookUp.onInput;
}
