// One chart: a quantity, a line for each run.
import { element, found, setText } from "./elements.js";
import { shown } from "./numbers.js";
import { isDark, state } from "./state.js";

const HEIGHT = 220;

/** Zooms all charts to the steps between two; to all without. Whoever holds the charts sets what happens then. */
export const zooming = { to: () => {} };

function ink() {
  return isDark() ? { text: "#c9d1d9", grid: "#30363d" } : { text: "#3d4752", grid: "#e1e5ea" };
}

export class Chart {
  constructor(title) {
    this.title = title;
    this.host = element("div", { class: "plot" });
    this.node = element("figure", { class: "chart", tabindex: 0, role: "group", onkeydown: (event) => this.pressed(event) },
      element("figcaption", {}, title), this.host);
    new ResizeObserver(() => this.resized()).observe(this.host);
  }

  width() {
    return Math.max(180, this.host.clientWidth);
  }

  resized() {
    if (this.plot && this.plot.width !== this.width()) this.plot.setSize({ width: this.width(), height: HEIGHT });
  }

  /** Lines are `{ label, colour, dash, curve }`. */
  show(lines, log) {
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
    this.zoom();
    const ends = lines.map(({ label, curve }) => `${label} ends at ${shown(curve.y[curve.y.length - 1])}`);
    this.node.setAttribute("aria-label", `${this.title}: ${ends.join(", ") || "nothing yet"}`);
    this.host.dataset.points = String(data[0].length);
    this.host.dataset.last = String(data[0][data[0].length - 1] ?? "");
  }

  make(lines, logAxis, data) {
    const { text, grid } = ink();
    const series = [{ label: "step", value: (_, x) => (x === null ? "–" : shown(x)) }];
    const bands = [];
    for (const { label, colour, dash, curve } of lines) {
      const line = { stroke: colour, dash, spanGaps: true, points: { show: curve.x.length < 2 } };
      series.push({ ...line, label, width: 1.75, value: (_, y) => shown(y) });
      if (!curve.low) continue;
      const at = series.length;
      // Their lines are not drawn: the band between them is.
      series.push({ ...line, label: `${label}, lowest`, width: 0, value: (_, y) => shown(y), class: "edge" });
      series.push({ ...line, label: `${label}, highest`, width: 0, value: (_, y) => shown(y), class: "edge" });
      bands.push({ series: [at + 1, at], fill: `${colour}2e` });
    }
    const axis = { stroke: text, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 }, font: "12px system-ui, sans-serif" };
    const values = (_, splits) => splits.map((y) => (y === null ? "" : shown(y)));
    this.plot?.destroy();
    this.plot = new uPlot({
      width: this.width(),
      height: HEIGHT,
      scales: { x: { time: false }, y: { distr: logAxis ? 3 : 1 } },
      axes: [{ ...axis, values }, { ...axis, values, size: 64 }],
      series,
      bands,
      cursor: { drag: { x: true, y: false, setScale: false }, sync: { key: "runs", filters: { pub: (kind) => kind.startsWith("mouse") && kind !== "mouseup" && kind !== "mousedown" } }, bind: { dblclick: () => () => zooming.to(null) } },
      hooks: { setSelect: [(plot) => this.selected(plot)] },
    }, data, this.host);
  }

  selected(plot) {
    if (plot.select.width < 4) return;
    const from = plot.posToVal(plot.select.left, "x");
    const to = plot.posToVal(plot.select.left + plot.select.width, "x");
    plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
    zooming.to({ from, to });
  }

  zoom() {
    const steps = this.plot.data[0];
    if (!steps.length) return;
    if (state.zoom) this.plot.setScale("x", { min: state.zoom.from, max: state.zoom.to });
    else this.plot.setScale("x", { min: steps[0], max: Math.max(steps[steps.length - 1], steps[0] + 1) });
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
    const steps = plot.data[0];
    const { min, max } = plot.scales.x;
    const inside = steps.map((_, i) => i).filter((i) => steps[i] >= min && steps[i] <= max);
    if (!inside.length) return;
    const now = plot.cursor.idx ?? inside[inside.length - 1];
    const at = Math.max(inside[0], Math.min(inside[inside.length - 1], now + by));
    plot.setCursor({ left: plot.valToPos(steps[at], "x"), top: 10 });
    const values = plot.series.slice(1).map((line, i) => [line, plot.data[i + 1][at]])
      .filter(([line, y]) => line.width > 0 && y !== null && y !== undefined);
    setText(found("reading"), `${this.title}, step ${shown(steps[at])}: ${values.map(([line, y]) => `${line.label} ${shown(y)}`).join(", ")}`);
  }

  close() {
    this.plot?.destroy();
    this.node.remove();
  }
}
