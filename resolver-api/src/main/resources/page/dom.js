// Creates elements. Data is only ever set as text, so data cannot become markup. The Content-Security-Policy of the
// page (trusted types) makes the browser reject everything else.

const SVG = "http://www.w3.org/2000/svg";

export const byId = (id) => document.getElementById(id);

function build(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child != null && child !== false));
  return element;
}

/** Creates an element. Children are elements, texts, arrays of them, and null or false for nothing. */
export function el(tag, attributes = {}, ...children) {
  return build(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return build(document.createElementNS(SVG, tag), attributes, children);
}

export function show(element, isShown) {
  element.hidden = !isShown;
}

/** Sets a text only if it differs, because screen readers read a live region again after each assignment. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Creates an isolated name (bdi), because a right-to-left name would reorder the text around it. */
export function name(text, attributes = {}) {
  return el("bdi", { ...attributes, class: ["name", attributes.class].filter(Boolean).join(" ") }, text);
}

const integerFormat = new Intl.NumberFormat("en");
const sizeFormat = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
const timeFormat = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });
const dateFormat = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium" });

export const number = (value) => (Number.isFinite(value) ? integerFormat.format(value) : "–");

export function bytes(value) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  let size = value;
  while (size >= 1024 && unit < units.length - 1) {
    size /= 1024;
    unit++;
  }
  return `${sizeFormat.format(size)} ${units[unit]}`;
}

/** Returns a count with its noun: "1 row", "2 rows". */
export const counted = (count, one, many = `${one}s`) => `${number(count)} ${count === 1 ? one : many}`;

/** Makes a sentence of a text. The first letter becomes a capital, unless the text begins with a pURI or handle. */
export function sentence(text) {
  const trimmed = String(text).trim();
  const isWord = /^[a-z]+('s)?(?=[ ,]|$)/.test(trimmed);
  const capitalized = isWord ? trimmed.charAt(0).toUpperCase() + trimmed.slice(1) : trimmed;
  return capitalized + (/[.!?…]$/.test(capitalized) ? "" : ".");
}

/** Creates a time of day. The date precedes it unless it is today. */
export function time(iso) {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return el("span", {}, String(iso));
  const isToday = dateFormat.format(date) === dateFormat.format(new Date());
  const text = isToday ? timeFormat.format(date) : `${dateFormat.format(date)}, ${timeFormat.format(date)}`;
  return el("time", { datetime: date.toISOString(), title: date.toISOString() }, text);
}
