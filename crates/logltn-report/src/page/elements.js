// Elements. Text is always text: nothing that a run says is ever taken for markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [key, part] of Object.entries(value)) node.style.setProperty(key, part);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** An element with attributes (`onclick` and the like are listeners, `style` an object) and children. */
export function element(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** The same of a drawing. */
export function drawn(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** The element of that id. */
export function found(id) {
  return document.getElementById(id);
}

/** Sets the text of a node, if it is another. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** A truth as a bar with its number. */
export function truthBar(truth, text) {
  const width = Math.max(0, Math.min(1, truth ?? 0));
  const bar = element("span", { class: "truth", "aria-hidden": "true" }, element("i", { style: { width: `${100 * width}%` } }));
  return element("span", { class: "truth-value" }, bar, element("span", {}, text));
}

/** What went wrong, as the server says it. */
export function mistakes(errors) {
  const list = Array.isArray(errors) ? errors : [{ message: String(errors) }];
  return element("div", { class: "mistakes", role: "alert" }, list.map((error) =>
    element("p", {},
      element("strong", {}, error.message),
      (error.notes ?? []).map((note) => element("span", { class: "note" }, ` ${note}`)),
      error.help ? element("span", { class: "note" }, ` ${error.help}`) : null)));
}

/** A curve without axes, as high as a line of text. */
export function spark(values) {
  const finite = values.filter((y) => y !== null && Number.isFinite(y));
  const [low, high] = [Math.min(...finite), Math.max(...finite)];
  const span = high > low ? high - low : 1;
  const step = 118 / Math.max(1, values.length - 1);
  const points = values.map((y, i) => `${(1 + i * step).toFixed(1)},${(21 - 20 * ((y - low) / span)).toFixed(1)}`);
  const label = finite.length ? `from ${finite[0].toPrecision(3)} to ${finite[finite.length - 1].toPrecision(3)}` : "no values";
  return drawn("svg", { class: "spark", viewBox: "0 0 120 22", width: 120, height: 22, role: "img", "aria-label": label },
    finite.length ? drawn("polyline", { points: points.join(" ") }) : null);
}
