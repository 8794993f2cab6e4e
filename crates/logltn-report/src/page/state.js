// What is chosen, and what stays so when the page is opened again.

const KEPT = "logltn.dashboard";

function kept() {
  try {
    return JSON.parse(localStorage.getItem(KEPT)) ?? {};
  } catch {
    return {}; // a page that may keep nothing
  }
}

const before = kept();

/** All that the page knows. */
export const state = {
  source: null,
  runs: new Map(),
  chosen: new Set(before.chosen ?? []),
  pinned: new Set(before.pinned ?? []),
  colours: before.colours ?? {},
  sort: before.sort ?? { key: "started", down: true },
  filter: "",
  focus: before.focus ?? null,
  tab: before.tab ?? "axioms",
  theme: before.theme ?? null,
  options: { smoothing: 0, logAxis: false, logTruth: false, seeds: false, ...before.options },
  /** The steps that are looked at: null for all. */
  zoom: null,
};

/** Keeps what was chosen. */
export function keep() {
  const { colours, sort, focus, tab, theme, options } = state;
  const chosen = [...state.chosen];
  const pinned = [...state.pinned];
  try {
    localStorage.setItem(KEPT, JSON.stringify({ chosen, pinned, colours, sort, focus, tab, theme, options }));
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

/** The colour of a run, which stays with it: the first that no other has. */
export function colourIndex(id) {
  if (state.colours[id] === undefined) {
    const taken = new Set(Object.entries(state.colours).filter(([other]) => state.runs.has(other)).map(([, index]) => index));
    let index = 0;
    while (taken.has(index)) index++;
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
