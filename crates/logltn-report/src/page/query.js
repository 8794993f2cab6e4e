// A field to ask a run something in the language of its theory.
import { element, mistakes, truthBar } from "./elements.js";
import { counted } from "./numbers.js";
import { howTrue } from "./explanation.js";
import { state } from "./state.js";

/** The question with its mistakes marked where they are. */
function marked(formula, errors) {
  const lines = formula.split("\n");
  const starts = [];
  let at = 0;
  for (const line of lines) { starts.push(at); at += [...line].length + 1; }
  const letters = [...formula];
  const places = errors.filter((error) => error.file === "query" && error.line)
    .map((error) => { const from = starts[error.line - 1] + error.column - 1; return { from, to: from + Math.max(1, error.length ?? 1), error }; })
    .sort((a, b) => a.from - b.from);
  if (!places.length) return null;
  const parts = [];
  let done = 0;
  for (const { from, to, error } of places) {
    if (from < done) continue;
    parts.push(letters.slice(done, from).join(""));
    parts.push(element("mark", { title: error.message }, letters.slice(from, to).join("") || " "));
    done = to;
  }
  parts.push(letters.slice(done).join(""));
  return element("pre", { class: "formula marked", "aria-label": "The question with its mistakes marked" }, parts);
}

function answered(told) {
  const warnings = told.warnings.length ? mistakes(told.warnings) : null;
  if (told.answers === undefined) {
    return [element("p", { class: "answer" }, "Truth ", truthBar(told.truth, howTrue(told))), warnings];
  }
  const rows = told.answers.map((answer, i) => element("tr", {},
    element("td", { class: "number" }, String(i + 1)),
    element("td", { class: "formula" }, answer.binding),
    element("td", {}, truthBar(answer.truth, howTrue(answer)))));
  return [
    element("p", {}, `The ${rows.length} truest of ${counted(told.total)} bindings.`),
    element("table", { class: "answers", "aria-label": "Answers, best first" },
      element("thead", {}, element("tr", {}, ["", "Binding", "Truth"].map((title) => element("th", { scope: "col" }, title)))),
      element("tbody", {}, rows)),
    warnings,
  ];
}

/** The panel. */
export function queryPanel(id, details, panel) {
  const answer = element("div", { class: "answers", "aria-live": "polite" });
  const field = element("textarea", { id: "question", rows: 3, spellcheck: "false", "aria-describedby": "question-help",
    placeholder: "forall x: Person. smokes(x)", maxlength: 20000 });
  const button = element("button", { type: "submit" }, "Ask");
  const ask = async (event) => {
    event.preventDefault();
    const formula = field.value;
    if (!formula.trim()) return;
    button.disabled = true;
    field.removeAttribute("aria-invalid");
    answer.replaceChildren(element("p", { class: "note" }, "Asking …"));
    try {
      answer.replaceChildren(...answered(await state.source.query(id, formula)).filter(Boolean));
    } catch (error) {
      field.setAttribute("aria-invalid", "true");
      const errors = error.errors ?? [{ message: error.message }];
      answer.replaceChildren(...[marked(formula, errors), mistakes(errors)].filter(Boolean));
    }
    button.disabled = false;
  };
  const form = element("form", { class: "query", onsubmit: ask },
    element("label", { for: "question" }, "A formula, or `find x: Sort. …` for the bindings that satisfy it"),
    field, element("p", { id: "question-help", class: "note" }, "Use the symbols of the theory; answers are computed with the newest weights. Ctrl-Enter asks."), button);
  field.addEventListener("keydown", (event) => { if (event.key === "Enter" && event.ctrlKey) ask(event); });
  const theory = element("details", {}, element("summary", {}, "Theory"), element("pre", { class: "formula" }, details.theory));
  if (!state.source.live) panel.replaceChildren(element("p", { class: "note" }, "Questions need `logltn dashboard`."), theory);
  else panel.replaceChildren(form, answer, theory);
  return () => {};
}
