// Keys, dialogs and the token.

import { access, token, useToken } from "./api.js";
import { byId, say, show } from "./dom.js";

const OFF = "puri.keys.off";

/** Shortcuts of a single key, which can be turned off (WCAG 2.1.4). */
export function listenToKeys(actions) {
  const dialog = byId("keys");
  const on = byId("keys-on");
  on.checked = stored() !== "1";
  on.addEventListener("change", () => store(on.checked ? "" : "1"));
  byId("open-keys").addEventListener("click", () => dialog.showModal());
  document.addEventListener("keydown", (pressed) => {
    if (pressed.ctrlKey || pressed.metaKey || pressed.altKey || pressed.isComposing) return;
    const field = pressed.target.closest?.("input, textarea, select");
    if (field) {
      if (pressed.key === "Escape") field.blur();
      return;
    }
    if (!on.checked || document.querySelector("dialog[open]")) return;
    const action = pressed.key === "?" ? () => dialog.showModal() : actions[pressed.key];
    if (action) {
      pressed.preventDefault();
      action();
    }
  });
}

function stored() {
  try {
    return localStorage.getItem(OFF);
  } catch {
    return null;
  }
}

function store(value) {
  try {
    localStorage.setItem(OFF, value);
  } catch {
    // It holds for this page.
  }
}

/** Asks for a token once the resolver wants one. */
export function askForToken() {
  const dialog = byId("token");
  const text = byId("token-text");
  const problem = byId("token-problem");
  const open = byId("open-token");
  let isPutOff = false;
  open.addEventListener("click", () => dialog.showModal());
  access.addEventListener("token", () => show(byId("token-forget"), token() !== ""));
  access.addEventListener("wanted", () => {
    show(open, true);
    if (token()) say(problem, "The token that is in use is not good here, or not any more.");
    if (!dialog.open && !isPutOff) dialog.showModal();
  });
  byId("token-form").addEventListener("submit", (submitted) => {
    submitted.preventDefault();
    const given = text.value.trim().replace(/^Bearer\s+/i, "");
    if (!/^[\x21-\x7e]+$/.test(given)) {
      say(problem, "A token has no spaces and no letters beyond ASCII.");
      return;
    }
    isPutOff = false;
    close();
    useToken(given);
  });
  byId("token-forget").addEventListener("click", () => {
    isPutOff = true;
    close();
    useToken("");
  });
  byId("token-later").addEventListener("click", () => {
    isPutOff = true;
    close();
  });
  dialog.addEventListener("cancel", () => {
    isPutOff = true;
  });
  show(open, token() !== "");
  show(byId("token-forget"), token() !== "");

  function close() {
    text.value = "";
    say(problem, "");
    dialog.close();
  }
}
