// What breaks an axiom: the worst groundings, what is to blame, witnesses, pictures.
import { element, truthBar } from "./elements.js";
import { counted, shown, truthText } from "./numbers.js";

function seen(picture) {
  return element("figure", { class: "seen" },
    element("img", { src: picture.source, alt: picture.title }), element("figcaption", {}, picture.title));
}

/** How true something is: beside its log, where there is one. */
export function howTrue({ truth, log }) {
  return log === null || log === undefined ? shown(truth) : truthText(log, true);
}

function grounding(worst) {
  const literals = worst.literals.map(([text, truth, blame]) => element("tr", {},
    element("td", { class: "formula" }, text),
    element("td", {}, truthBar(truth, shown(truth))),
    element("td", { class: "number" }, shown(blame))));
  return element("li", { class: "grounding" },
    element("p", {}, truthBar(worst.truth, howTrue(worst)), " ", element("span", { class: "formula" }, worst.binding || "the axiom itself")),
    element("div", { class: "pictures" }, worst.pictures.map(seen), literals.length ? element("table", { "aria-label": "Literals and their blame" },
      element("thead", {}, element("tr", {}, ["Literal", "Truth", "Blame"].map((title) => element("th", { scope: "col" }, title)))),
      element("tbody", {}, literals)) : null),
    worst.witnesses.map((text) => element("p", { class: "note formula" }, text)));
}

/** An explanation as the server gives it. */
export function explanation(told) {
  if (!told.worst.length) return element("p", { class: "note" }, "It has no groundings that could be false.");
  const count = told.worst.length < told.groundings ? `The ${told.worst.length} least true of ${counted(told.groundings)} groundings` : `All ${counted(told.groundings)} groundings`;
  return element("div", { class: "explanation" },
    element("p", {}, `Truth ${howTrue(told)}, with the newest weights. ${count}, the least true first; blame is how much their truth changes with that of the literal.`),
    element("ol", {}, told.worst.map(grounding)));
}
