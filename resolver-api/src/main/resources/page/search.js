// Search over all shards as one types: one mixed list, or by shard or collection, with counts as filters.

import { json, send } from "./api.js";
import { byId, counted, el, name, number, say, sentence, show } from "./dom.js";

const PAUSE = 150;
const LIMIT = 20;
const MOST_FACETS = 12;
const ENTITIES = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };
const FACETS = { collection: "Collections", shard: "Shards" };

/**
 * What a highlight says, as text and elements: matches stand between em tags and all else is escaped, so
 * whatever else looks like markup is text.
 */
export function marked(html) {
  return html
    .split(/<em>(.*?)<\/em>/su)
    .map((piece, index) => (index % 2 ? el("em", {}, plain(piece)) : plain(piece)));
}

const plain = (text) => text.replace(/&(amp|lt|gt|quot|#39);/gu, (all, entity) => ENTITIES[entity]);

export class Search {
  #text = byId("search-text");
  #list = byId("search-results");
  #facets = byId("search-facets");
  #more = byId("search-more");
  #grouping = byId("search-grouping");
  #chosen = { collection: new Set(), shard: new Set() };
  #results = [];
  #counts = {};
  #cursor = "";
  // What the results are of, and what the cursor goes on with: the text may have changed since.
  #asked = new URLSearchParams();
  #timer = 0;
  #under = null;
  #lookUp;
  #isOff = false;
  #isUnanswered = true;

  /** @param lookUp is given the pURI of a result */
  constructor(lookUp) {
    this.#lookUp = lookUp;
    byId("search-form").addEventListener("submit", (submitted) => {
      submitted.preventDefault();
      this.look();
    });
    this.#text.addEventListener("input", () => {
      clearTimeout(this.#timer);
      show(this.#more, false);
      this.#timer = setTimeout(() => this.look(), PAUSE);
    });
    this.#grouping.addEventListener("change", () => this.#draw());
    this.#more.addEventListener("click", () => this.#look(this.#asked, this.#cursor));
  }

  /** Asks what could not be answered, and answers whether to ask again. */
  async again() {
    if (this.#isUnanswered) await this.look();
    return !this.#isOff;
  }

  /** Asks for the first page of what is typed and chosen. */
  look() {
    clearTimeout(this.#timer);
    const query = new URLSearchParams({ limit: LIMIT });
    const text = this.#text.value;
    if (text.trim()) query.set("q", text);
    for (const [facet, values] of Object.entries(this.#chosen)) {
      for (const value of values) query.append(facet, value);
    }
    return this.#look(query);
  }

  /** Asks, for the first page or for the one behind a cursor; whoever asks again is answered last. */
  async #look(asked, cursor = "") {
    if (this.#isOff) return;
    this.#under?.abort();
    const under = new AbortController();
    this.#under = under;
    const query = new URLSearchParams(asked);
    if (cursor) query.set("cursor", cursor);
    if (!cursor) show(this.#more, false);
    this.#list.setAttribute("aria-busy", "true");
    try {
      const response = await send(`/v1/search?${query}`, { signal: under.signal });
      const answer = await json(response);
      const behind = Number(response.headers.get("Puri-Index-Lag"));
      this.#results = cursor ? [...this.#results, ...answer.results] : answer.results;
      this.#counts = answer.facets ?? {};
      this.#cursor = answer.cursor ?? "";
      this.#asked = asked;
      show(byId("search"), true);
      this.#isUnanswered = false;
      byId("search-problem").replaceChildren();
      say(byId("search-summary"), summary(answer, asked.get("q") ?? "", behind));
      this.#draw();
    } catch (e) {
      if (under.signal.aborted) return;
      this.#isUnanswered = true;
      // A resolver that knows of no indexer has no search to show.
      this.#isOff = e.kind === "no-search";
      show(byId("search"), !this.#isOff);
      this.#fail(e);
    } finally {
      if (this.#under === under) this.#list.removeAttribute("aria-busy");
    }
  }

  #fail(e) {
    const text = e.isUnreachable ? "The resolver does not answer." : sentence(String(e));
    byId("search-problem").replaceChildren(text);
    say(byId("search-summary"), "");
    this.#results = [];
    this.#cursor = "";
    this.#draw();
  }

  #draw() {
    const by = this.#grouping.value;
    const groups = by ? Map.groupBy(this.#results, (each) => each[by]) : new Map([["", this.#results]]);
    this.#list.replaceChildren(
      ...[...groups].map(([group, results]) =>
        el("li", { class: "found-in", "data-group": group }, group && el("h3", {}, name(group), " ", el("span", { class: "note" }, counted(results.length, "result"))),
          el("ol", {}, results.map((each) => this.#row(each))))),
    );
    show(this.#more, this.#cursor !== "");
    const had = document.activeElement?.dataset?.facet && [document.activeElement.dataset.facet, document.activeElement.dataset.value];
    this.#facets.replaceChildren(...Object.entries(FACETS).map(([facet, title]) => this.#facet(facet, title)));
    // Buttons are made anew; who was on one stays there.
    if (had) this.#facets.querySelector(`[data-facet="${had[0]}"][data-value="${CSS.escape(had[1])}"]`)?.focus();
  }

  #facet(facet, title) {
    const chosen = this.#chosen[facet];
    const counts = new Map(Object.entries(this.#counts[facet] ?? {}));
    for (const value of chosen) if (!counts.has(value)) counts.set(value, 0);
    if (counts.size === 0) return "";
    return el(
      "div",
      { class: "row", role: "group", "aria-label": title },
      el("span", { class: "note" }, title),
      [...counts].slice(0, MOST_FACETS).map(([value, count]) => {
        const button = el("button", { type: "button", class: "quiet facet", "aria-pressed": String(chosen.has(value)), "data-facet": facet, "data-value": value }, name(value), " ", number(count));
        button.addEventListener("click", () => {
          if (!chosen.delete(value)) chosen.add(value);
          this.look();
        });
        return button;
      }),
    );
  }

  #row(result) {
    const link = el("button", { type: "button", class: "link", title: "Look it up" }, name(result.puri));
    link.addEventListener("click", () => this.#lookUp(result.puri));
    const highlights = result.highlights ?? {};
    return el(
      "li",
      { class: "hit", "data-puri": result.puri },
      el("div", { class: "row" }, link, el("span", { class: "note" }, name(result.owner), " on ", name(result.shard))),
      Object.entries(result.attributes ?? {}).map(([attribute, text]) => {
        const pieces = highlights[attribute];
        return el("p", { class: "attribute" }, el("span", { class: "note" }, name(attribute)), " ", el("bdi", {}, pieces ? pieces.flatMap((piece, index) => [index ? " … " : "", marked(piece)]) : text));
      }),
    );
  }
}

function summary({ total, totalIsExact }, text, behind) {
  const what = text.trim() ? counted(total, "result") : `${counted(total, "identity", "identities")}, newest first`;
  return `${totalIsExact ? "" : "at least "}${what}${behind ? `; the index is ${counted(behind, "second")} behind` : ""}`;
}
