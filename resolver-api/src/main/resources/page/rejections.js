// What was refused lately, and why.

import { ask } from "./api.js";
import { byId, counted, el, name, say, sentence, show, time } from "./dom.js";

const LIMIT = 100;

export class Rejections {
  #list = byId("rejections");
  #filter = byId("rejections-filter");
  #lookUp;
  #shown = "";

  constructor(lookUp) {
    this.#lookUp = lookUp;
    byId("rejections-form").addEventListener("submit", (submitted) => {
      submitted.preventDefault();
      this.look();
    });
    this.#filter.addEventListener("change", () => this.look());
  }

  get recent() {
    return [...this.#list.querySelectorAll("[data-puri]")].map((row) => row.dataset.puri);
  }

  /** Asks, and answers whether to ask again. */
  async look() {
    const wanted = this.#filter.value.trim();
    const query = new URLSearchParams({ limit: LIMIT });
    // A token has no colon, a pURI two.
    if (wanted) query.set(wanted.includes(":") ? "puri" : "position", wanted);
    try {
      const answer = await ask(`/v1/rejections?${query}`);
      // Typed on meanwhile: the look that follows tells.
      if (wanted !== this.#filter.value.trim()) return true;
      say(byId("rejections-problem"), "");
      this.#show(answer, wanted);
      return true;
    } catch (e) {
      if (e.isUnreachable) return true;
      say(byId("rejections-problem"), sentence(String(e)));
      this.#show({ rejections: [], complete: true }, wanted, "");
      return !e.isAccess;
    }
  }

  #show({ rejections, complete }, wanted, empty = this.#emptiness(complete, wanted)) {
    const shown = JSON.stringify([rejections, complete, wanted, empty]);
    if (shown === this.#shown) return;
    this.#shown = shown;
    // Rows that stay are left alone, with the focus that may be in them.
    const kept = new Map([...this.#list.children].map((row) => [row.dataset.position, row]));
    this.#list.replaceChildren(...rejections.map((each) => kept.get(each.position) ?? this.#row(each, kept.size > 0)));
    show(byId("rejections-empty"), rejections.length === 0);
    say(byId("rejections-empty"), empty);
    const newest = rejections.length === LIMIT ? `the newest ${LIMIT}` : rejections.length ? counted(rejections.length, "refusal") : "";
    say(byId("rejections-note"), complete ? newest : "still reading the log");
  }

  #emptiness(complete, wanted) {
    if (!complete) return "What was refused has not been read yet.";
    return wanted ? "Nothing of it that is remembered was refused." : "Nothing that is remembered was refused.";
  }

  #row(refused, isNew) {
    const { holder, survivor, detail } = refused;
    // Most details say it already.
    const isHolderNews = holder && !(detail.includes(holder.owner) && detail.includes(holder.shard));
    return el(
      "li",
      { "data-position": refused.position, "data-reason": refused.reason, "data-puri": refused.puri, class: isNew && "new" },
      el("span", { class: "when" }, time(refused.rejectedAt)),
      el("span", { class: "badge refused" }, refused.reason),
      el("span", { class: "what" }, refused.puri ? this.#link(refused.puri) : "no pURI", el("span", { class: "token", title: "Token of the publish" }, name(refused.position))),
      el("span", { class: "why" }, sentence(detail)),
      (isHolderNews || survivor) &&
        el(
          "span",
          { class: "where" },
          isHolderNews && ["held by ", name(holder.owner), " on ", name(holder.shard), " "],
          survivor && ["goes on as ", this.#link(survivor)],
        ),
    );
  }

  #link(puri) {
    const link = el("button", { type: "button", class: "link", title: "Look it up" }, name(puri));
    link.addEventListener("click", () => this.#lookUp(puri));
    return link;
  }
}
