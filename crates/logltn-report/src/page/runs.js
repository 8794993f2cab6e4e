// The list of runs: state, progress, where they stand; sorted, filtered, pinned, chosen.
import { element, found, setText } from "./elements.js";
import { counted, degree, duration, isCapped, shown } from "./numbers.js";
import { colourIndex, keep, nameOf, paletteColour, state } from "./state.js";

const rows = new Map();
const changed = { chosen: () => {}, focus: () => {} };
let heads = "";

/** Columns that are always there. */
const FIXED = ["name", "state"];

function columns() {
  return allColumns().filter(({ key }) => FIXED.includes(key) || !state.hiddenColumns.has(key));
}

/** A list of the columns, each with a box; those that match what is typed. */
function showColumns() {
  const wanted = found("column-filter").value.toLowerCase();
  const boxes = allColumns().filter(({ key, title }) => !FIXED.includes(key) && title.toLowerCase().includes(wanted)).map(({ key, title }) => {
    const box = element("input", { type: "checkbox", onchange: () => {
      if (box.checked) state.hiddenColumns.delete(key); else state.hiddenColumns.add(key);
      keep();
      showRuns();
    } });
    box.checked = !state.hiddenColumns.has(key);
    return element("label", {}, box, ` ${title}`);
  });
  found("column-list").replaceChildren(...boxes);
}

/** What to do where there is no run yet. */
function showBeginning() {
  found("beginning").hidden = state.runs.size > 0 || !state.source.live;
}

function allColumns() {
  const names = new Set();
  for (const run of state.runs.values()) for (const [name] of run.metrics) names.add(name);
  const metrics = [...names].map((name) => ({
    key: `metric:${name}`, title: name, number: true,
    value: (run) => run.metrics.find(([known]) => known === name)?.[1],
  }));
  return [
    { key: "name", title: "Run", value: nameOf },
    { key: "state", title: "State", value: (run) => run.state },
    { key: "progress", title: "Progress", value: (run) => (run.total ? run.step / run.total : -1) },
    ...([...state.runs.values()].some((run) => run.left !== null)
      ? [{ key: "left", title: "Time left", number: true, value: (run) => run.left ?? undefined, text: (run) => duration(run.left) }] : []),
    // What people look for first; the loss can be seen in the curves, too.
    ...metrics,
    { key: "loss", title: "Loss", number: true, value: (run) => run.loss },
    { key: "sat", title: "Satisfaction", number: true, value: (run) => degree(run.sat, run.logs),
      parts: (run) => (run.logs && run.sat !== null ? [isCapped(run.sat, true) ? "1 (capped)" : shown(degree(run.sat, true)), `log ${shown(run.sat)}`] : [shown(run.sat), ""]) },
    { key: "seed", title: "Seed", number: true, value: (run) => (run.seed === "" ? undefined : Number(run.seed)), text: (run) => run.seed },
    { key: "started", title: "Started", value: (run) => run.started, text: (run) => day(run.started) },
  ];
}

/** Which weights a finished run has: early stopping keeps the best ones. */
function weights(run) {
  return (run.kept ?? null) === null ? "last weights" : `best weights, of step ${counted(run.kept)}`;
}

/** The hour of today, or the day: a table has little room. */
function day(time) {
  const [date, hour] = time.split("T");
  return hour && date === new Date().toISOString().slice(0, 10) ? hour.slice(0, 5) : date;
}

/** Every word must be there: in the name, the title or the state, or as `seed=3`. */
function passes(run) {
  const text = [nameOf(run), run.title, run.state, run.semantics, `seed=${run.seed}`].join(" ").toLowerCase();
  return state.filter.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

function sorted(list, all) {
  const column = all.find((one) => one.key === state.sort.key) ?? all[all.length - 1];
  const sign = state.sort.down ? -1 : 1;
  const missing = (value) => value === undefined || value === null || Number.isNaN(value);
  return list.sort((a, b) => {
    const pins = Number(state.pinned.has(b.id)) - Number(state.pinned.has(a.id));
    if (pins) return pins;
    const [x, y] = [column.value(a), column.value(b)];
    if (missing(x) || missing(y)) return Number(missing(x)) - Number(missing(y));
    if (x < y) return -sign;
    if (x > y) return sign;
    return nameOf(a).localeCompare(nameOf(b), "en", { numeric: true });
  });
}

function head(all) {
  const shape = JSON.stringify([all.map((one) => one.key), state.sort]);
  if (shape === heads) return;
  heads = shape;
  for (const [, row] of rows) row.node.remove();
  rows.clear();
  const cells = all.map(({ key, title, number }) => {
    const here = state.sort.key === key;
    const sort = here ? (state.sort.down ? "descending" : "ascending") : "none";
    const press = () => {
      state.sort = { key, down: here ? !state.sort.down : !!number };
      keep();
      showRuns();
      document.querySelector(`#run-table [data-sort="${CSS.escape(key)}"]`)?.focus();
    };
    return element("th", { scope: "col", "aria-sort": sort, class: number ? "number" : null },
      element("button", { type: "button", "data-sort": key, title: `Sort by ${title}`, onclick: press }, title.split(/(?<=[_(,])/).flatMap((part) => [part, element("wbr")]),
        element("span", { "aria-hidden": "true" }, here ? (state.sort.down ? " ↓" : " ↑") : "")));
  });
  found("run-table").tHead.replaceChildren(element("tr", {},
    element("th", { scope: "col" }, element("span", { class: "visually-hidden" }, "Chosen, pinned")), cells));
}

function makeRow(run, all) {
  const name = nameOf(run);
  const choose = element("input", { type: "checkbox", "aria-label": `Show the curves of ${name}`, onchange: () => {
    if (choose.checked) state.chosen.add(run.id); else state.chosen.delete(run.id);
    keep();
    changed.chosen();
  } });
  const pin = element("button", { type: "button", class: "pin", "aria-label": `Pin ${name}`, title: "Pin to the top", onclick: () => {
    if (!state.pinned.delete(run.id)) state.pinned.add(run.id);
    keep();
    showRuns();
    pin.focus();
  } }, "★");
  const swatch = element("i", { class: "swatch", "aria-hidden": "true" });
  const open = element("button", { type: "button", class: "open", onclick: () => changed.focus(run.id) }, name);
  const meter = element("progress", { "aria-label": `Progress of ${name}` });
  const share = element("span", {});
  const cells = all.map((column) => {
    const cell = element("td", { class: column.number ? "number" : column.key });
    if (column.key === "name") cell.append(swatch, open);
    if (column.key === "state") cell.append(element("div", { class: "reason" }));
    if (column.key === "progress") cell.append(meter, share);
    if (column.parts) cell.append(element("span", {}), " ", element("span", { class: "beside" }));
    return cell;
  });
  // The whole row opens the run, but for what does something else; the button in it is for the keyboard.
  const press = (event) => {
    if (!event.target.closest(".choice, button") && !String(getSelection())) changed.focus(run.id);
  };
  const node = element("tr", { "data-run": run.id, onclick: press }, element("td", { class: "choice" }, choose, pin), cells);
  return { node, choose, pin, swatch, meter, share, cells };
}

function updateRow(row, run, all) {
  row.choose.checked = state.chosen.has(run.id);
  row.pin.setAttribute("aria-pressed", String(state.pinned.has(run.id)));
  row.swatch.style.background = paletteColour(colourIndex(run.id));
  row.node.classList.toggle("focused", state.focus === run.id);
  all.forEach((column, i) => {
    const cell = row.cells[i];
    if (column.key === "name") {
      cell.title = run.title;
    } else if (column.key === "state") {
      setText(cell.firstChild, run.reason ? `${run.state}: ${run.reason}` : run.state);
      cell.dataset.state = run.state;
      cell.title = run.reason;
    } else if (column.key === "progress") {
      row.meter.hidden = !run.total;
      row.meter.max = run.total || 1;
      row.meter.value = Math.min(run.step, run.total || 1);
      setText(row.share, run.total ? `${counted(run.step)} of ${counted(run.total)}` : `step ${counted(run.step)}`);
    } else {
      if (column.parts) column.parts(run).forEach((text, part) => setText(cell.children[part], text));
      else setText(cell, column.text ? column.text(run) : shown(column.value(run)));
      if (column.key === "started") cell.title = run.started;
      if (["loss", "sat"].includes(column.key)) cell.title = run.whole ? `of the whole theory with the ${weights(run)}` : "of the last step and its batch";
      if (column.key.startsWith("metric:")) cell.title = (run.kept ?? null) === null ? "the newest value" : `of the ${weights(run)}`;
    }
  });
}

/** Runs that differ in their seed only, one group after the other, where seeds are looked at together. */
function grouped(list) {
  if (!state.options.seeds) return list.map((run) => [run]);
  const groups = new Map();
  for (const run of list) {
    const key = run.group || run.id;
    groups.set(key, [...(groups.get(key) ?? []), run]);
  }
  return [...groups.values()];
}

/** The line of a group: means, and how far from these runs usually are. */
function groupRow(runs, all) {
  // The name has the room of the columns beside it, which say nothing of a group.
  const wide = all.findIndex((column, i) => i > 0 && column.number);
  const cells = all.map((column, i) => {
    if (i === 0) return element("td", { colspan: wide < 0 ? all.length : wide }, `${runs.length} seeds of ${nameOf(runs[0])}`);
    if (i < wide || wide < 0) return null;
    const values = runs.map((run) => column.value(run)).filter((value) => typeof value === "number" && Number.isFinite(value));
    if (!column.number || ["seed", "left"].includes(column.key) || values.length < 2) return element("td", {});
    const mean = values.reduce((a, b) => a + b, 0) / values.length;
    const deviation = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1));
    return element("td", { class: "number" }, `${shown(mean)} ± ${shown(deviation)}`);
  });
  return element("tr", { class: "group" }, element("td", {}), cells.filter(Boolean));
}

/** Brings the table up to date. What has not changed stays as it is, and with it the focus. */
export function showRuns() {
  const all = columns();
  head(all);
  const list = sorted([...state.runs.values()].filter(passes), all);
  const body = found("run-table").tBodies[0];
  const ids = new Set(list.map((run) => run.id));
  for (const [id, row] of rows) if (!ids.has(id)) { row.node.remove(); rows.delete(id); }
  for (const old of body.querySelectorAll("tr.group")) old.remove();
  let at = 0;
  const put = (node) => {
    if (body.children[at] !== node) body.insertBefore(node, body.children[at] ?? null);
    at += 1;
  };
  for (const group of grouped(list)) {
    if (group.length > 1) put(groupRow(group, all));
    for (const run of group) {
      let row = rows.get(run.id);
      if (!row) rows.set(run.id, (row = makeRow(run, all)));
      updateRow(row, run, all);
      put(row.node);
    }
  }
  showBeginning();
  const running = [...state.runs.values()].filter((run) => run.state === "running").length;
  const total = state.runs.size;
  setText(found("run-count"), `${list.length === total ? total : `${list.length} of ${total}`} ${total === 1 ? "run" : "runs"}, ${running} running`);
}

/** Begins: what the controls do, and whom to tell. */
export function startRuns(onChosen, onFocus) {
  changed.chosen = onChosen;
  changed.focus = onFocus;
  found("filter").value = state.filter;
  found("filter").addEventListener("input", (event) => { state.filter = event.target.value; keep(); showRuns(); });
  found("columns").addEventListener("toggle", showColumns);
  found("column-filter").addEventListener("input", showColumns);
  found("choose-all").addEventListener("click", () => {
    for (const run of state.runs.values()) if (passes(run)) state.chosen.add(run.id);
    keep(); showRuns(); onChosen();
  });
  found("choose-none").addEventListener("click", () => { state.chosen.clear(); keep(); showRuns(); onChosen(); });
}
