// The page: what the source tells goes to the list, the curves and the run that is looked at.
import { element, found, mistakes, setText } from "./elements.js";
import { makeSource } from "./source.js";
import { isDark, keep, nameOf, state } from "./state.js";
import { drawSoon, refresh, startCurves } from "./curves.js";
import { showRuns, startRuns } from "./runs.js";
import { axiomPanel } from "./axioms.js";
import { queryPanel } from "./query.js";
import { networkPanel } from "./networks.js";
import { toldPanel } from "./told.js";

const TABS = [
  ["axioms", "Axioms", axiomPanel],
  ["query", "Ask", queryPanel],
  ["networks", "Networks and data", networkPanel],
  ["told", "Manifest", toldPanel],
];
/** So many runs are chosen where nobody has. */
const FIRST = 3;

let updatePanel = () => {};
let shownRun = null;
let knowsAxioms = true;

function refreshChosen() {
  for (const id of state.chosen) refresh(id).then(() => { if (id === state.focus) updatePanel(); });
  if (state.focus && !state.chosen.has(state.focus)) refresh(state.focus).then(() => updatePanel());
  drawSoon();
}

function showTabs() {
  found("tabs").replaceChildren(...TABS.map(([key, title]) => element("button", {
    type: "button", role: "tab", id: `tab-${key}`, "aria-selected": String(state.tab === key), "aria-controls": "panel",
    tabindex: state.tab === key ? 0 : -1,
    onclick: () => {
      if (state.tab === key) return;
      state.tab = key;
      keep();
      showRun();
      found(`tab-${key}`).focus();
    },
    onkeydown: (event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!by) return;
      const next = TABS[(TABS.findIndex(([one]) => one === key) + by + TABS.length) % TABS.length][0];
      found(`tab-${next}`).click();
    },
  }, title)));
  found("panel").setAttribute("aria-labelledby", `tab-${state.tab}`);
}

async function showRun() {
  const run = state.runs.get(state.focus);
  found("run").hidden = !run;
  if (!run) return;
  setText(found("run-title"), nameOf(run));
  const line = [run.title, run.reason ? `${run.state}: ${run.reason}` : run.state, run.semantics, run.seed && `seed ${run.seed}`];
  setText(found("run-facts"), line.filter(Boolean).join(" · "));
  // What a run leaves behind when it ends is shown then; what somebody has opened or typed stays.
  const ended = ["networks", "told"].includes(state.tab) ? run.state : "";
  const beside = state.tab === "told" ? [...state.chosen] : "";
  const shape = (version) => JSON.stringify([run.id, state.tab, ended, beside, version]);
  const now = shape(knowsAxioms ? "" : run.version);
  if (shownRun === now) return;
  shownRun = now;
  const wanted = shownRun;
  showTabs();
  updatePanel = () => {};
  found("panel").replaceChildren();
  try {
    const details = await state.source.details(run.id);
    if (wanted !== shownRun) return;
    knowsAxioms = details.axioms.length > 0;
    if (!knowsAxioms) shownRun = shape(run.version);
    const [, , panel] = TABS.find(([key]) => key === state.tab) ?? TABS[0];
    updatePanel = panel(run.id, details, found("panel"));
  } catch (error) {
    found("panel").replaceChildren(mistakes(error.errors ?? error.message));
  }
}

/** Looks at a run. */
function look(id) {
  state.focus = id;
  state.axiom = null;
  state.chosen.add(id);
  keep();
  showRuns();
  refreshChosen();
  showRun();
}

/** Where nobody has chosen: those that run, and the newest. */
function chooseSome() {
  const there = [...state.chosen].some((id) => state.runs.has(id));
  if (!there && state.runs.size) {
    const newest = [...state.runs.values()].sort((a, b) =>
      (b.state === "running") - (a.state === "running") || (b.started > a.started ? 1 : b.started < a.started ? -1 : 0));
    for (const run of newest.slice(0, FIRST)) state.chosen.add(run.id);
  }
  if (!state.runs.has(state.focus)) state.focus = [...state.chosen].find((id) => state.runs.has(id)) ?? null;
}

let begun = false;

function told(news) {
  if (news.all) {
    state.runs = new Map(news.all.map((run) => [run.id, run]));
  } else {
    for (const run of news.changed) state.runs.set(run.id, run);
    for (const id of news.gone) state.runs.delete(id);
  }
  if (!begun || !state.runs.has(state.focus)) chooseSome();
  begun = begun || state.runs.size > 0;
  showRuns();
  refreshChosen();
  showRun();
}

function applyTheme() {
  document.documentElement.dataset.theme = isDark() ? "dark" : "light";
}

state.source = makeSource();
state.tab ??= state.source.first ?? "axioms";
applyTheme();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { applyTheme(); showRuns(); drawSoon(); });
found("theme").addEventListener("click", () => {
  state.theme = isDark() ? "light" : "dark";
  keep(); applyTheme(); showRuns(); drawSoon();
});
/** A report begins with words and ends with the table of its one run. */
function showWords(words) {
  document.querySelector("main").classList.toggle("sides", !words?.length);
  if (!words?.length) return;
  found("words").hidden = false;
  found("words").querySelector("ul").replaceChildren(...words.map((word) => element("li", {}, word)));
  document.querySelector("main").append(found("runs"));
}

// The address holds what is looked at; a link to a part of the page must not take its place.
for (const link of document.querySelectorAll("header nav a, .skip")) {
  link.addEventListener("click", (event) => {
    event.preventDefault();
    const part = found(link.getAttribute("href").slice(1));
    part.scrollIntoView();
    part.tabIndex = -1;
    part.focus({ preventScroll: true });
  });
}
showWords(state.source.words);
startCurves(showRuns);
startRuns(() => { refreshChosen(); showRun(); }, look);
addEventListener("hashchange", () => location.reload());
document.addEventListener("visibilitychange", refreshChosen);
state.source.listen(told, (connected) => {
  setText(found("link"), connected ? "" : "The server does not answer; trying again.");
  document.documentElement.dataset.connected = String(connected);
});
