// Answers beside what is right: ROC, precision and recall, calibration, predicted against actual.
import { drawn, element } from "./elements.js";
import { counted, marks, shown } from "./numbers.js";
import { paletteColour } from "./state.js";

const PLOT_WIDTH = 300;
const PLOT_HEIGHT = 250;
const PLOT_LEFT = 48;
const PLOT_BELOW = 40;
const PLOT_ROOM = 18;

/** A drawing with two axes. `from` and `to` are the ends of both, or of each as `[x, y]`; `lines` and `dots` have points in their units. */
function plotOf({ title, x, y, from, to, lines = [], dots = [], diagonal = false, told }) {
  const at = ([px, py]) => [
    PLOT_LEFT + (PLOT_WIDTH - PLOT_LEFT - PLOT_ROOM) * (px - from) / (to - from || 1),
    PLOT_HEIGHT - PLOT_BELOW - (PLOT_HEIGHT - PLOT_BELOW - PLOT_ROOM) * (py - from) / (to - from || 1)];
  const path = (points) => points.map((point) => at(point).map((z) => z.toFixed(1)).join(",")).join(" ");
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((share) => from + share * (to - from));
  const texts = marks(ticks);
  const svg = drawn("svg", { class: "judged", viewBox: `0 0 ${PLOT_WIDTH} ${PLOT_HEIGHT}`, role: "img", "aria-label": `${title}: ${told}` },
    ticks.flatMap((tick, i) => {
      const [px, py] = at([tick, tick]);
      return [
        drawn("line", { class: "grid", x1: px, x2: px, y1: PLOT_ROOM, y2: PLOT_HEIGHT - PLOT_BELOW }),
        drawn("line", { class: "grid", x1: PLOT_LEFT, x2: PLOT_WIDTH - PLOT_ROOM, y1: py, y2: py }),
        drawn("text", { x: px, y: PLOT_HEIGHT - PLOT_BELOW + 14, "text-anchor": "middle" }, texts[i]),
        drawn("text", { x: PLOT_LEFT - 5, y: py + 4, "text-anchor": "end" }, texts[i])];
    }),
    diagonal ? drawn("polyline", { class: "diagonal", points: path([[from, from], [to, to]]) }) : null,
    lines.map((line) => drawn("polyline", { class: "line", points: path(line.points), style: { stroke: line.colour } })),
    dots.map((dot) => {
      const [cx, cy] = at(dot.at);
      return drawn("circle", { cx, cy, r: dot.r ?? 2.4, style: { fill: dot.colour } }, dot.title ? drawn("title", {}, dot.title) : null);
    }),
    drawn("text", { x: (PLOT_LEFT + PLOT_WIDTH) / 2, y: PLOT_HEIGHT - 8, "text-anchor": "middle" }, x),
    drawn("text", { transform: `translate(11 ${(PLOT_HEIGHT - PLOT_BELOW) / 2}) rotate(-90)`, "text-anchor": "middle" }, y));
  return element("figure", { class: "small" }, element("figcaption", {}, title), svg, element("p", { class: "note" }, told));
}

function curvePlots(curves) {
  const many = curves.length > 1;
  const told = (of) => curves.map((curve) => `${many ? `${curve.class} ` : ""}${shown(of(curve))}`).join(", ");
  const lines = (key) => curves.map((curve, i) => ({ points: curve[key], colour: paletteColour(many ? i : 0) }));
  return [
    plotOf({ title: "ROC", x: "false alarms", y: "found", from: 0, to: 1, diagonal: true, lines: lines("roc"), told: `Area: ${told((c) => c.auc)}` }),
    plotOf({ title: "Precision and recall", x: "recall", y: "precision", from: 0, to: 1, lines: lines("precision_recall"),
      told: `Average precision: ${told((c) => c.average_precision)}` })];
}

function calibrationPlot(bins, rows) {
  const most = Math.max(1, ...bins.map((bin) => bin.rows));
  const off = bins.reduce((sum, bin) => sum + bin.rows * Math.abs(bin.said - bin.right), 0) / Math.max(1, rows);
  const dots = bins.map((bin) => ({ at: [bin.said, bin.right], r: 2.5 + 6 * Math.sqrt(bin.rows / most), colour: paletteColour(0),
    title: `said ${shown(bin.said)}, right in ${shown(bin.right)} of ${counted(bin.rows)} rows` }));
  return plotOf({ title: "Calibration", x: "confidence", y: "share that is right", from: 0, to: 1, diagonal: true,
    lines: [{ points: bins.map((bin) => [bin.said, bin.right]), colour: paletteColour(0) }], dots,
    told: `On average ${shown(off)} off the diagonal; large dots are many rows.` });
}

function valuePlot({ actual, predicted, rows }, name) {
  const both = [...actual, ...predicted];
  const [low, high] = [both.reduce((a, b) => Math.min(a, b), Infinity), both.reduce((a, b) => Math.max(a, b), -Infinity)];
  const room = (high - low) / 20 || 1;
  const dots = actual.map((y, i) => ({ at: [y, predicted[i]], colour: paletteColour(0), title: `actual ${shown(y)}, predicted ${shown(predicted[i])}` }));
  const some = actual.length < rows ? `, ${counted(actual.length)} shown` : "";
  return plotOf({ title: `${name}: predicted against actual`, x: "actual", y: "predicted", from: low - room, to: high + room, diagonal: true, dots,
    told: `${counted(rows)} rows${some}. Right predictions are on the diagonal.` });
}

/** The pictures of a predicate's or a function's answers. */
export function judgedPlots(network) {
  const told = network.judged;
  if (!told || !told.rows) return null;
  const plots = told.actual ? [valuePlot(told, network.predicate)]
    : [...(told.curves.length ? curvePlots(told.curves) : []), calibrationPlot(told.calibration, told.rows)];
  return element("div", { class: "judging" }, element("p", { class: "note" }, `On the ${counted(told.rows)} rows of ${told.metric}.`),
    element("div", { class: "plots" }, plots));
}
