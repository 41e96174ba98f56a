// What the table holds, as numbers and bars: /v1/stats and /v1/collections.

import { byId, bytes, counted, el, name, number, say, show, svg } from "./dom.js";

const FIRST = 8;
const STATUSES = ["active", "merged", "deleted"];
const percent = new Intl.NumberFormat("en", { style: "percent", minimumFractionDigits: 1, maximumFractionDigits: 1 });

/** Counts by name as bars, each with its number; the first few, until all are asked for. */
class Chart {
  #figure;
  #note = el("p", { class: "note" });
  #list = el("ol", { class: "bars" });
  #button = el("button", { type: "button", class: "quiet" });
  #all = false;
  #drawn = "";
  #last = null;

  constructor(id, one, many) {
    this.one = one;
    this.many = many;
    this.#figure = byId(id);
    this.#figure.querySelector("figcaption").append(this.#note);
    this.#figure.append(this.#list, this.#button);
    this.#button.addEventListener("click", () => {
      this.#all = !this.#all;
      this.draw(...this.#last);
    });
    show(this.#button, false);
  }

  /** @param declared collections by name; none where what is counted is not declared */
  draw(counts, total, rows, declared = new Map()) {
    this.#last = [counts, total, rows, declared];
    const drawn = JSON.stringify([counts, total, rows, this.#all, [...declared.values()]]);
    if (drawn === this.#drawn) return;
    this.#drawn = drawn;
    say(this.#note, counted(total, this.one, this.many));
    const most = Math.max(1, ...counts.map((each) => each.rows));
    this.#list.replaceChildren(...counts.slice(0, this.#all ? counts.length : FIRST).map((each) => bar(each, most, rows, about(each.name, declared))));
    show(this.#button, counts.length > FIRST);
    const listed = counts.length < total ? `the ${number(counts.length)} largest` : `all ${number(total)}`;
    say(this.#button, this.#all ? "Show fewer" : `Show ${listed}`);
  }

  clear(text) {
    this.#drawn = "";
    this.#list.replaceChildren();
    show(this.#button, false);
    say(this.#note, text);
  }
}

function bar({ name: label, rows }, most, all, more) {
  const filled = el("span", { class: "filled" });
  // By the object model: the page allows no style in its markup.
  filled.style.inlineSize = `${(100 * rows) / most}%`;
  return el(
    "li",
    { "data-name": label, "data-rows": rows },
    el("span", { class: "label" }, name(label), more),
    el("span", { class: "value" }, number(rows), " ", el("span", { class: "share" }, all ? percent.format(rows / all) : "")),
    el("span", { class: "bar", "aria-hidden": "true" }, filled),
  );
}

/** What its declaration says of a collection. */
function about(label, declared) {
  const one = declared.get(label);
  if (!one) return declared.size ? el("span", { class: "tag" }, "not declared") : null;
  return [
    one.prefix && el("span", { class: "tag", title: "What its handles begin with" }, `${one.prefix}_`),
    one.public && el("span", { class: "tag", title: "The public listener may name its pURIs" }, "public"),
    one.retired && el("span", { class: "tag" }, "retired"),
    one.description && el("span", { class: "about" }, one.description),
  ];
}

export class Figures {
  #collections = new Chart("chart-collections", "collection", "collections");
  #shards = new Chart("chart-shards", "shard", "shards");
  #owners = new Chart("chart-owners", "owner", "owners");
  #status = byId("chart-status");
  #declared = new Map();

  declare(collections) {
    this.#declared = new Map(collections.map((each) => [each.collection, each]));
  }

  draw(stats) {
    say(byId("figure-rows"), number(stats.rows));
    say(byId("figure-handles"), number(stats.handles));
    say(byId("figure-collections"), number(stats.collections));
    say(byId("figure-shards"), number(stats.shards));
    say(byId("figure-lag"), stats.lag.records === undefined ? "–" : counted(stats.lag.records, "record"));
    say(byId("figure-memory"), bytes(stats.memory.bytes));
    this.#collections.draw(this.#withDeclared(stats.byCollection), Math.max(stats.collections, this.#declared.size), stats.rows, this.#declared);
    this.#shards.draw(stats.byShard, stats.shards, stats.rows);
    this.#owners.draw(stats.byOwner, stats.owners, stats.rows);
    this.#drawStatus(stats.byStatus, stats.rows);
    const options = [...new Set([...this.#declared.keys(), ...stats.byCollection.map((each) => each.name)])].slice(0, 500);
    const list = byId("collections");
    if (list.children.length !== options.length) list.replaceChildren(...options.map((each) => el("option", { value: each })));
  }

  clear(text) {
    for (const id of ["rows", "handles", "collections", "shards", "lag", "memory"]) say(byId(`figure-${id}`), "–");
    for (const chart of [this.#collections, this.#shards, this.#owners]) chart.clear(text);
    this.#status.replaceChildren();
  }

  /** What is declared and has no rows yet is there too. */
  #withDeclared(counts) {
    const known = new Set(counts.map((each) => each.name));
    return [...counts, ...[...this.#declared.keys()].filter((each) => !known.has(each)).map((each) => ({ name: each, rows: 0 }))];
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
    this.#status.replaceChildren(
      svg("svg", { class: "stacked", role: "img", "aria-label": `Rows by status: ${label}`, viewBox: "0 0 100 10", preserveAspectRatio: "none" }, parts),
      el("ul", { class: "legend" }, counts.map(([status, count]) => el("li", { "data-status": status, "data-rows": count }, el("span", { class: `swatch ${status}`, "aria-hidden": "true" }), `${status} `, el("b", {}, number(count))))),
    );
  }
}
