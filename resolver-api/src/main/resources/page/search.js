// Searches all shards while the user types. Results are one list, or grouped by shard or collection; the counts are
// filters.

import { json, send } from "./api.js";
import { byId, counted, el, name, number, sentence, setText, show } from "./dom.js";

/** The pause after a keystroke before the search is sent. */
const TYPING_PAUSE_MILLIS = 150;
const LIMIT = 20;
const MAX_FACET_VALUES = 12;
const ENTITIES = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };
const FACETS = { collection: "Collections", shard: "Shards" };

/**
 * Converts a highlight into texts and em elements. The indexer puts matches into em tags and escapes the rest, so any
 * other markup is text.
 */
export function parseHighlight(html) {
  return html
    .split(/<em>(.*?)<\/em>/su)
    .map((piece, index) => (index % 2 ? el("em", {}, unescapeHtml(piece)) : unescapeHtml(piece)));
}

const unescapeHtml = (text) => text.replace(/&(amp|lt|gt|quot|#39);/gu, (all, entity) => ENTITIES[entity]);

export class Search {
  #text = byId("search-text");
  #list = byId("search-results");
  #facets = byId("search-facets");
  #more = byId("search-more");
  #grouping = byId("search-grouping");
  #filters = { collection: new Set(), shard: new Set() };
  #results = [];
  #counts = {};
  #cursor = "";
  // The query of the shown results. The cursor belongs to it, and the text of the field may have changed since.
  #shownQuery = new URLSearchParams();
  #timer = 0;
  #request = null;
  #lookUp;
  #isUnavailable = false;
  #hasFailed = true;

  /** @param lookUp a function that looks up a pURI */
  constructor(lookUp) {
    this.#lookUp = lookUp;
    byId("search-form").addEventListener("submit", (submitted) => {
      submitted.preventDefault();
      this.search();
    });
    this.#text.addEventListener("input", () => {
      clearTimeout(this.#timer);
      show(this.#more, false);
      this.#timer = setTimeout(() => this.search(), TYPING_PAUSE_MILLIS);
    });
    this.#grouping.addEventListener("change", () => this.#draw());
    this.#more.addEventListener("click", () => this.#send(this.#shownQuery, this.#cursor));
  }

  /** Repeats the last search if it failed. Returns false if the resolver has no search. */
  async retry() {
    if (this.#hasFailed) await this.search();
    return !this.#isUnavailable;
  }

  /** Requests the first page for the text and the filters. */
  search() {
    clearTimeout(this.#timer);
    const query = new URLSearchParams({ limit: LIMIT });
    const text = this.#text.value;
    if (text.trim()) query.set("q", text);
    for (const [facet, values] of Object.entries(this.#filters)) {
      for (const value of values) query.append(facet, value);
    }
    return this.#send(query);
  }

  /** Requests the first page, or the page after a cursor. A later request cancels an earlier one. */
  async #send(query, cursor = "") {
    if (this.#isUnavailable) return;
    this.#request?.abort();
    const request = new AbortController();
    this.#request = request;
    const parameters = new URLSearchParams(query);
    if (cursor) parameters.set("cursor", cursor);
    else show(this.#more, false);
    this.#list.setAttribute("aria-busy", "true");
    try {
      const response = await send(`/v1/search?${parameters}`, { signal: request.signal });
      const answer = await json(response);
      const lagSeconds = Number(response.headers.get("Puri-Index-Lag"));
      this.#results = cursor ? [...this.#results, ...answer.results] : answer.results;
      this.#counts = answer.facets ?? {};
      this.#cursor = answer.cursor ?? "";
      this.#shownQuery = query;
      show(byId("search"), true);
      this.#hasFailed = false;
      byId("search-problem").replaceChildren();
      setText(byId("search-summary"), summary(answer, query.get("q") ?? "", lagSeconds));
      this.#draw();
    } catch (e) {
      if (request.signal.aborted) return;
      this.#hasFailed = true;
      // The resolver answers this if PURI_SEARCH_URL is not set.
      this.#isUnavailable = e.kind === "no-search";
      show(byId("search"), !this.#isUnavailable);
      this.#showError(e);
    } finally {
      if (this.#request === request) this.#list.removeAttribute("aria-busy");
    }
  }

  #showError(e) {
    byId("search-problem").replaceChildren(sentence(String(e)));
    setText(byId("search-summary"), "");
    this.#results = [];
    this.#cursor = "";
    this.#draw();
  }

  #draw() {
    const field = this.#grouping.value;
    const groups = field ? Map.groupBy(this.#results, (each) => each[field]) : new Map([["", this.#results]]);
    this.#list.replaceChildren(...[...groups].map(([title, results]) => this.#group(title, results)));
    show(this.#more, this.#cursor !== "");
    this.#drawFacets();
  }

  #group(title, results) {
    const count = el("span", { class: "note" }, counted(results.length, "result"));
    return el(
      "li",
      { class: "hit-group", "data-group": title },
      title && el("h3", {}, name(title), " ", count),
      el("ol", {}, results.map((each) => this.#hit(each))),
    );
  }

  /** Replaces the buttons of the facets. The new button of a value gets the focus if the old one had it. */
  #drawFacets() {
    const { facet, value } = document.activeElement?.dataset ?? {};
    this.#facets.replaceChildren(...Object.entries(FACETS).map(([each, title]) => this.#facet(each, title)));
    if (facet) this.#facets.querySelector(`[data-facet="${facet}"][data-value="${CSS.escape(value)}"]`)?.focus();
  }

  #facet(facet, title) {
    const filter = this.#filters[facet];
    const counts = new Map(Object.entries(this.#counts[facet] ?? {}));
    for (const value of filter) if (!counts.has(value)) counts.set(value, 0);
    if (counts.size === 0) return "";
    return el(
      "div",
      { class: "row", role: "group", "aria-label": title },
      el("span", { class: "note" }, title),
      [...counts].slice(0, MAX_FACET_VALUES).map(([value, count]) => this.#facetButton(facet, value, count)),
    );
  }

  #facetButton(facet, value, count) {
    const filter = this.#filters[facet];
    const attributes = {
      type: "button",
      class: "quiet facet",
      "aria-pressed": String(filter.has(value)),
      "data-facet": facet,
      "data-value": value,
    };
    const button = el("button", attributes, name(value), " ", number(count));
    button.addEventListener("click", () => {
      if (!filter.delete(value)) filter.add(value);
      this.search();
    });
    return button;
  }

  #hit({ puri, owner, shard, attributes, highlights }) {
    const link = el("button", { type: "button", class: "link", title: "Look up this name" }, name(puri));
    link.addEventListener("click", () => this.#lookUp(puri));
    return el(
      "li",
      { class: "hit", "data-puri": puri },
      el("div", { class: "row" }, link, el("span", { class: "note" }, name(owner), " on ", name(shard))),
      Object.entries(attributes ?? {}).map(([attribute, text]) =>
        el(
          "p",
          { class: "attribute" },
          el("span", { class: "note" }, name(attribute)),
          " ",
          el("bdi", {}, highlights?.[attribute] ? highlightedText(highlights[attribute]) : text),
        ),
      ),
    );
  }
}

const highlightedText = (pieces) => pieces.flatMap((piece, index) => [index ? " … " : "", parseHighlight(piece)]);

function summary({ total, totalIsExact }, text, lagSeconds) {
  const count = text.trim() ? counted(total, "result") : `${counted(total, "identity", "identities")}, newest first`;
  const lag = lagSeconds ? `; the index is ${counted(lagSeconds, "second")} behind` : "";
  return `${totalIsExact ? "" : "at least "}${count}${lag}`;
}
