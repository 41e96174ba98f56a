// Keeps a complete copy of the registry's rows in memory. Reads one export, then the changes from its cursor.
//
//   node replica.mjs [RESOLVER]
//
// Reads pURIs from stdin and prints their rows. For an empty line, prints all rows, sorted, and an empty line.
// PURI_TOKEN is sent as a bearer token (scope "changes"). docs/export.md explains why the copy is exact.
import { createHash } from "node:crypto";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

const resolver = process.argv[2] ?? "http://127.0.0.1:8080";
const token = process.env.PURI_TOKEN;

let rows = new Map(); // rows as lines of JSON, by pURI
let cursor = null; // where the changes go on; null: an export is needed

async function get(path, headers = {}) {
  if (token) headers.Authorization = `Bearer ${token}`;
  const response = await fetch(resolver + path, { headers });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return lines(response.body);
}

async function* lines(body) {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of body) {
    const parts = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = parts.pop();
    yield* parts;
  }
}

/** Fills a new copy, which replaces the old one only when it is complete. */
async function takeExport() {
  const copy = new Map();
  const digest = createHash("sha256");
  let from = null;
  let count = 0;
  for await (const line of await get("/v1/export")) {
    const value = JSON.parse(line);
    if (value.puri !== undefined) {
      copy.set(value.puri, line);
      count++;
    } else if (value.changesFrom !== undefined) {
      from = value.changesFrom;
    } else if (value.rows !== count || value.sha256 !== digest.digest("hex")) {
      throw new Error("the export is damaged");
    } else {
      rows = copy;
      cursor = from;
      console.error(`${count} rows exported`);
      return;
    }
    digest.update(line + "\n");
  }
  throw new Error("the export was cut off");
}

/** Applies changes until the connection ends. Sets the cursor to that of the last applied change. */
async function follow() {
  let event = {};
  for await (const line of await get("/v1/changes", { "Last-Event-ID": cursor })) {
    if (line !== "") {
      const [field, value] = line.split(/: ?(.*)/s, 2); // a comment is a field without a name
      event[field] = value;
      continue;
    }
    if (event.event === "reset") {
      cursor = null;
      return;
    }
    if (event.event === "changed") rows.set(JSON.parse(event.data).puri, event.data);
    if (event.event === "erased") rows.delete(JSON.parse(event.data).puri);
    if (event.id) cursor = event.id;
    event = {};
  }
}

createInterface({ input: process.stdin })
  .on("line", (puri) => console.log(puri ? (rows.get(puri) ?? "null") : [...rows.values()].sort().join("\n") + "\n"))
  .on("close", () => process.exit());

for (;;) {
  try {
    if (cursor === null) await takeExport();
    await follow();
  } catch (problem) {
    console.error(problem.message);
  }
  await sleep(1000);
}
