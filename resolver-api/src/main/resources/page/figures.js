// Figures and charts of the table, from /v1/stats and /v1/collections.

import { byId, bytes, counted, el, name, number, setText, show, svg } from "./dom.js";

/** The number of bars of a chart before the user asks for all. */
const FIRST_BARS = 8;
const MAX_SUGGESTIONS = 500;
const STATUSES = ["active", "merged", "deleted"];
const percentFormat = new Intl.NumberFormat("en", {
  style: "percent",
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
});

/** A bar chart of the rows by name. */
class Chart {
  #figure;
  #note = el("p", { class: "note" });
  #list = el("ol", { class: "bars" });
  #button = el("button", { type: "button", class: "quiet" });
  #isExpanded = false;
  #drawn = "";
  #lastArguments = null;

  constructor(id, one, many) {
    this.one = one;
    this.many = many;
    this.#figure = byId(id);
    this.#figure.querySelector("figcaption").append(this.#note);
    this.#figure.append(this.#list, this.#button);
    this.#button.addEventListener("click", () => {
      this.#isExpanded = !this.#isExpanded;
      this.draw(...this.#lastArguments);
    });
    show(this.#button, false);
  }

  /** @param declarations the declared collections by name; empty if the chart does not count collections */
  draw(counts, total, rows, declarations = new Map()) {
    this.#lastArguments = [counts, total, rows, declarations];
    const drawn = JSON.stringify([counts, total, rows, this.#isExpanded, [...declarations.values()]]);
    if (drawn === this.#drawn) return;
    this.#drawn = drawn;
    setText(this.#note, counted(total, this.one, this.many));
    const max = Math.max(1, ...counts.map((each) => each.rows));
    const shown = counts.slice(0, this.#isExpanded ? counts.length : FIRST_BARS);
    this.#list.replaceChildren(...shown.map((each) => bar(each, max, rows, declaration(each.name, declarations))));
    show(this.#button, counts.length > FIRST_BARS);
    const listed = counts.length < total ? `the ${number(counts.length)} largest` : `all ${number(total)}`;
    setText(this.#button, this.#isExpanded ? "Show fewer" : `Show ${listed}`);
  }

  clear(text) {
    this.#drawn = "";
    this.#list.replaceChildren();
    show(this.#button, false);
    setText(this.#note, text);
  }
}

function bar({ name: label, rows }, max, allRows, details) {
  const filled = el("span", { class: "filled" });
  // Not as an attribute: the Content-Security-Policy forbids styles in markup.
  filled.style.inlineSize = `${(100 * rows) / max}%`;
  const share = el("span", { class: "share" }, allRows ? percentFormat.format(rows / allRows) : "");
  return el(
    "li",
    { "data-name": label, "data-rows": rows },
    el("span", { class: "label" }, name(label), details),
    el("span", { class: "value" }, number(rows), " ", share),
    el("span", { class: "bar", "aria-hidden": "true" }, filled),
  );
}

/** Returns the tags and the description of a collection, from its declaration. */
function declaration(collection, declarations) {
  const declared = declarations.get(collection);
  if (!declared) return declarations.size ? el("span", { class: "tag" }, "not declared") : null;
  return [
    declared.prefix && el("span", { class: "tag", title: "The prefix of its handles" }, `${declared.prefix}_`),
    declared.public && el("span", { class: "tag", title: "The public listener shows its pURIs" }, "public"),
    declared.retired && el("span", { class: "tag" }, "retired"),
    declared.description && el("span", { class: "description" }, declared.description),
  ];
}

export class Figures {
  #collections = new Chart("chart-collections", "collection", "collections");
  #shards = new Chart("chart-shards", "shard", "shards");
  #owners = new Chart("chart-owners", "owner", "owners");
  #status = byId("chart-status");
  #declarations = new Map();

  setDeclarations(collections) {
    this.#declarations = new Map(collections.map((each) => [each.collection, each]));
  }

  draw(stats) {
    setText(byId("figure-rows"), number(stats.rows));
    setText(byId("figure-handles"), number(stats.handles));
    setText(byId("figure-collections"), number(stats.collections));
    setText(byId("figure-shards"), number(stats.shards));
    setText(byId("figure-lag"), stats.lag.records === undefined ? "–" : counted(stats.lag.records, "record"));
    setText(byId("figure-memory"), bytes(stats.memory.bytes));
    const collectionCount = Math.max(stats.collections, this.#declarations.size);
    const collections = this.#withDeclared(stats.byCollection);
    this.#collections.draw(collections, collectionCount, stats.rows, this.#declarations);
    this.#shards.draw(stats.byShard, stats.shards, stats.rows);
    this.#owners.draw(stats.byOwner, stats.owners, stats.rows);
    this.#drawStatus(stats.byStatus, stats.rows);
    this.#suggestCollections(stats.byCollection);
  }

  #suggestCollections(counts) {
    const names = new Set([...this.#declarations.keys(), ...counts.map((each) => each.name)]);
    const options = [...names].slice(0, MAX_SUGGESTIONS);
    const list = byId("collections");
    if (list.children.length !== options.length) {
      list.replaceChildren(...options.map((each) => el("option", { value: each })));
    }
  }

  clear(text) {
    for (const id of ["rows", "handles", "collections", "shards", "lag", "memory"]) setText(byId(`figure-${id}`), "–");
    for (const chart of [this.#collections, this.#shards, this.#owners]) chart.clear(text);
    this.#status.replaceChildren();
  }

  /** Adds the declared collections that have no rows yet. */
  #withDeclared(counts) {
    const counted = new Set(counts.map((each) => each.name));
    const empty = [...this.#declarations.keys()].filter((each) => !counted.has(each));
    return [...counts, ...empty.map((each) => ({ name: each, rows: 0 }))];
  }

  #drawStatus(byStatus, rows) {
    const counts = STATUSES.map((status) => [status, byStatus[status] ?? 0]);
    const label = counts.map(([status, count]) => `${number(count)} ${status}`).join(", ");
    if (this.#status.dataset.drawn === label) return;
    this.#status.dataset.drawn = label;
    let x = 0;
    const parts = counts.map(([status, count]) => {
      const width = rows ? (100 * count) / rows : 0;
      const part = svg("rect", { class: status, x, width, height: 10 });
      x += width;
      return part;
    });
    const attributes = {
      class: "stacked",
      role: "img",
      "aria-label": `Rows by status: ${label}`,
      viewBox: "0 0 100 10",
      preserveAspectRatio: "none",
    };
    this.#status.replaceChildren(svg("svg", attributes, parts), el("ul", { class: "legend" }, counts.map(legendEntry)));
  }
}

function legendEntry([status, count]) {
  return el(
    "li",
    { "data-status": status, "data-rows": count },
    el("span", { class: `swatch ${status}`, "aria-hidden": "true" }),
    `${status} `,
    el("b", {}, number(count)),
  );
}
