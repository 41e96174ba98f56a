// Looks up pURIs and handles, and shows the verdicts and the shard plan.

import { json, send } from "./api.js";
import { byId, counted, el, name, number, sentence, setText, show, time } from "./dom.js";

const VERDICTS = ["found", "merged", "deleted", "unknown", "malformed", "refused", "not-caught-up"];
const MAX_LINK_LENGTH = 1500;
const MAX_RECENT_NAMES = 12;

/** Returns the references in a text: a JSON array of them, the JSON of a batch request, or names. */
export function parseRefs(text) {
  const trimmed = text.trim();
  if (trimmed.startsWith("[") || trimmed.startsWith("{")) {
    try {
      const json = JSON.parse(trimmed);
      const refs = Array.isArray(json) ? json : json.refs;
      if (Array.isArray(refs)) return refs.map((each) => String(each?.ref ?? each));
    } catch {
      // The text is looked up as names; the verdict "malformed" then explains what is wrong.
    }
  }
  return parseNames(trimmed);
}

/**
 * Splits a text at spaces, line breaks and commas. A name may contain a comma, so a comma separates names only before
 * a space or the end of a line.
 */
export function parseNames(text) {
  return text
    .split(/[,;]?\s+/)
    .map((word) => word.replace(/[,;]$/, "").replace(/^"(.*)"$/, "$1"))
    .filter(Boolean);
}

export class LookUp {
  #text = byId("refs");
  #answers = byId("answers");
  #request = null;
  #hasFailed = false;
  /** Called when the text of the field changes. */
  onInput = () => {};

  constructor() {
    byId("look-up").addEventListener("submit", (submitted) => {
      submitted.preventDefault();
      this.lookUp();
    });
    this.#text.addEventListener("keydown", (key) => {
      if (key.key === "Enter" && (key.ctrlKey || key.metaKey)) {
        key.preventDefault();
        this.lookUp();
      }
    });
    this.#text.addEventListener("input", () => this.#showCount());
    addEventListener("hashchange", () => this.#readLink());
    this.#readLink();
  }

  /** Looks up one name and moves the focus to the answer. */
  lookUpOne(ref) {
    this.#text.value = ref;
    this.lookUp();
    byId("answers-title").focus();
    byId("answers-title").scrollIntoView({ block: "nearest" });
  }

  lookUpAll(refs) {
    this.#text.value = refs.join("\n");
    this.lookUp();
    this.#text.focus();
  }

  /** Repeats the last look-up if it failed. */
  retry() {
    if (this.#hasFailed) this.lookUp();
  }

  get isEmpty() {
    return this.#text.value.trim() === "";
  }

  #readLink() {
    if (!location.hash.startsWith("#q=")) return;
    try {
      const text = decodeURIComponent(location.hash.slice(3));
      if (text === this.#text.value) return;
      this.#text.value = text;
      this.lookUp();
    } catch {
      // The page ignores a link with an invalid escape.
    }
  }

  #showCount() {
    const count = parseRefs(this.#text.value).length;
    this.onInput();
    setText(byId("refs-count"), count ? counted(count, "reference") : "");
  }

  async lookUp() {
    this.#showCount();
    const refs = parseRefs(this.#text.value);
    this.#request?.abort();
    const request = new AbortController();
    this.#request = request;
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
        signal: request.signal,
      });
      const answer = await json(response);
      this.#hasFailed = false;
      byId("answers-problem").replaceChildren();
      this.#draw(answer, Number(response.headers.get("Puri-Table-Lag")));
      this.#updateLink();
    } catch (e) {
      if (request.signal.aborted) return;
      this.#hasFailed = true;
      const help = e.kind && [" ", el("a", { href: `/problems/${encodeURIComponent(e.kind)}` }, "What this means")];
      byId("answers-problem").replaceChildren(el("p", { class: "problem" }, sentence(String(e)), help));
      setText(byId("answers-summary"), "");
      this.#answers.replaceChildren();
    } finally {
      if (this.#request === request) this.#answers.removeAttribute("aria-busy");
    }
  }

  /** Puts the names into the page's address, so that the user can share the look-up. */
  #updateLink() {
    const link = `#q=${encodeURIComponent(this.#text.value.trim())}`;
    history.replaceState(null, "", link.length <= MAX_LINK_LENGTH ? link : location.pathname);
  }

  /** @param staleSeconds the seconds for which the table may have missed changes; 0 if it is not stale */
  #draw({ results, shards }, staleSeconds) {
    const counts = VERDICTS.map((verdict) => [verdict, results.filter((each) => each.verdict === verdict).length])
      .filter(([, count]) => count > 0)
      .map(([verdict, count]) => `${number(count)} ${verdict}`);
    const shardCount = counted(Object.keys(shards).length, "shard");
    const staleness = staleSeconds ? `; changes of the last ${counted(staleSeconds, "second")} may be missing` : "";
    setText(byId("answers-summary"), `${counts.join(", ")}; ${shardCount} to query${staleness}`);
    this.#answers.replaceChildren(answerTable(results), shardPlan(results, shards));
  }
}

// The table has explicit roles, because browsers drop its own when a narrow screen lays it out as cards.
function answerTable(results) {
  const titles = ["#", "Name", "Verdict", "Owner", "Shard", "Row"];
  const headings = titles.map((title) => el("th", { scope: "col", role: "columnheader" }, title));
  return el(
    "table",
    { class: "results", role: "table", "aria-labelledby": "answers-title" },
    el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, headings)),
    el("tbody", { role: "rowgroup" }, results.map(answerRow)),
  );
}

/** Explains verdicts that have no place and no detail. */
const EXPLANATIONS = {
  merged: "The survivor is not known.",
  deleted: "The object was deleted.",
  unknown: "The object was never created, or it was erased.",
  "not-caught-up": "The resolver has not read the event of the token yet.",
};

function answerRow(result, index) {
  const { ref, puri, canonical, handle, verdict, owner, shard, uuid, epoch, changedAt } = result;
  const cell = (column, ...children) => el("td", { role: "cell", class: `column-${column}` }, ...children);
  const secondLine = (...children) => el("div", { class: "second-line" }, ...children);
  const version = epoch && secondLine(`epoch ${number(epoch)}, changed `, time(changedAt));
  const explanationCell = cell("explanation", el("div", {}, explanation(result)), version);
  explanationCell.setAttribute("colspan", "3");
  return el(
    "tr",
    { role: "row", id: `answer-${index}`, "data-verdict": verdict },
    cell("index", String(index + 1)),
    cell(
      "ref",
      name(ref),
      puri && puri !== ref && secondLine("is ", name(puri)),
      canonical && secondLine("merged into ", name(canonical)),
      handle && handle !== ref && secondLine(name(handle)),
    ),
    cell("verdict", el("span", { class: `badge ${verdict}` }, verdict)),
    shard
      ? [cell("owner", name(owner)), cell("shard", name(shard)), cell("row", name(uuid), version)]
      : explanationCell,
  );
}

function explanation({ verdict, reason, detail, holder, importing }) {
  if (importing) return "The object is unknown so far. The import of its collection is not complete.";
  const held = holder && [" Held by ", name(holder.owner), " on ", name(holder.shard), "."];
  if (detail || reason) return [reason && `${reason}: `, sentence(detail ?? ""), held];
  return EXPLANATIONS[verdict] ?? "";
}

/** Shows the queries that a caller sends next: one for each shard, with the uuids by collection. */
function shardPlan(results, shards) {
  const entries = Object.entries(shards);
  if (entries.length === 0) return el("p", { class: "empty" }, "No shard has a row of these names.");
  const note =
    entries.length === 1
      ? "One query returns all rows."
      : `${number(entries.length)} queries return all rows, one for each shard. Each # links to the answer.`;
  const cards = entries.map(([shard, indexes]) =>
    shardCard(shard, indexes.map((index) => ({ index, ...results[index] }))),
  );
  return el(
    "section",
    { class: "plan", "aria-labelledby": "plan-title" },
    el("h3", { id: "plan-title" }, "Shard plan"),
    el("p", { class: "note" }, note),
    el("ul", { class: "shards" }, cards),
  );
}

function shardCard(shard, results) {
  // Two names can have the same row; the plan lists the row once.
  const rows = new Map();
  for (const each of results) {
    const row = rows.get(each.uuid) ?? { collection: collectionOf(each), indexes: [] };
    row.indexes.push(each.index);
    rows.set(each.uuid, row);
  }
  const uuids = [...rows.keys()];
  const byCollection = Map.groupBy(rows, ([, { collection }]) => collection);
  return el(
    "li",
    { class: "shard", "data-shard": shard },
    el(
      "div",
      { class: "row" },
      el("h4", {}, name(shard)),
      el("span", { class: "note" }, counted(uuids.length, "row")),
      copyButton(shard, uuids),
    ),
    [...byCollection].map(([collection, members]) => [
      el("p", { class: "group" }, name(collection)),
      el("ul", {}, members.map(([uuid, { indexes }]) =>
        el("li", {}, name(uuid, { class: "uuid" }), " ", indexes.map((index) => [answerLink(index), " "])),
      )),
    ]),
  );
}

const answerLink = (index) =>
  el("a", { href: `#answer-${index}`, "aria-label": `answer ${index + 1}` }, `#${index + 1}`);

const collectionOf = ({ canonical, puri }) => String(canonical ?? puri ?? "").split(":").slice(0, 2).join(":");

function copyButton(shard, uuids) {
  const attributes = { type: "button", class: "quiet copy", "aria-label": `Copy the uuids of ${shard}` };
  const button = el("button", attributes, "Copy");
  button.addEventListener("click", async () => {
    try {
      await copy(uuids.join("\n"));
      setText(button, "Copied");
    } catch {
      setText(button, "Not allowed");
    }
    setTimeout(() => setText(button, "Copy"), 2000);
  });
  return button;
}

async function copy(text) {
  if (navigator.clipboard) {
    await navigator.clipboard.writeText(text);
    return;
  }
  // Browsers offer no clipboard over plain HTTP from another machine, but they copy a selection.
  const area = el("textarea", { class: "clipboard-text", "aria-hidden": "true" });
  area.value = text;
  document.body.append(area);
  area.select();
  const isCopied = document.execCommand("copy");
  area.remove();
  if (!isCopied) throw new Error("not copied");
}

/**
 * Offers recent names while the field is empty.
 *
 * @returns a function that shows or hides the offer
 */
export function offerRecentNames(lookUp, recentNames) {
  const button = byId("use-recent");
  button.addEventListener("click", () => lookUp.lookUpAll(recentNames().slice(0, MAX_RECENT_NAMES)));
  lookUp.onInput = () => show(button, lookUp.isEmpty && recentNames().length > 0);
  return lookUp.onInput;
}
