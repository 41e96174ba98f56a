// Requests to the resolver, with the bearer token if there is one. All errors become a ResolverError.

const TOKEN_KEY = "puri.token";

/** Emits "token" when the token changes, and "required" when the resolver rejects a request without a valid token. */
export const access = new EventTarget();

// A browser may forbid storage. Then the token lives as long as the page.
let tokenInMemory = "";

export function token() {
  try {
    return sessionStorage.getItem(TOKEN_KEY) ?? tokenInMemory;
  } catch {
    return tokenInMemory;
  }
}

export function useToken(text) {
  tokenInMemory = text;
  try {
    if (text) sessionStorage.setItem(TOKEN_KEY, text);
    else sessionStorage.removeItem(TOKEN_KEY);
  } catch {
    // The token stays in memory.
  }
  access.dispatchEvent(new Event("token"));
}

/** An error response, application/problem+json (RFC 9457). The status is 0 if the resolver is unreachable. */
export class ResolverError extends Error {
  constructor(status, problem, retryAfterSeconds = 0) {
    super(problem.detail ?? problem.title ?? "No answer");
    this.status = status;
    this.kind = String(problem.type ?? "").split("/").pop();
    this.title = problem.title ?? "";
    this.retryAfterSeconds = retryAfterSeconds;
  }

  get isUnreachable() {
    return this.status === 0;
  }

  get isAccessDenied() {
    return this.status === 401 || this.status === 403;
  }

  /** The text that the page shows. */
  toString() {
    if (this.isUnreachable) return "The resolver does not answer.";
    if (this.status === 401) return token() ? "The resolver rejects the token." : "A token is required.";
    return this.message;
  }
}

/**
 * Returns the response, or throws a ResolverError if its status is not 2xx.
 *
 * @param acceptedStatus an error status whose response is returned too
 */
export async function send(path, { headers = {}, acceptedStatus = 0, ...options } = {}) {
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
    if (e.name === "AbortError") throw e;
    throw new ResolverError(0, {});
  }
  if (response.ok || response.status === acceptedStatus) return response;
  const isProblem = (response.headers.get("Content-Type") ?? "").startsWith("application/problem+json");
  // The resolver sends all its errors as problems. Anything else, such as HTML, comes from a proxy.
  const proxyProblem = { title: `A server in front of the resolver answered with status ${response.status}` };
  const problem = isProblem ? await response.json().catch(() => ({})) : proxyProblem;
  // The user may have entered another token since this request.
  if (response.status === 401 && bearer === token()) access.dispatchEvent(new Event("required"));
  throw new ResolverError(response.status, problem, Number(response.headers.get("Retry-After")) || 0);
}

/** Sends a request and returns the JSON of the response. */
export async function fetchJson(path, options) {
  return json(await send(path, options));
}

/** Returns the JSON of a response. A response that is not JSON does not come from the resolver. */
export async function json(response) {
  try {
    return await response.json();
  } catch (e) {
    if (e.name === "AbortError") throw e;
    throw new ResolverError(0, {});
  }
}

/**
 * Repeats a task, one run at a time, while the tab is visible. A task that returns false pauses until the token
 * changes or the tab becomes visible again.
 *
 * @returns a function that runs the task at once
 */
export function poll(millis, task) {
  let timer = 0;
  let isRunning = false;
  let isRunRequested = false;
  async function run() {
    clearTimeout(timer);
    if (isRunning) {
      isRunRequested = true;
      return;
    }
    isRunning = true;
    let isRepeated = true;
    try {
      isRepeated = (await task()) !== false;
    } finally {
      isRunning = false;
      if (isRunRequested) {
        isRunRequested = false;
        run();
      } else if (isRepeated && !document.hidden) {
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
