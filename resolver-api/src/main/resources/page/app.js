// The resolver's page: what each part shows, and when it asks.
//
//   standing  /health/ready, /health/started   every 2 s   whether the rest is worth asking
//   figures   /v1/stats, /v1/collections       every 3 s
//   rejections /v1/rejections                  every 4 s
//   changes   /v1/changes                      a stream
//   lookup    /v1/resolve                      when told to
//   search    /v1/search                       as one types

import { access, ask, every } from "./api.js";
import { Changes } from "./changes.js";
import { byId, say, sentence } from "./dom.js";
import { Figures } from "./figures.js";
import { askForToken, listenToKeys } from "./keys.js";
import { LookUp, offerRecent } from "./lookup.js";
import { Rejections } from "./rejections.js";
import { Search } from "./search.js";
import { Standing } from "./standing.js";

say(byId("host"), location.host);
askForToken();

const standing = new Standing();
const figures = new Figures();
const lookUp = new LookUp();
const rejections = new Rejections((ref) => lookUp.one(ref));
const changes = new Changes((ref) => lookUp.one(ref));

const search = new Search((ref) => lookUp.one(ref));

const offerAgain = offerRecent(lookUp, () => [...new Set([...changes.recent, ...rejections.recent])]);

const lookAtFigures = every(3000, async () => {
  if (!standing.isAnswering) {
    if (standing.phase === "filling" || standing.phase === "blocked") figures.clear("There is no table yet.");
    standing.facts();
    return true;
  }
  try {
    const declared = ask("/v1/collections").catch(() => ({ collections: [] }));
    const stats = await ask("/v1/stats");
    figures.declare((await declared).collections);
    figures.draw(stats);
    standing.facts(stats);
    return true;
  } catch (e) {
    if (!e.isUnreachable) figures.clear(sentence(String(e)));
    standing.facts();
    return !e.isAccess;
  }
});

let wasAnswering = false;
every(2000, async () => {
  await standing.look();
  if (standing.isAnswering && !wasAnswering) {
    lookAtFigures();
    lookUp.again();
  }
  wasAnswering = standing.isAnswering;
  offerAgain();
});
access.addEventListener("token", () => lookUp.again());

every(4000, () => rejections.look());
every(4000, () => search.again());

listenToKeys({
  "/": () => byId("refs").focus(),
  p: () => changes.pause(),
  f: () => byId("changes-filter").focus(),
  r: () => byId("rejections-filter").focus(),
  s: () => byId("search-text").focus(),
});
