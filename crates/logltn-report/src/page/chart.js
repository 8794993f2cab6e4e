// One chart: a quantity, a line for each run.
import { element, found, setText } from "./elements.js";
import { counted, marks, shown, steps } from "./numbers.js";
import { isDark, state } from "./state.js";

const HEIGHT = 200;

/** Zooms all charts to the steps between two; to all without. Whoever holds the charts sets what happens then. */
export const zooming = { to: () => {}, all: null };

/** A step, also one between two. */
function stepText(x) {
  return counted(Math.round(x));
}

/** The ends of an axis: a little room, but none beyond what values can be. Values that are all the same have some, too. */
function ends(low, high) {
  if (low === null || high === null) return [0, 1];
  const room = high - low > 1e-9 * Math.abs(high) ? (high - low) / 20 : Math.abs(high) / 10 || 0.5;
  const [from, to] = [low - room, high + room];
  return [low >= 0 ? Math.max(0, from) : from, low >= 0 && high <= 1 ? Math.min(1, to) : to];
}

function ink() {
  return isDark() ? { text: "#c9d1d9", grid: "#30363d" } : { text: "#3d4752", grid: "#e1e5ea" };
}

export class Chart {
  constructor(title) {
    this.title = title;
    this.host = element("div", { class: "plot" });
    this.remark = element("span", { class: "note" });
    this.node = element("figure", { class: "chart", tabindex: 0, role: "group", onkeydown: (event) => this.pressed(event) },
      element("figcaption", {}, title, " ", this.remark), this.host);
    new ResizeObserver(() => this.resized()).observe(this.host);
  }

  width() {
    return Math.max(180, this.host.clientWidth);
  }

  resized() {
    if (this.plot && this.plot.width !== this.width()) this.plot.setSize({ width: this.width(), height: HEIGHT });
  }

  /** Lines are `{ label, colour, dash, curve, text }`: a text says a value. */
  show(lines, log, remark) {
    setText(this.remark, remark);
    const positive = lines.some(({ curve }) => curve.y.some((y) => y > 0));
    const logAxis = log && positive;
    const on = (values) => (logAxis ? values.map((y) => (y > 0 ? y : null)) : values);
    const tables = lines.map(({ curve }) => [curve.x, on(curve.y), ...(curve.low ? [on(curve.low), on(curve.high)] : [])]);
    const data = tables.length ? uPlot.join(tables) : [[]];
    const shape = JSON.stringify([logAxis, isDark(), lines.map(({ label, colour, dash, curve }) => [label, colour, dash, !!curve.low])]);
    if (shape !== this.shape) {
      this.shape = shape;
      this.make(lines, logAxis, data);
    } else {
      this.plot.setData(data, !state.zoom);
    }
    this.texts = lines.flatMap(({ curve, text }) => (curve.low ? [text, text, text] : [text]));
    this.zoom();
    const last = lines.map(({ label, curve, text }) => `${label} ends at ${text(curve.y[curve.y.length - 1])}`);
    this.node.setAttribute("aria-label", `${[this.title, remark].filter(Boolean).join(", ")}: ${last.join(", ") || "nothing yet"}`);
    this.host.dataset.points = String(data[0].length);
    this.host.dataset.last = String(data[0][data[0].length - 1] ?? "");
  }

  make(lines, logAxis, data) {
    const { text, grid } = ink();
    const series = [{ label: "step", value: (_, x) => (x === null ? "–" : stepText(x)) }];
    const value = (_, y, at) => (y === null || y === undefined ? "–" : this.texts[at - 1](y));
    const bands = [];
    for (const { label, colour, dash, curve } of lines) {
      const line = { stroke: colour, dash, spanGaps: true, points: { show: curve.x.length < 2 } };
      series.push({ ...line, label, width: 1.75, value });
      if (!curve.low) continue;
      const at = series.length;
      // Their lines are not drawn: the band between them is.
      series.push({ ...line, label: `${label}, lowest`, width: 0, value, class: "edge" });
      series.push({ ...line, label: `${label}, highest`, width: 0, value, class: "edge" });
      bands.push({ series: [at + 1, at], fill: `${colour}2e` });
    }
    const axis = { stroke: text, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 }, font: "12px system-ui, sans-serif" };
    const wide = (_, texts) => 18 + 7 * Math.max(2, ...(texts ?? []).map((text) => text.length));
    // The pointer stays where it is.
    this.pointer = this.plot?.cursor;
    this.plot?.destroy();
    this.plot = new uPlot({
      width: this.width(),
      height: HEIGHT,
      padding: [8, 14, 0, 0],
      scales: { x: { time: false }, y: logAxis ? { distr: 3 } : { range: (_, low, high) => ends(low, high) } },
      axes: [{ ...axis, values: (_, at) => steps(at), size: 30 },
        { ...axis, values: (_, at) => this.marked(logAxis ? at.map((y) => (y === null ? "" : shown(y))) : marks(at)), size: wide }],
      series,
      bands,
      cursor: { drag: { x: true, y: false, setScale: false }, sync: { key: "runs", filters: { pub: (kind) => kind.startsWith("mouse") && kind !== "mouseup" && kind !== "mousedown" } }, bind: { dblclick: () => () => zooming.to(null) } },
      legend: { markers: { fill: (_, at) => series[at].stroke } },
      hooks: { setSelect: [(plot) => this.selected(plot)], setLegend: [(plot) => this.readLast(plot)] },
    }, data, this.host);
    this.host.querySelector(".u-legend").setAttribute("aria-label", `Values of ${this.title}`);
  }

  /** Tests read what stands on the canvas. */
  marked(texts) {
    this.host.dataset.marks = texts.join(" ");
    return texts;
  }

  selected(plot) {
    if (plot.select.width < 4) return;
    const from = plot.posToVal(plot.select.left, "x");
    const to = plot.posToVal(plot.select.left + plot.select.width, "x");
    plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
    zooming.to({ from, to });
  }

  zoom() {
    if (!this.plot.data[0].length) return;
    if (state.zoom) this.plot.setScale("x", { min: state.zoom.from, max: state.zoom.to });
    else this.plot.setScale("x", { min: zooming.all[0], max: Math.max(zooming.all[1], zooming.all[0] + 1) });
    // When that has happened, something else may be under the pointer.
    queueMicrotask(() => this.read(this.plot));
  }

  /** Reads what is under the pointer now. */
  read(plot) {
    const { left, top } = this.pointer ?? plot.cursor;
    this.pointer = null;
    if (left >= 0) plot.setCursor({ left, top }, true, false);
    else this.readLast(plot);
  }

  /** Where no pointer is, the newest values are read, of what is looked at. */
  readLast(plot) {
    if (plot.cursor.left >= 0 || !plot.data[0].length) return;
    const unseen = (at) => state.zoom && plot.data[0][at] > state.zoom.to;
    const last = (values) => { let at = values.length - 1; while (at > 0 && (values[at] === null || values[at] === undefined || unseen(at))) at--; return at; };
    plot.setLegend({ idxs: plot.data.map(last) }, false);
  }

  pressed(event) {
    const plot = this.plot;
    if (!plot || event.ctrlKey || event.metaKey || event.altKey) return;
    const { min, max } = plot.scales.x;
    const zoomed = (factor) => {
      const middle = plot.cursor.idx != null ? plot.data[0][plot.cursor.idx] : (min + max) / 2;
      zooming.to({ from: middle - (middle - min) * factor, to: middle + (max - middle) * factor });
    };
    if (event.key === "+" || event.key === "=") zoomed(0.5);
    else if (event.key === "-" || event.key === "−") zoomed(2);
    else if (event.key === "0" || event.key === "Escape") zooming.to(null);
    else if (event.key === "ArrowLeft" || event.key === "ArrowRight") this.moved(event.key === "ArrowLeft" ? -1 : 1);
    else return;
    event.preventDefault();
  }

  /** Moves the cursor by a point, and reads out what is there. */
  moved(by) {
    const plot = this.plot;
    const at_ = plot.data[0];
    const { min, max } = plot.scales.x;
    const inside = at_.map((_, i) => i).filter((i) => at_[i] >= min && at_[i] <= max);
    if (!inside.length) return;
    const now = plot.cursor.idx ?? inside[inside.length - 1];
    const at = Math.max(inside[0], Math.min(inside[inside.length - 1], now + by));
    plot.setCursor({ left: plot.valToPos(at_[at], "x"), top: 10 });
    const values = plot.series.slice(1).map((line, i) => [line, plot.data[i + 1][at], this.texts[i]])
      .filter(([line, y]) => line.width > 0 && y !== null && y !== undefined);
    setText(found("reading"), `${this.title}, step ${stepText(at_[at])}: ${values.map(([line, y, text]) => `${line.label} ${text(y)}`).join(", ")}`);
  }

  close() {
    this.plot?.destroy();
    this.node.remove();
  }
}
