// Elements made by hand. Text is only ever set as text, so nothing that is shown can be markup; the
// page's Content-Security-Policy (trusted types) has the browser refuse anything else.

const SVG = "http://www.w3.org/2000/svg";

export const byId = (id) => document.getElementById(id);

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child != null && child !== false));
  return element;
}

/** An element; children are elements and text. */
export function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

export function show(element, isShown) {
  element.hidden = !isShown;
}

/** Sets text where it differs, so that what is live is not read out again. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** A name, shown as it is: whatever script it is in, it leaves the order of what stands around it alone. */
export function name(text, attributes = {}) {
  return el("bdi", { ...attributes, class: ["name", attributes.class].filter(Boolean).join(" ") }, text);
}

const numbers = new Intl.NumberFormat("en");
const short = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
const clock = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });
const day = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium" });

export const number = (value) => (Number.isFinite(value) ? numbers.format(value) : "–");

export function bytes(value) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  let size = value;
  while (size >= 1024 && unit < units.length - 1) {
    size /= 1024;
    unit++;
  }
  return `${short.format(size)} ${units[unit]}`;
}

/** "1 row", "2 rows". */
export const counted = (count, one, many = `${one}s`) => `${number(count)} ${count === 1 ? one : many}`;

/** Begins with a capital, unless with a name, which stays as it is. */
export function sentence(text) {
  const trimmed = String(text).trim();
  const begun = /^[a-z]+('s)?(?=[ ,]|$)/.test(trimmed) ? trimmed.charAt(0).toUpperCase() + trimmed.slice(1) : trimmed;
  return begun + (/[.!?…]$/.test(begun) ? "" : ".");
}

/** Clock time, with the day before it unless that is today. */
export function time(iso) {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return el("span", {}, String(iso));
  const isToday = day.format(at) === day.format(new Date());
  const text = isToday ? clock.format(at) : `${day.format(at)}, ${clock.format(at)}`;
  return el("time", { datetime: at.toISOString(), title: at.toISOString() }, text);
}
