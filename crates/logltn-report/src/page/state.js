// What is chosen, and what stays so when the page is opened again.

const KEPT = "logltn.dashboard";

function kept() {
  try {
    return JSON.parse(localStorage.getItem(KEPT)) ?? {};
  } catch {
    return {}; // a page that may keep nothing
  }
}

/** What the address says: it goes before what was kept, so that others see what they were sent. */
function addressed() {
  const said = new URLSearchParams(location.hash.slice(1));
  const out = {};
  if (said.has("runs")) out.chosen = said.getAll("runs");
  for (const key of ["focus", "tab", "axiom", "filter"]) if (said.has(key)) out[key] = said.get(key);
  if (said.has("runs")) out.seeds = said.has("seeds");
  const zoom = (said.get("steps") ?? "").split("-").map(Number);
  if (zoom.length === 2 && zoom.every(Number.isFinite) && zoom[1] > zoom[0]) out.zoom = { from: zoom[0], to: zoom[1] };
  return out;
}

const before = { ...kept(), axiom: null, filter: "", zoom: null, ...addressed() };

/** All that the page knows. */
export const state = {
  source: null,
  runs: new Map(),
  chosen: new Set(before.chosen ?? []),
  pinned: new Set(before.pinned ?? []),
  colours: before.colours ?? {},
  sort: before.sort ?? { key: "started", down: true },
  filter: before.filter,
  focus: before.focus ?? null,
  /** The axiom that is open. */
  axiom: before.axiom,
  /** Null until the source is known. */
  tab: before.tab ?? null,
  theme: before.theme ?? null,
  options: { smoothing: 0, logAxis: false, logTruth: false, seeds: false, ...before.options, ...(before.seeds === undefined ? {} : { seeds: before.seeds }) },
  /** The steps that are looked at: null for all. */
  zoom: before.zoom,
  /** Charts that stand first, columns of the table that are hidden. */
  pinnedCharts: new Set(before.pinnedCharts ?? []),
  hiddenColumns: new Set(before.hiddenColumns ?? []),
};

/** Writes what is looked at into the address. */
function address_() {
  // Before the runs are known nothing can be said of them.
  if (!state.runs.size) return;
  const said = new URLSearchParams();
  for (const id of state.chosen) if (state.runs.has(id)) said.append("runs", id);
  for (const key of ["focus", "tab", "axiom", "filter"]) if (state[key]) said.set(key, state[key]);
  if (state.options.seeds) said.set("seeds", "mean");
  if (state.zoom) said.set("steps", `${Math.floor(state.zoom.from)}-${Math.ceil(state.zoom.to)}`);
  try {
    history.replaceState(null, "", `#${said}`);
  } catch {
    // A page in a frame may have no address of its own.
  }
}

/** Keeps what was chosen. */
export function keep() {
  const { colours, sort, focus, tab, theme, options } = state;
  const [chosen, pinned] = [[...state.chosen], [...state.pinned]];
  const [pinnedCharts, hiddenColumns] = [[...state.pinnedCharts], [...state.hiddenColumns]];
  address_();
  try {
    localStorage.setItem(KEPT, JSON.stringify({ chosen, pinned, pinnedCharts, hiddenColumns, colours, sort, focus, tab, theme, options }));
  } catch {
    // It is there until the page is closed.
  }
}

// The palette of Okabe and Ito and a few more, darker on light and lighter on dark: all have a contrast of 3 and more.
const LIGHT = ["#0072b2", "#c24e00", "#00795a", "#a8437f", "#7a6100", "#5b4fc7", "#4a4a4a", "#b3261e"];
const DARK = ["#56b4e9", "#f28e2b", "#2bc99a", "#e79ac4", "#e6c229", "#a79cff", "#c8c8c8", "#ff8a80"];
const DASHES = [[], [8, 4], [2, 3], [10, 3, 2, 3]];

export function isDark() {
  if (state.theme) return state.theme === "dark";
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

/** How many colours with dashes there are. */
const LOOKS = LIGHT.length * DASHES.length;

/** A number that is the same for a name on every page. */
function hashed(name) {
  let hash = 2166136261;
  for (const letter of name) hash = Math.imul(hash ^ letter.codePointAt(0), 16777619) >>> 0;
  return hash;
}

/** The colour of a run, which stays with it: by its name, here and in its report; the next one if a run that is here has that. */
export function colourIndex(id) {
  if (state.colours[id] === undefined) {
    const taken = new Set(Object.entries(state.colours).filter(([other]) => state.runs.has(other)).map(([, index]) => index));
    // Plain lines first: colours are told apart more easily than dashes.
    let index = hashed(id.split("/").pop()) % LIGHT.length;
    for (let tried = 0; taken.has(index) && tried < LOOKS; tried++) index = (index + 1) % LOOKS;
    state.colours[id] = index;
    keep();
  }
  return state.colours[id];
}

export function paletteColour(index) {
  return (isDark() ? DARK : LIGHT)[index % LIGHT.length];
}

/** Where all colours have been given, a dash tells runs apart. */
export function dashOf(index) {
  return DASHES[Math.floor(index / LIGHT.length) % DASHES.length];
}

/** What a run is called. */
export function nameOf(run) {
  return run.id === "." ? run.title || "." : run.id;
}
