// The charts of the chosen runs.
import { element, found, setText } from "./elements.js";
import { Chart, zooming } from "./chart.js";
import { isCapped, shown, truthText } from "./numbers.js";
import { asDegrees, averaged, merged, smoothed } from "./series.js";
import { colourIndex, dashOf, keep, nameOf, paletteColour, state } from "./state.js";

/** So long after something could not be read, it is tried again. */
const AGAIN = 2000;
/** How many charts of axioms there are before somebody asks for all. */
const FEW_AXIOMS = 6;

const curves = new Map();
const asking = new Set();
const stretches = new Map();
const charts = new Map();
let allAxioms = false;
let allSchedules = false;
/** What a manifest plans: a flat line where it never changes. */
const SCHEDULES = ["learning rate", "α", "p", "p_forall"];

function isConstant(lines) {
  return lines.every(({ curve: { y } }) => y.every((value) => value === y[0]));
}

/** A button that makes a chart stand before the others. */
function pinChart(key, chart) {
  const button = element("button", { type: "button", class: "pin", title: "Show this chart first", "aria-label": `Show ${chart.title} first`,
    "aria-pressed": String(state.pinnedCharts.has(key)), onclick: () => {
      if (!state.pinnedCharts.delete(key)) state.pinnedCharts.add(key);
      button.setAttribute("aria-pressed", String(state.pinnedCharts.has(key)));
      keep();
      drawSoon();
    } }, "★");
  return button;
}

/** What is known of a run's curves. */
export function curvesOf(id) {
  return curves.get(id);
}

/** Brings the curves of a run up to date, if they are not: one request after the other, so that none overtakes another. */
export async function refresh(id) {
  // What nobody sees is asked for when it is seen.
  if (asking.has(id) || document.hidden) return;
  asking.add(id);
  for (;;) {
    const run = state.runs.get(id);
    const old = curves.get(id);
    if (!run || old?.version === run.version || document.hidden) break;
    try {
      let now = merged(old, await state.source.curves(id, old));
      now ??= merged(null, await state.source.curves(id));
      curves.set(id, { ...now, version: run.version });
      // What is new may lie in what is looked at.
      if (state.zoom && (!old || (stretches.has(id) && state.zoom.to > old.step))) await refine([id]);
    } catch (error) {
      // What is there stays: a disk of another machine may be away for a moment.
      const nothing = { series: new Map(), last: new Map(), leftOut: new Map(), rules: new Map() };
      curves.set(id, { ...nothing, ...old, version: null, errors: error.errors ?? [{ message: error.message }] });
      if (state.source.live) setTimeout(() => refresh(id), AGAIN);
      drawSoon();
      break;
    }
    drawSoon();
  }
  asking.delete(id);
}

let waiting = false;

/** Draws once, however much has changed. */
export function drawSoon() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; draw(); });
}

/** The chosen runs that are there, alone or with those of the same configuration. */
function lineGroups() {
  const runs = [...state.chosen].map((id) => state.runs.get(id)).filter((run) => run && curves.get(run.id));
  if (!state.options.seeds) return runs.map((run) => [run]);
  const groups = new Map();
  for (const run of runs) {
    const key = run.group || run.id;
    groups.set(key, [...(groups.get(key) ?? []), run]);
  }
  return [...groups.values()];
}

function curveOf(run, key) {
  const known = curves.get(run.id);
  const curve = (stretches.get(run.id) ?? known).series.get(key) ?? known.series.get(key);
  if (!curve || !curve.x.length) return null;
  return isTruth(key) && known.logs && !state.options.logTruth ? asDegrees(curve) : curve;
}

function linesOf(key) {
  const lines = [];
  for (const runs of lineGroups()) {
    const parts = runs.map((run) => curveOf(run, key)).filter(Boolean);
    if (!parts.length) continue;
    const index = colourIndex(runs[0].id);
    const label = runs.length > 1 ? `${nameOf(runs[0])} and ${runs.length - 1} more seeds` : nameOf(runs[0]);
    let curve = parts.map((part) => smoothed(part, state.options.smoothing));
    curve = curve.length > 1 ? averaged(curve) : curve[0];
    const logs = isTruth(key) && curves.get(runs[0].id).logs;
    const alone = runs.length === 1 && !state.options.smoothing && logs;
    const capped = logs && runs.some((run) => (curves.get(run.id).series.get(key)?.high ?? curves.get(run.id).series.get(key)?.y)?.some((y) => isCapped(y, true)));
    const text = (y) => {
      if (!alone) return shown(y);
      if (state.options.logTruth) return truthText(y, true);
      return capped && y === 1 ? "1 (capped)" : truthText(Math.log(y), true);
    };
    lines.push({ label, colour: paletteColour(index), dash: dashOf(index), curve, capped, text });
  }
  return lines;
}

function isTruth(key) {
  return key === "sat" || key.startsWith("axiom:");
}

/** The quantities that the chosen runs have, with the titles of their charts. */
function quantities() {
  const keys = new Map([["loss", "Loss"], ["sat", state.options.logTruth ? "Satisfaction (log)" : "Satisfaction"]]);
  const rest = new Map([["gradient norm", "Norm of the gradient"], ["learning rate", "Learning rate"], ["α", "α"],
    ["p", "p"], ["p_forall", "p_forall"], ["step time", "Time of a step (s)"]]);
  const axioms = new Map();
  for (const id of state.chosen) {
    const known = curves.get(id);
    if (!known || !state.runs.has(id)) continue;
    for (const key of known.series.keys()) {
      if (key.startsWith("metric:")) keys.set(key, key.slice(7));
      else if (key.startsWith("axiom:") && !axioms.has(key)) axioms.set(key, `Truth of ${key.slice(6)}`);
    }
  }
  const shownAxioms = allAxioms ? [...axioms] : [...axioms].slice(0, FEW_AXIOMS);
  return { list: [...keys, ...shownAxioms, ...rest], hidden: axioms.size - shownAxioms.length };
}

function draw() {
  const host = found("charts");
  const { list, hidden } = quantities();
  const wanted = [];
  const drawable = list.map(([key, title]) => [key, title, linesOf(key)]).filter(([, , lines]) => lines.length);
  const folded = allSchedules ? [] : drawable.filter(([key, , lines]) => SCHEDULES.includes(key) && !state.pinnedCharts.has(key) && isConstant(lines));
  const all = drawable.filter((one) => !folded.includes(one))
    .sort(([a], [b]) => Number(state.pinnedCharts.has(b)) - Number(state.pinnedCharts.has(a)));
  // All charts show the same steps, one below the other.
  const ends = all.flatMap(([, , lines]) => lines.flatMap(({ curve: { x } }) => [x[0], x[x.length - 1]]));
  zooming.all = [ends.reduce((a, b) => Math.min(a, b), Infinity), ends.reduce((a, b) => Math.max(a, b), 0)];
  for (const [key, title, lines] of all) {
    wanted.push(key);
    let chart = charts.get(key);
    if (chart && chart.title !== title) { chart.close(); chart = null; }
    if (!chart) {
      chart = new Chart(title);
      chart.node.dataset.chart = key;
      chart.node.querySelector("figcaption").append(pinChart(key, chart));
      charts.set(key, chart);
    }
    // It must have a place to know how wide it is.
    const at = host.children[wanted.length - 1];
    if (at !== chart.node) host.insertBefore(chart.node, at ?? null);
    const cut = !state.options.logTruth && lines.some((line) => line.capped);
    chart.show(lines, state.options.logAxis, cut ? "logs above 0 capped" : "");
  }
  for (const [key, chart] of charts) {
    if (!wanted.includes(key)) { chart.close(); charts.delete(key); }
  }
  for (const other of [...host.children].slice(wanted.length)) other.remove();
  if (hidden > 0 || (allAxioms && list.length > FEW_AXIOMS)) {
    const text = allAxioms ? "Show fewer axioms" : `Show the curves of ${hidden} more axioms`;
    host.append(element("button", { type: "button", class: "more", onclick: () => { allAxioms = !allAxioms; drawSoon(); } }, text));
  }
  if (folded.length) {
    const constant = ([, title, lines]) => `${title} ${[...new Set(lines.map(({ curve: { y } }) => shown(y[0])))].join(", ")}`;
    host.append(element("p", { class: "note folded" }, `Constant: ${folded.map(constant).join("; ")}. `,
      element("button", { type: "button", onclick: () => { allSchedules = true; drawSoon(); } }, "Show their charts")));
  }
  const errors = [...state.chosen].filter((id) => state.runs.has(id) && curves.get(id)?.errors)
    .map((id) => `${nameOf(state.runs.get(id))}: ${curves.get(id).errors[0].message}`);
  setText(found("curve-errors"), errors.join("; "));
  if (!wanted.length && !errors.length) {
    host.append(element("p", { class: "note" }, state.chosen.size ? "No step has been recorded yet." : "Choose a run in the table."));
  }
  found("whole").disabled = !state.zoom;
}

/** Finer curves of what is looked at, where those of the whole run are thinned. */
async function refine(ids) {
  const zoom = state.zoom;
  if (!zoom) return;
  await Promise.all(ids.map(async (id) => {
    if (!curves.get(id)?.series.get("loss")?.low) return;
    const margin = (zoom.to - zoom.from) / 10;
    const from = Math.max(0, Math.floor(zoom.from - margin));
    const fine = await state.source.stretch(id, from, Math.ceil(zoom.to + margin)).catch(() => null);
    // Somebody may have looked elsewhere since.
    if (fine && state.zoom === zoom) stretches.set(id, merged(null, fine));
  }));
  drawSoon();
}

/** Begins: what the controls do, and whom to tell. */
export function startCurves(changedOption) {
  zooming.to = (zoom) => {
    state.zoom = zoom && zoom.to > zoom.from ? zoom : null;
    keep();
    for (const chart of charts.values()) chart.zoom();
    found("whole").disabled = !state.zoom;
    stretches.clear();
    refine([...state.chosen]);
    if (!state.zoom) drawSoon();
  };
  found("whole").addEventListener("click", () => zooming.to(null));
  const controls = { smoothing: "smoothing", logAxis: "log-axis", logTruth: "log-truth", seeds: "seeds" };
  for (const [option, id] of Object.entries(controls)) {
    const control = found(id);
    if (control.type === "checkbox") control.checked = state.options[option];
    else control.value = state.options[option];
    control.addEventListener("input", () => {
      state.options[option] = control.type === "checkbox" ? control.checked : Number(control.value);
      keep();
      drawSoon();
      changedOption();
    });
  }
}
