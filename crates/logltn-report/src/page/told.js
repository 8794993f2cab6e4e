// What runs were told: manifests by key, side by side.
import { element, mistakes } from "./elements.js";
import { nameOf, state } from "./state.js";

function text(value) {
  if (value === undefined) return "–";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The panel: this run and the other chosen ones. */
export function toldPanel(id, details, panel) {
  const others = [...state.chosen].filter((other) => other !== id && state.runs.has(other));
  const differing = element("input", { type: "checkbox" });
  differing.checked = others.length > 0;
  const place = element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Settings of the runs" });
  const load = async () => {
    try {
      // Of one that cannot be read the list says so; the others can be compared all the same.
      const toldOf = (other) => state.source.details(other).catch(() => ({ told: {} }));
      const all = [[id, details], ...await Promise.all(others.map(async (other) => [other, await toldOf(other)]))];
      const keys = [...new Set(all.flatMap(([, one]) => Object.keys(one.told)))].sort();
      const differs = (key) => new Set(all.map(([, one]) => text(one.told[key]))).size > 1;
      const show = () => {
        const wanted = keys.filter((key) => !differing.checked || differs(key));
        place.replaceChildren(element("table", { class: "told", "aria-label": "Settings of the runs, by key" },
          element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "Key"),
            all.map(([run]) => element("th", { scope: "col" }, nameOf(state.runs.get(run) ?? { id: run }))))),
          element("tbody", {}, wanted.map((key) => element("tr", { class: differs(key) ? "differs" : null },
            element("th", { scope: "row" }, key), all.map(([, one]) => element("td", { class: "formula" }, text(one.told[key]))))))),
        wanted.length ? "" : element("p", { class: "note" }, "The runs have the same settings."));
      };
      differing.addEventListener("change", show);
      show();
    } catch (error) {
      place.replaceChildren(mistakes(error.errors ?? error.message));
    }
  };
  const facts = element("dl", { class: "facts" }, details.facts.map(([name, value]) =>
    element("div", {}, element("dt", {}, name), element("dd", {}, value))));
  panel.replaceChildren(
    element("p", { class: "note" }, others.length ? "This run and the other chosen ones." : "Choose other runs to compare them with this one."),
    element("label", {}, differing, " Only what differs"), place,
    element("h3", {}, "Facts"), facts,
    element("details", {}, element("summary", {}, "Theory"), element("pre", { class: "formula" }, details.theory)));
  load();
  return () => {};
}
