// What the networks say of the data: classes against labels, and points that tell who they are.
import { element, mistakes, setText } from "./elements.js";
import { counted } from "./numbers.js";
import { judgedPlots } from "./judged.js";
import { paletteColour, state } from "./state.js";

/** Places of labels among the classes: by name, or, where labels have other names, the class that most of a label are given and no
 *  other has, so that clusters and classes have the same colours. */
function labelPlaces({ classes, confusion }) {
  if (!confusion) return new Map();
  if (confusion.right !== null) return new Map(classes.map((name, i) => [name, i]));
  const pairs = confusion.labels.flatMap((label, i) => confusion.counts[i].map((count, j) => [count, label, j]));
  const [places, taken] = [new Map(), new Set()];
  for (const [, label, j] of pairs.sort((a, b) => b[0] - a[0])) {
    if (!places.has(label) && !taken.has(j)) { places.set(label, j); taken.add(j); }
  }
  for (const label of confusion.labels) if (!places.has(label)) places.set(label, classes.length + places.size);
  return places;
}

function confusionTable(network) {
  const { labels, counts, right, total } = network.confusion;
  const most = Math.max(1, ...counts.flat());
  const rows = labels.map((label, i) => element("tr", {}, element("th", { scope: "row" }, label),
    counts[i].map((count, j) => element("td", {
      class: right !== null && i === j ? "right" : null,
      style: { "--share": (count / most).toFixed(3) },
      title: `label ${label}, said ${network.classes[j]}: ${count}`,
    }, count ? counted(count) : ""))));
  const accuracy = right === null ? "" : `: ${counted(right)} of ${counted(total)} are right (${(100 * right / total).toFixed(1)} %)`;
  const said = `A row for each label (${network.labels}), a column for each class that ${network.predicate} gives${accuracy}`;
  return element("div", {}, element("p", { class: "note" }, said), element("div", { class: "scroll fit", tabindex: 0, role: "region", "aria-label": "Confusion matrix" },
    element("table", { class: "confusion", "aria-label": said },
      element("thead", {}, element("tr", {}, element("td", {}), network.classes.map((name) => element("th", { scope: "col" }, name)))),
      element("tbody", {}, rows))));
}

/** The confusion matrix, of two classes for what is true or false. */
function tableOf(network) {
  if (network.confusion) return confusionTable(network);
  const { judged } = network;
  if (judged?.confusion) return confusionTable({ ...judged, predicate: network.predicate, labels: `what is right of the rows of ${judged.metric}` });
  return network.points ? element("p", { class: "note" }, "The manifest gives no labels of this sort, or too many for a table.") : null;
}

function scatter(network) {
  const { x, y, name, label, of } = network.points;
  const classOf = network.points.class;
  const canvas = element("canvas", { role: "img", tabindex: 0,
    "aria-label": `${network.sort} in two principal components, coloured by ${network.predicate}. Left and right arrow read the points.` });
  const reading = element("p", { class: "note", role: "status" }, "Hover over a point to see its name.");
  const [left, right, low, high] = [Math.min(...x), Math.max(...x), Math.min(...y), Math.max(...y)];
  const placeOf = (i, width, height) => [
    12 + (width - 24) * (x[i] - left) / (right - left || 1), height - 12 - (height - 24) * (y[i] - low) / (high - low || 1)];
  const places = labelPlaces(network);
  // Wrong is what has the label of another class; clusters have other names than labels.
  const named = network.confusion && network.confusion.right !== null;
  const wrong = (i) => named && label?.[i] && label[i] !== network.classes[classOf[i]];
  const errors = classOf.filter((_, i) => wrong(i)).length;
  const byLabel = label ? element("input", { type: "checkbox", onchange: () => paint() }) : null;
  const colourOf = (i) => (byLabel?.checked ? (label[i] ? paletteColour(places.get(label[i]) ?? 0) : "#8a929a") : paletteColour(classOf[i]));
  let at = -1;
  const paint = () => {
    const [width, height] = [canvas.clientWidth || 600, 380];
    const scale = devicePixelRatio || 1;
    canvas.width = width * scale;
    canvas.height = height * scale;
    const pen = canvas.getContext("2d");
    pen.scale(scale, scale);
    for (let i = 0; i < x.length; i++) {
      const [px, py] = placeOf(i, width, height);
      pen.fillStyle = colourOf(i);
      pen.globalAlpha = 0.75;
      pen.beginPath();
      // Where all colours have been given, another shape tells classes apart.
      if (classOf[i] >= 8) pen.rect(px - 2.5, py - 2.5, 5, 5); else pen.arc(px, py, 2.8, 0, 7);
      pen.fill();
    }
    pen.globalAlpha = 1;
    pen.strokeStyle = getComputedStyle(canvas).color;
    pen.lineWidth = 1.4;
    for (let i = 0; i < x.length; i++) {
      if (!wrong(i)) continue;
      const [px, py] = placeOf(i, width, height);
      pen.beginPath();
      pen.moveTo(px - 4, py - 4); pen.lineTo(px + 4, py + 4);
      pen.moveTo(px - 4, py + 4); pen.lineTo(px + 4, py - 4);
      pen.stroke();
    }
    if (at >= 0) {
      const [px, py] = placeOf(at, width, height);
      pen.globalAlpha = 1;
      pen.strokeStyle = getComputedStyle(canvas).color;
      pen.lineWidth = 2;
      pen.beginPath();
      pen.arc(px, py, 6, 0, 7);
      pen.stroke();
    }
  };
  const read = (i) => {
    if (i === at || i < 0) return;
    at = i;
    const truth = label?.[i] ? `, label ${label[i]}${wrong(i) ? ": wrong" : ""}` : "";
    setText(reading, `${network.sort} ${name[i]}: ${network.predicate} ${network.classes[classOf[i]]}${truth}`);
    paint();
  };
  canvas.addEventListener("pointermove", (event) => {
    const box = canvas.getBoundingClientRect();
    let [best, distance] = [-1, 400];
    for (let i = 0; i < x.length; i++) {
      const [px, py] = placeOf(i, box.width, box.height);
      const d = (px - event.clientX + box.left) ** 2 + (py - event.clientY + box.top) ** 2;
      if (d < distance) [best, distance] = [i, d];
    }
    read(best);
  });
  canvas.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    read((at + by + x.length) % x.length);
  });
  new ResizeObserver(paint).observe(canvas);
  const legend = element("ul", { class: "legend" }, network.classes.slice(0, 24).map((name_, i) =>
    element("li", {}, element("i", { class: "swatch", "aria-hidden": "true", style: { background: paletteColour(i) } }), name_)));
  const some = x.length < of ? `, ${counted(x.length)} of ${counted(of)} shown` : "";
  return element("figure", { class: "scatter" },
    element("figcaption", {}, `${network.sort} in two principal components, coloured by ${network.predicate}${some}`),
    byLabel ? element("p", { class: "note" }, element("label", {}, byLabel, " Coloured by label")) : null, canvas, legend,
    errors ? element("p", { class: "note" }, `Crossed out: ${counted(errors)} that have another label.`) : null, reading);
}

/** The panel. Gives what brings it up to date: when asked, since it takes the server some time. */
export function networkPanel(id, details, panel) {
  const place = element("div", {});
  const pictures = details.pictures.map((picture) => element("figure", { "data-picture": picture.title },
    element("figcaption", {}, picture.title), element("img", { class: "picture", src: picture.source, alt: picture.title })));
  const load = async () => {
    place.replaceChildren(element("p", { class: "note", role: "status" }, "Asking …"));
    try {
      const networks = await state.source.networks(id);
      const parts = networks.map((network) => element("section", { class: "network" },
        element("h3", {}, network.sort ? `${network.predicate}(${network.sort})` : network.predicate),
        tableOf(network), judgedPlots(network),
        network.points ? scatter(network) : null));
      // The points say more when they can be pointed at.
      const pointed = networks.filter((network) => network.points).map((network) => network.predicate);
      for (const picture of pictures) picture.hidden = pointed.includes(picture.dataset.picture);
      if (title) title.hidden = pictures.every((picture) => picture.hidden);
      place.replaceChildren(...(parts.length ? parts : [element("p", { class: "note" }, "No predicate gives one of several classes to individuals, and no metric has rows to compare with.")]));
    } catch (error) {
      place.replaceChildren(mistakes(error.errors ?? error.message));
    }
  };
  const again = state.source.live ? element("button", { type: "button", onclick: load }, "Ask again with the newest weights") : null;
  const title = pictures.length ? element("h3", {}, "Pictures of the run") : null;
  panel.replaceChildren(...[place, again, title, ...pictures].filter(Boolean));
  load();
  return () => {};
}
