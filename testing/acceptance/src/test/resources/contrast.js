// Returns the visible texts whose contrast to their background is too low (WCAG 2.2, 1.4.3). Large text needs 3, other
// text 4.5.
() => {
  const parse = (colour) => {
    const [r, g, b, a = 1] = colour.match(/[\d.]+/g).map(Number);
    return { r, g, b, a };
  };
  const over = (top, below) => ({
    r: top.r * top.a + below.r * (1 - top.a),
    g: top.g * top.a + below.g * (1 - top.a),
    b: top.b * top.a + below.b * (1 - top.a),
    a: 1,
  });
  const luminance = ({ r, g, b }) =>
    [r, g, b]
      .map((c) => c / 255)
      .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
      .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const ratio = (one, other) => {
    const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a);
    return (light + 0.05) / (dark + 0.05);
  };
  const ancestors = (element) => (element ? [element, ...ancestors(element.parentElement)] : []);
  const ground = (element) =>
    ancestors(element)
      .map((each) => parse(getComputedStyle(each).backgroundColor))
      .reverse()
      .reduce((below, top) => over(top, below), { r: 255, g: 255, b: 255, a: 1 });
  const look = (element, style) => {
    const below = ground(element);
    const opacity = ancestors(element).reduce((all, each) => all * getComputedStyle(each).opacity, 1);
    const ink = parse(style.color);
    const size = parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    const found = ratio(over({ ...ink, a: ink.a * opacity }, below), below);
    return { found, enough: found >= (isLarge ? 3 : 4.5) };
  };
  const poor = [];
  let looked = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = walker.nextNode(); text; text = walker.nextNode()) {
    const element = text.parentElement;
    if (!text.data.trim() || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    looked++;
    const { found, enough } = look(element, getComputedStyle(element));
    if (!enough) poor.push(`${found.toFixed(2)} ${element.tagName}.${element.className}: ${text.data.trim().slice(0, 40)}`);
  }
  for (const field of document.querySelectorAll("input[placeholder], textarea[placeholder]")) {
    const { found, enough } = look(field, getComputedStyle(field, "::placeholder"));
    if (!enough) poor.push(`${found.toFixed(2)} placeholder of ${field.id}`);
  }
  return { looked, poor };
}
