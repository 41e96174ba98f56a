// The list of the newest rejections, with their reasons.

import { fetchJson } from "./api.js";
import { byId, counted, el, name, sentence, setText, show, time } from "./dom.js";

const LIMIT = 100;

export class Rejections {
  #list = byId("rejections");
  #filter = byId("rejections-filter");
  #lookUp;
  #shown = "";

  /** @param lookUp a function that looks up a pURI */
  constructor(lookUp) {
    this.#lookUp = lookUp;
    byId("rejections-form").addEventListener("submit", (submitted) => {
      submitted.preventDefault();
      this.refresh();
    });
    this.#filter.addEventListener("change", () => this.refresh());
  }

  get recentNames() {
    return [...this.#list.querySelectorAll("[data-puri]")].map((row) => row.dataset.puri);
  }

  /** Requests the rejections. Returns false if the token does not allow them. */
  async refresh() {
    const filter = this.#filter.value.trim();
    const query = new URLSearchParams({ limit: LIMIT });
    // A pURI has two colons, a token has none.
    if (filter) query.set(filter.includes(":") ? "puri" : "position", filter);
    try {
      const answer = await fetchJson(`/v1/rejections?${query}`);
      // The filter has changed since; the request of its change event shows the result.
      if (filter !== this.#filter.value.trim()) return true;
      setText(byId("rejections-problem"), "");
      this.#draw(answer, filter);
      return true;
    } catch (e) {
      if (e.isUnreachable) return true;
      setText(byId("rejections-problem"), sentence(String(e)));
      this.#draw({ rejections: [], complete: true }, filter, "");
      return !e.isAccessDenied;
    }
  }

  #draw({ rejections, complete }, filter, emptyText = emptyTextOf(complete, filter)) {
    const shown = JSON.stringify([rejections, complete, filter, emptyText]);
    if (shown === this.#shown) return;
    this.#shown = shown;
    // Rows that stay are reused, because one of them may have the focus.
    const oldRows = new Map([...this.#list.children].map((row) => [row.dataset.position, row]));
    const rows = rejections.map((each) => oldRows.get(each.position) ?? this.#row(each, oldRows.size > 0));
    this.#list.replaceChildren(...rows);
    show(byId("rejections-empty"), rejections.length === 0);
    setText(byId("rejections-empty"), emptyText);
    setText(byId("rejections-note"), complete ? countText(rejections.length) : "still reading the topic");
  }

  #row({ position, reason, puri, rejectedAt, holder, survivor, detail }, isNew) {
    // Most details name the holder already.
    const isHolderMissing = holder && !(detail.includes(holder.owner) && detail.includes(holder.shard));
    const token = el("span", { class: "token", title: "Token of the refused event" }, name(position));
    return el(
      "li",
      { "data-position": position, "data-reason": reason, "data-puri": puri, class: isNew && "new" },
      el("span", { class: "time" }, time(rejectedAt)),
      el("span", { class: "badge refused" }, reason),
      el("span", { class: "subject" }, puri ? this.#link(puri) : "no pURI", token),
      el("span", { class: "detail" }, sentence(detail)),
      (isHolderMissing || survivor) &&
        el(
          "span",
          { class: "placement" },
          isHolderMissing && ["held by ", name(holder.owner), " on ", name(holder.shard), " "],
          survivor && ["merged into ", this.#link(survivor)],
        ),
    );
  }

  #link(puri) {
    const link = el("button", { type: "button", class: "link", title: "Look up this name" }, name(puri));
    link.addEventListener("click", () => this.#lookUp(puri));
    return link;
  }
}

function emptyTextOf(complete, filter) {
  if (!complete) return "The resolver is still reading the rejections.";
  return filter ? "No stored rejection matches the filter." : "There are no stored rejections.";
}

function countText(count) {
  if (count === 0) return "";
  return count === LIMIT ? `the newest ${LIMIT}` : counted(count, "rejection");
}
