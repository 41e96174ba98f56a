// Keyboard shortcuts, and the dialog for the token.

import { access, token, useToken } from "./api.js";
import { byId, setText, show } from "./dom.js";

const DISABLED_KEY = "puri.keys.off";

/** Enables the single-key shortcuts. The user can disable them (WCAG 2.1.4). */
export function enableShortcuts(actions) {
  const dialog = byId("keys");
  const checkbox = byId("keys-on");
  checkbox.checked = readDisabled() !== "1";
  checkbox.addEventListener("change", () => storeDisabled(checkbox.checked ? "" : "1"));
  byId("open-keys").addEventListener("click", () => dialog.showModal());
  document.addEventListener("keydown", (pressed) => {
    if (pressed.ctrlKey || pressed.metaKey || pressed.altKey || pressed.isComposing) return;
    const field = pressed.target.closest?.("input, textarea, select");
    if (field) {
      if (pressed.key === "Escape") field.blur();
      return;
    }
    if (!checkbox.checked || document.querySelector("dialog[open]")) return;
    const action = pressed.key === "?" ? () => dialog.showModal() : actions[pressed.key];
    if (action) {
      pressed.preventDefault();
      action();
    }
  });
}

function readDisabled() {
  try {
    return localStorage.getItem(DISABLED_KEY);
  } catch {
    return null;
  }
}

function storeDisabled(value) {
  try {
    localStorage.setItem(DISABLED_KEY, value);
  } catch {
    // Without storage the choice applies until the page is closed.
  }
}

/** Opens the dialog for the token when the resolver requires one. */
export function enableTokenDialog() {
  const dialog = byId("token");
  const text = byId("token-text");
  const problem = byId("token-problem");
  const openButton = byId("open-token");
  let isPostponed = false;
  openButton.addEventListener("click", () => dialog.showModal());
  access.addEventListener("token", () => show(byId("token-remove"), token() !== ""));
  access.addEventListener("required", () => {
    show(openButton, true);
    if (token()) setText(problem, "The resolver rejects the current token. It may have expired.");
    if (!dialog.open && !isPostponed) dialog.showModal();
  });
  byId("token-form").addEventListener("submit", (submitted) => {
    submitted.preventDefault();
    const entered = text.value.trim().replace(/^Bearer\s+/i, "");
    if (!/^[\x21-\x7e]+$/.test(entered)) {
      setText(problem, "A token consists of ASCII characters without spaces.");
      return;
    }
    isPostponed = false;
    close();
    useToken(entered);
  });
  byId("token-remove").addEventListener("click", () => {
    isPostponed = true;
    close();
    useToken("");
  });
  byId("token-later").addEventListener("click", () => {
    isPostponed = true;
    close();
  });
  dialog.addEventListener("cancel", () => {
    isPostponed = true;
  });
  show(openButton, token() !== "");
  show(byId("token-remove"), token() !== "");

  function close() {
    text.value = "";
    setText(problem, "");
    dialog.close();
  }
}
