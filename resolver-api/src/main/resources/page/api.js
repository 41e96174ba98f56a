// How the resolver is asked: with the token, if there is one, and with errors in one form.

const TOKEN = "puri.token";

/** Says "token" when another is in use, and "wanted" when the resolver wants one that it has not got. */
export const access = new EventTarget();

// Storage may be forbidden; then the token lasts as long as the page.
let kept = "";

export function token() {
  try {
    return sessionStorage.getItem(TOKEN) ?? kept;
  } catch {
    return kept;
  }
}

export function useToken(text) {
  kept = text;
  try {
    if (text) sessionStorage.setItem(TOKEN, text);
    else sessionStorage.removeItem(TOKEN);
  } catch {
    // It is kept in memory.
  }
  access.dispatchEvent(new Event("token"));
}

/** The resolver said no, as application/problem+json (RFC 9457), or cannot be reached: then status is 0. */
export class Refusal extends Error {
  constructor(status, problem, retryAfter = 0) {
    super(problem.detail ?? problem.title ?? "No answer");
    this.status = status;
    this.kind = String(problem.type ?? "").split("/").pop();
    this.title = problem.title ?? "";
    this.retryAfter = retryAfter;
  }

  get isUnreachable() {
    return this.status === 0;
  }

  get isAccess() {
    return this.status === 401 || this.status === 403;
  }

  /** What to tell a person. */
  toString() {
    if (this.isUnreachable) return "The resolver does not answer.";
    if (this.status === 401) return token() ? "The token is not good here." : "This needs a token.";
    return this.message;
  }
}

/**
 * A response that is good, or else a Refusal.
 *
 * @param answers a status that is an answer too, though it is an error's
 */
export async function send(path, { headers = {}, answers = 0, ...options } = {}) {
  const bearer = token();
  let response;
  try {
    response = await fetch(path, {
      ...options,
      headers: bearer ? { ...headers, Authorization: `Bearer ${bearer}` } : headers,
      cache: "no-store",
      credentials: "omit",
      referrerPolicy: "no-referrer",
    });
  } catch (e) {
    // fetch throws for a header that cannot be sent, too; then the token is at fault.
    if (e.name === "AbortError") throw e;
    throw new Refusal(0, {});
  }
  if (response.ok || response.status === answers) return response;
  const isProblem = (response.headers.get("Content-Type") ?? "").startsWith("application/problem+json");
  // The resolver's own errors are problems; a proxy's are pages, or JSON of its own.
  const foreign = { title: `Something on the way to the resolver answered, with status ${response.status}` };
  const problem = isProblem ? await response.json().catch(() => ({})) : foreign;
  // What was asked with the token before says nothing of this one.
  if (response.status === 401 && bearer === token()) access.dispatchEvent(new Event("wanted"));
  throw new Refusal(response.status, problem, Number(response.headers.get("Retry-After")) || 0);
}

/** What is answered as JSON. */
export async function ask(path, options) {
  return json(await send(path, options));
}

/** What a good response holds; what is no JSON is not the resolver's. */
export async function json(response) {
  try {
    return await response.json();
  } catch (e) {
    if (e.name === "AbortError") throw e;
    throw new Refusal(0, {});
  }
}

/**
 * Does something over and over, one at a time, and not while nobody looks. What answers false is left alone
 * until there is another token.
 *
 * @returns does it now
 */
export function every(millis, task) {
  let timer = 0;
  let isUnderWay = false;
  let isWanted = false;
  async function run() {
    clearTimeout(timer);
    if (isUnderWay) {
      isWanted = true;
      return;
    }
    isUnderWay = true;
    let goesOn = true;
    try {
      goesOn = (await task()) !== false;
    } finally {
      isUnderWay = false;
      if (isWanted) {
        isWanted = false;
        run();
      } else if (goesOn && !document.hidden) {
        timer = setTimeout(run, millis);
      }
    }
  }
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) run();
  });
  access.addEventListener("token", run);
  run();
  return run;
}
