//! Axioms that hold in every world: their ground conjuncts, grouped by shared atoms, and contradictions among them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::ground::Grounding;
use super::shapes::Shapes;
use super::variables::Variables;
use super::{Limits, too_hard, too_large};
use crate::circuit::{Budget, Implications, Proposition, Root, Shape, TooHard, is_satisfiable};
use crate::connected::connected;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::plan::Plan;
use crate::plan::active::Active;
use crate::plan::program::MOST_CODES;

/// How long to look for the laws that contradict each other.
const MOST_FOR_NAMING: Duration = Duration::from_secs(5);

/// A ground law.
#[derive(Clone, Debug)]
pub(super) struct Conjunct {
    pub program: usize,
    pub codes: [u64; MOST_CODES],
    pub formula: Proposition,
}

/// Laws that share atoms, directly or through other laws.
#[derive(Clone, Debug)]
pub(super) struct Component {
    pub conjuncts: Vec<u32>,
    pub circuit: u32,
    /// By variable of the circuit.
    pub names: Arc<[u32]>,
    /// What replaces a circuit that is too hard; `circuit` then has no meaning.
    pub cut: Option<Box<Cut>>,
}

/// Laws that are implications only, whose most probable world needs no circuit.
#[derive(Clone, Debug)]
pub(super) struct Cut {
    /// Over the component's names.
    pub implications: Implications,
    /// The error for all other questions.
    pub too_hard: Diagnostic,
}

/// All laws of a plan.
#[derive(Clone, Debug, Default)]
pub(super) struct Laws {
    pub conjuncts: Vec<Conjunct>,
    pub components: Vec<Component>,
    /// By variable: its component and its number there, if a law mentions it.
    places: Vec<Option<(u32, u32)>>,
}

impl Laws {
    /// The component that mentions a variable, and the variable's number there.
    pub fn place_of(&self, var: u32) -> Option<(u32, u32)> {
        self.places.get(var as usize).copied().flatten()
    }

    pub fn component_of(&self, var: u32) -> Option<u32> {
        self.place_of(var).map(|(component, _)| component)
    }

    /// Grounds and compiles the laws of a plan, with all rows of all tables.
    pub fn new(
        plan: &Plan,
        variables: &mut Variables,
        shapes: &mut Shapes,
        limits: &Limits,
    ) -> Result<Laws, Diagnostics> {
        let mut laws = Laws::default();
        if !plan.axioms.iter().any(|a| a.hard) {
            return Ok(laws);
        }
        let everything = Active::new(plan);
        let mut left = limits.literals();
        for (program, axiom) in plan.axioms.iter().enumerate().filter(|(_, a)| a.hard) {
            let mut grounding = Grounding::new(plan, &everything, program, variables, &mut left);
            let observed = grounding.observations(plan.leading[program]);
            let observed = observed.map_err(|why| too_large(plan, &axiom.name, why))?;
            for observation in observed {
                let codes = observation.codes;
                let mut conjunct = |formula| {
                    laws.conjuncts.push(Conjunct {
                        program,
                        codes,
                        formula,
                    })
                };
                match observation.event {
                    Proposition::True => {}
                    Proposition::And(members) => members.into_iter().for_each(&mut conjunct),
                    other => conjunct(other),
                }
            }
        }
        laws.find_components();
        let budget = limits.budget(plan);
        for at in 0..laws.components.len() {
            let component = &laws.components[at];
            let members: Vec<&Proposition> = laws.formulas(component).collect();
            let compiled = shapes.circuit(members.into_iter(), &variables.domains, budget);
            let (circuit, names) = match compiled {
                Ok(compiled) => compiled,
                Err(reached) => {
                    let first = laws.conjuncts[component.conjuncts[0] as usize].program;
                    let too_hard = too_hard(plan, &plan.axioms[first].name, reached);
                    let (shape, names) = Shape::of(
                        laws.formulas(component).collect::<Vec<_>>().into_iter(),
                        |v| variables.domains[v as usize],
                    );
                    let implications = Implications::of(&shape.proposition(), &shape.domains);
                    let Some(implications) = implications.filter(|_| !reached.stopped) else {
                        return Err(too_hard.into());
                    };
                    let component = &mut laws.components[at];
                    component.names = names.into();
                    component.cut = Some(Box::new(Cut {
                        implications,
                        too_hard,
                    }));
                    continue;
                }
            };
            if shapes.circuits[circuit as usize].root == Root::False {
                if plan.data.waits_for_streams() {
                    // Before the rows of a call are there a law may well be false.
                    return Ok(Laws::default());
                }
                return Err(laws.contradiction(plan, at, variables, &[], budget).into());
            }
            let component = &mut laws.components[at];
            (component.circuit, component.names) = (circuit, names.into());
        }
        laws.places = vec![None; variables.domains.len()];
        for (number, component) in laws.components.iter().enumerate() {
            for (local, var) in component.names.iter().enumerate() {
                laws.places[*var as usize] = Some((number as u32, local as u32));
            }
        }
        Ok(laws)
    }

    /// The circuits of all components.
    pub fn circuits(&self) -> impl Iterator<Item = u32> {
        let compiled = self.components.iter().filter(|c| c.cut.is_none());
        compiled.map(|c| c.circuit)
    }

    pub fn formulas(&self, component: &Component) -> impl Iterator<Item = &Proposition> {
        let conjuncts = component.conjuncts.iter();
        conjuncts.map(|c| &self.conjuncts[*c as usize].formula)
    }

    fn find_components(&mut self) {
        let groups = connected(self.conjuncts.len(), |i, visit| {
            self.conjuncts[i].formula.each_variable(&mut |v| visit(v));
        });
        let component = |conjuncts| Component {
            conjuncts,
            circuit: u32::MAX,
            names: Arc::default(),
            cut: None,
        };
        self.components = groups.into_iter().map(component).collect();
    }

    /// Laws of a component that no world with `known` keeps: a small set, found by leaving out one law after another while
    /// there is time.
    pub fn contradiction(
        &self,
        plan: &Plan,
        component: usize,
        variables: &Variables,
        known: &[Proposition],
        budget: Budget,
    ) -> Diagnostic {
        let mut kept = self.components[component].conjuncts.clone();
        let (started, most) = (Instant::now(), (budget.time / 4).min(MOST_FOR_NAMING));
        let contradict = |some: &[u32]| -> Result<bool, TooHard> {
            let members: Vec<&Proposition> = (some.iter())
                .map(|c| &self.conjuncts[*c as usize].formula)
                .chain(known)
                .collect();
            let (shape, _) = Shape::of(members.into_iter(), |v| variables.domains[v as usize]);
            let budget = Budget {
                time: most.saturating_sub(started.elapsed()),
                ..budget
            };
            Ok(!is_satisfiable(
                &shape.proposition(),
                &shape.domains,
                budget,
            )?)
        };
        // First by halves, then one by one.
        let mut step = kept.len().div_ceil(2).max(1);
        loop {
            let mut at = 0;
            while at < kept.len() && started.elapsed() < most {
                let mut fewer = kept.clone();
                fewer.drain(at..(at + step).min(kept.len()));
                match contradict(&fewer) {
                    Ok(true) => kept = fewer,
                    _ => at += step,
                }
            }
            if step == 1 {
                break;
            }
            step = step.div_ceil(2);
        }
        let mut named: Vec<String> = Vec::new();
        for conjunct in &kept {
            let text = self.name(plan, *conjunct as usize);
            if !named.contains(&text) {
                named.push(text);
            }
        }
        const MOST: usize = 12;
        let more = named.len().saturating_sub(MOST);
        let mut list = named
            .iter()
            .take(MOST)
            .cloned()
            .collect::<Vec<_>>()
            .join(", ");
        if more > 0 {
            list += &format!(" and {more} more");
        }
        let first = &plan.axioms[self.conjuncts[kept[0] as usize].program];
        let why = match known {
            [] => format!("{list} contradict each other"),
            _ => format!("degrees of exactly 0 or 1 contradict {list}"),
        };
        let help = match known {
            [] => {
                "make one of them soft (without `hard`), or correct the tables that their guards look into"
            }
            _ => "make a law soft (without `hard`), or give degrees between 0 and 1",
        };
        Diagnostic::error(
            Code::Contradiction,
            format!("no world satisfies all laws: {why}"),
        )
        .at(&plan.data.theory().source, first.span, "one of these laws")
        .help(help)
    }

    /// A law and its individuals.
    pub fn name(&self, plan: &Plan, conjunct: usize) -> String {
        let Conjunct { program, codes, .. } = &self.conjuncts[conjunct];
        let name = &plan.axioms[*program].name;
        let bound = plan.bound(*program, codes);
        let bound = bound.iter().map(|b| format!("{} = {}", b.variable, b.to));
        match bound.collect::<Vec<_>>().join(", ") {
            none if none.is_empty() => format!("`{name}`"),
            bound => format!("`{name}` at {bound}"),
        }
    }
}
