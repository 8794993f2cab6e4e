// The axioms of a run: as written, in normal form, how true over time; and why not truer.
import { element, mistakes, setText, spark, truthBar } from "./elements.js";
import { explanation } from "./explanation.js";
import { counted, degree, shown, truthText } from "./numbers.js";
import { curvesOf } from "./curves.js";
import { keep, state } from "./state.js";

/** More axioms than these are shown when somebody asks. */
const FEW = 100;

async function toggle(id, axiom, button, place) {
  const open = button.getAttribute("aria-expanded") === "true";
  button.setAttribute("aria-expanded", String(!open));
  place.hidden = open;
  state.axiom = open ? null : axiom.name;
  keep();
  if (open) return;
  place.replaceChildren(element("p", { class: "note", role: "status" }, "Asking …"));
  try {
    const told = await state.source.explain(id, axiom.name);
    place.replaceChildren(explanation(told));
  } catch (error) {
    place.replaceChildren(mistakes(error.errors ?? error.message));
  }
}

function axiomItem(id, axiom, formulas) {
  const forms = formulas[axiom.family] ?? null;
  const place = element("div", { class: "why", hidden: true });
  const button = element("button", { type: "button", class: "axiom", "aria-expanded": "false", "data-axiom": axiom.name,
    onclick: () => toggle(id, axiom, button, place) }, axiom.name);
  const truth = element("span", {});
  const line = element("span", {});
  const leftOut = element("p", { class: "note", hidden: true });
  const rule = element("p", { class: "note", hidden: true });
  const facts = [axiom.weight === null ? "a law: every world keeps it" : `weight ${shown(axiom.weight)}`];
  if (axiom.groundings !== null) facts.push(`${counted(axiom.groundings)} groundings`);
  const node = element("li", {},
    element("div", { class: "axiom-head" }, button, truth, line, element("span", { class: "note" }, facts.join(", "))),
    leftOut,
    rule,
    forms ? element("pre", { class: "formula" }, forms.written) : null,
    forms?.normal && forms.normal !== forms.shown
      ? element("p", { class: "note" }, "in normal form ", element("span", { class: "formula" }, forms.normal)) : null,
    place);
  return { name: axiom.name, node, truth, line, leftOut, rule };
}

/** How well a rule is kept where it says something. */
function ruleText([groundings, premises, broken]) {
  const where = `premise truer than 0.5 in ${counted(premises)} of ${counted(groundings)} groundings`;
  return premises ? `${where}; in ${counted(broken)} of these the conclusion is not` : `${where}: it holds whatever it concludes`;
}

/** The panel. Gives what brings it up to date. */
export function axiomPanel(id, details, panel) {
  const items = details.axioms.map((axiom) => axiomItem(id, axiom, details.formulas));
  const list = element("ol", { class: "axioms" });
  const order = () => {
    const known = curvesOf(id);
    const value = (item) => known?.last.get(item.name) ?? Infinity;
    return [...items].sort((a, b) => value(a) - value(b));
  };
  let all = items.length <= FEW;
  let ordered = false;
  const more = element("button", { type: "button", onclick: () => { all = true; more.remove(); place(); } }, `Show all ${items.length} axioms`);
  const place = () => list.replaceChildren(...order().slice(0, all ? undefined : FEW).map((item) => item.node));
  const update = () => {
    const known = curvesOf(id);
    if (!known) return;
    // Once: they should not move under the pointer while the run goes on.
    if (!ordered) place();
    ordered = true;
    for (const item of items) {
      if (!item.node.isConnected) continue;
      const last = known.last.get(item.name);
      const text = truthText(last, known.logs);
      const count = known.leftOut.get(item.name);
      item.leftOut.hidden = !count;
      if (count) setText(item.leftOut, `${counted(count)} exists left out in all steps together: the sample of their step had no individual for them`);
      const kept = known.rules.get(item.name);
      item.rule.hidden = !kept;
      if (kept) setText(item.rule, ruleText(kept));
      if (item.shown !== `${text} ${known.step}`) {
        item.shown = `${text} ${known.step}`;
        item.truth.replaceChildren(truthBar(degree(last, known.logs), text));
        const curve = known.series.get(`axiom:${item.name}`);
        if (curve) item.line.replaceChildren(spark(curve.y.map((y) => degree(y, known.logs))));
      }
    }
    const whence = known.whole ? `Truths of the whole theory with the last weights, at ${known.whole}; curves are of the steps. ` : "Truths of the last step and its batch. ";
    setText(hint, known.axioms ? whence + "The least satisfied first. A click on a name shows what breaks the axiom." : "");
  };
  const hint = element("p", { class: "note" });
  panel.replaceChildren(hint, list, ...(all ? [] : [more]));
  place();
  update();
  // The axiom of the address.
  const wanted = items.find((item) => item.name === state.axiom && item.node.isConnected);
  wanted?.node.querySelector(".axiom").click();
  return update;
}
