// The map of the page: its parts, the paths that they read, and how often.
//
//   readiness   /health/ready, /health/started   every 2 s; the figures are requested only while look-ups are answered
//   figures     /v1/stats, /v1/collections       every 3 s
//   rejections  /v1/rejections                   every 4 s
//   changes     /v1/changes                      a change stream
//   lookup      /v1/resolve                      on request
//   search      /v1/search                       while the user types

import { access, fetchJson, poll } from "./api.js";
import { Changes } from "./changes.js";
import { byId, sentence, setText } from "./dom.js";
import { Figures } from "./figures.js";
import { enableShortcuts, enableTokenDialog } from "./keys.js";
import { LookUp, offerRecentNames } from "./lookup.js";
import { Readiness } from "./readiness.js";
import { Rejections } from "./rejections.js";
import { Search } from "./search.js";

setText(byId("host"), location.host);
enableTokenDialog();

const readiness = new Readiness();
const figures = new Figures();
const lookUp = new LookUp();
const rejections = new Rejections((ref) => lookUp.lookUpOne(ref));
const changes = new Changes((ref) => lookUp.lookUpOne(ref));
const search = new Search((ref) => lookUp.lookUpOne(ref));

const updateRecentNames = offerRecentNames(lookUp, () => [
  ...new Set([...changes.recentNames, ...rejections.recentNames]),
]);

const refreshFigures = poll(3000, async () => {
  if (!readiness.isAnswering) {
    if (readiness.state === "filling" || readiness.state === "blocked") figures.clear("The table is not ready yet.");
    readiness.drawFacts();
    return true;
  }
  try {
    const declared = fetchJson("/v1/collections").catch(() => ({ collections: [] }));
    const stats = await fetchJson("/v1/stats");
    figures.setDeclarations((await declared).collections);
    figures.draw(stats);
    readiness.drawFacts(stats);
    return true;
  } catch (e) {
    if (!e.isUnreachable) figures.clear(sentence(String(e)));
    readiness.drawFacts();
    return !e.isAccessDenied;
  }
});

let wasAnswering = false;
poll(2000, async () => {
  await readiness.refresh();
  if (readiness.isAnswering && !wasAnswering) {
    refreshFigures();
    lookUp.retry();
  }
  wasAnswering = readiness.isAnswering;
  updateRecentNames();
});
access.addEventListener("token", () => lookUp.retry());

poll(4000, () => rejections.refresh());
poll(4000, () => search.retry());

enableShortcuts({
  "/": () => byId("refs").focus(),
  p: () => changes.togglePause(),
  f: () => byId("changes-filter").focus(),
  r: () => byId("rejections-filter").focus(),
  s: () => byId("search-text").focus(),
});
