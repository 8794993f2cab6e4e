//! A run of `logltn train`: its knowledge base, and the groundings of its symbols, described so that callers can
//! rebuild it.

use std::path::{Path, PathBuf};

use logltn::theory::{ArgumentSort, ConstantId, FunctionId, PredicateId, SortId, SortKind};
use logltn::{
    Code, ConstantData, Diagnostic, Diagnostics, Engine, FunctionData, Parameters, PlanOptions,
};
use logltn_learn::{Behind, Ground, InputExpr, KnowledgeBase as Known, Model, NetworkRef, State};
use logltn_nn::LayerSpec;
use logltn_train::project::Project;
use logltn_train::train::RunWeights;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::{Map, Value, json};

use crate::error::{guarded, warn};
use crate::knowledge_base::{KnowledgeBase, Parts, Recipe};
use crate::pool::pool;

/// Tensors by name: shape, and numbers of single precision in row-major order.
type Tensors = Vec<(String, Vec<usize>, Vec<f32>)>;

/// The same as Python takes them.
type PyTensors<'py> = Vec<(String, Vec<usize>, Bound<'py, PyBytes>)>;

/// Text and name of a theory, its knowledge base, a description of the groundings of its symbols, the tensors of that, and
/// α, p and p_forall at the end of training.
type Loaded<'py> = (
    (String, String),
    KnowledgeBase,
    String,
    PyTensors<'py>,
    (f64, f64, f64),
);

/// Reads a run.
#[pyfunction]
pub fn load_run(
    py: Python<'_>,
    folder: PathBuf,
    double: Option<bool>,
    threads: Option<usize>,
    memory: Option<u64>,
) -> PyResult<Loaded<'_>> {
    guarded(py, || {
        let pool = pool(py, threads)?;
        let mut options = PlanOptions::default();
        options.memory = memory.unwrap_or(options.memory);
        // It may be run on a device, which computes every formula as a whole.
        options.share = false;
        let read = py.detach(|| pool.install(|| read(&folder, &options)));
        let (project, description, tensors, warnings) = read?;
        // The theory's own are said when Python reads it.
        let mut others = Diagnostics::new();
        let theory = project.theory().source.name();
        let is_other = |d: &&Diagnostic| d.file() != Some(theory);
        warnings
            .iter()
            .filter(is_other)
            .for_each(|d| others.push(d.clone()));
        warn(py, &others)?;
        let Parameters { alpha, p, p_forall } = project.manifest.schedule.last(true);
        let source = &project.theory().source;
        let source = (source.text().to_string(), source.name().to_string());
        let parts = Parts {
            data: project.data,
            known: None,
            semantics: project.manifest.semantics,
            recipe: Recipe {
                axioms: project.manifest.axiom_settings(),
                outputs: project.outputs,
                options,
                double,
                ..Recipe::default()
            },
            threads,
            warnings,
        };
        let knowledge = KnowledgeBase::of(py, pool, parts)?;
        let tensors = tensors.into_iter().map(|(name, shape, numbers)| {
            let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_ne_bytes()).collect();
            (name, shape, PyBytes::new(py, &bytes))
        });
        let tensors = tensors.collect();
        Ok((
            source,
            knowledge,
            description.to_string(),
            tensors,
            (alpha, p, p_forall),
        ))
    })
}

/// The project of a run with its current weights.
fn read(
    folder: &Path,
    options: &PlanOptions,
) -> Result<(Project, Value, Tensors, Diagnostics), Diagnostics> {
    let mut found = Diagnostics::new();
    let Some(project) = Project::load_for_run(&folder.join("manifest.toml"), folder, &mut found)
    else {
        return Err(found);
    };
    let weights = RunWeights::read(&project, folder)?;
    found.extend(weights.warnings().clone());
    let knowledge = project.knowledge()?;
    // The axioms' requests determine which networks there are.
    let plan = project.plan_with(&project.manifest.semantics, options)?;
    let engine = Engine::<f32>::new(plan);
    let mut model = Model::new(&knowledge, 0)?;
    model.attach(&knowledge, &engine)?;
    weights.put_into(&mut model)?;
    let mut state = State::default();
    model.store(&mut state);
    let mut description = Description {
        project: &project,
        knowledge: &knowledge,
        tensors: state.tensors,
    };
    let document = description.whole()?;
    let tensors = description.tensors;
    Ok((project, document, tensors, found))
}

struct Description<'a> {
    project: &'a Project,
    knowledge: &'a Known,
    tensors: Tensors,
}

impl Description<'_> {
    fn whole(&mut self) -> Result<Value, Diagnostics> {
        let theory = self.knowledge.theory();
        let (mut sorts, mut predicates, mut functions) = (Map::new(), Map::new(), Map::new());
        for i in 0..theory.sorts.len() {
            let id = SortId(i as u32);
            sorts.insert(theory[id].name.clone(), self.sort(id));
        }
        for (i, ground) in self.knowledge.predicates.iter().enumerate() {
            let id = PredicateId(i as u32);
            let per_class = self.knowledge.outputs[i].per_class;
            let arguments = theory[id].arguments.len() - usize::from(per_class);
            let name = &theory[id].name;
            let described = match ground {
                Ground::Network(behind) => self.network(name, behind, &theory[id].arguments)?,
                Ground::Numbers(numbers) => {
                    let mut shape = numbers.sizes.clone();
                    if per_class {
                        shape.push(numbers.columns);
                    }
                    let values = numbers.values.iter().map(|&x| x as f32).collect();
                    self.tensors
                        .push((format!("numbers.{name}"), shape, values));
                    json!({"kind": "numbers", "arguments": arguments})
                }
                Ground::Learnable { .. } => json!({"kind": "learnable", "arguments": arguments}),
                Ground::ClosedForm(form) if form.key() == "softmax" => {
                    let what = format!(
                        "the closed form of `{name}` is a softmax, which has no PyTorch module"
                    );
                    return Err(Diagnostic::error(Code::CannotPredict, what)
                        .help("ask the program: `logltn predict`")
                        .into());
                }
                Ground::ClosedForm(form) => {
                    let given = self.project.manifest.predicates.get(name);
                    let args = given.and_then(|given| given.args.as_ref());
                    let args: Vec<String> = match args {
                        Some(args) => args.iter().map(|arg| arg.value.clone()).collect(),
                        None => (1..=arguments).map(|i| format!("a{i}")).collect(),
                    };
                    let learnt: Vec<&str> = form.learnt().iter().map(|(n, _)| n.as_str()).collect();
                    json!({"kind": "closed", "text": form.text(), "args": args, "learnt": learnt})
                }
                Ground::Host => continue,
            };
            predicates.insert(name.clone(), described);
        }
        for (i, behind) in self.knowledge.functions.iter().enumerate() {
            let id = FunctionId(i as u32);
            let (name, data) = (&theory[id].name, self.knowledge.data.function(id));
            match (behind, data.map(AsRef::as_ref)) {
                (Some(behind), _) => {
                    let described = self.network(name, behind, &theory[id].arguments)?;
                    functions.insert(name.clone(), described);
                }
                (None, Some(FunctionData::Reals(values))) => {
                    let width = match theory[id].result {
                        ArgumentSort::Vector(width) => width,
                        ArgumentSort::Sort(_) => continue,
                    };
                    let sizes = theory[id].arguments.iter().map(|argument| match argument {
                        ArgumentSort::Sort(sort) => self.knowledge.data.size(*sort),
                        ArgumentSort::Vector(_) => 1,
                    });
                    let sizes: Vec<usize> = sizes.collect();
                    let shape = vec![values.len() / width.max(1), width];
                    let values = values.iter().map(|&x| x as f32).collect();
                    self.tensors.push((format!("values.{name}"), shape, values));
                    functions.insert(name.clone(), json!({"kind": "data", "sizes": sizes}));
                }
                _ => {}
            }
        }
        let networks: Map<String, Value> = (self.knowledge.networks.iter())
            .map(|(name, network)| (name.clone(), layers(&network.layers)))
            .collect();
        Ok(json!({
            "sorts": sorts, "predicates": predicates, "functions": functions, "networks": networks,
        }))
    }

    /// What networks read of a sort's individuals.
    fn sort(&mut self, id: SortId) -> Value {
        let theory = self.knowledge.theory();
        let (name, size) = (&theory[id].name, self.knowledge.data.size(id));
        let vectors = &self.knowledge.vectors[id];
        let mut fields = Vec::new();
        let mut from = 0;
        for field in vectors.fields.iter() {
            fields.push(json!([field.name, from, from + field.width(), field.shape]));
            from += field.width();
        }
        if !vectors.fields.is_empty() && vectors.learnable.is_none() {
            let mut values = Vec::with_capacity(size * from);
            for i in 0..size {
                for field in vectors.fields.iter() {
                    values.extend(field.individual(i).unwrap_or_default());
                }
            }
            self.tensors
                .push((format!("features.{name}"), vec![size, from], values));
        }
        let low = match theory[id].kind {
            SortKind::Range(low, _) => Some(low),
            _ => None,
        };
        let learnt = theory.constants.iter().enumerate().filter(|(i, constant)| {
            let data = self.knowledge.data.constant(ConstantId(*i as u32));
            constant.sort == id && matches!(data, Some(ConstantData::Learnable))
        });
        json!({"size": size, "low": low, "fields": fields, "constants": learnt.count()})
    }

    fn network(
        &self,
        name: &str,
        behind: &Behind,
        arguments: &[ArgumentSort],
    ) -> Result<Value, Diagnostics> {
        let cannot = |what: String| {
            Diagnostics::from(Diagnostic::error(
                Code::CannotPredict,
                format!("the network of `{name}` has no PyTorch equivalent: {what}"),
            ))
        };
        let network = (self.knowledge.network(&behind.network))
            .ok_or_else(|| cannot("it is not declared".to_string()))?;
        let args = behind.args.clone().unwrap_or_default();
        let inputs = match &network.inputs {
            None => None,
            Some(inputs) => {
                let mut read = Vec::new();
                for input in inputs {
                    let expr = InputExpr::parse(&input.text).map_err(|e| cannot(e.message))?;
                    let described = described(&expr, &args);
                    read.push(described.ok_or_else(|| cannot(format!("it reads `{expr}`")))?);
                }
                Some(read)
            }
        };
        // Convolutions read the picture of the only argument that has one.
        let image = arguments.iter().find_map(|argument| match argument {
            ArgumentSort::Sort(sort) => match &*self.knowledge.vectors[*sort].fields {
                [only] => match only.shape[..] {
                    [height, width] => Some([1, height, width]),
                    [channels, height, width] => Some([channels, height, width]),
                    _ => None,
                },
                _ => None,
            },
            ArgumentSort::Vector(_) => None,
        });
        let (trunk, own) = match &behind.network {
            NetworkRef::Shared(trunk) => (Some(trunk), Value::Array(Vec::new())),
            NetworkRef::Own(network) => (None, layers(&network.layers)),
        };
        Ok(json!({
            "kind": "network", "trunk": trunk, "layers": own, "inputs": inputs, "image": image,
            "units": behind.units.map(|u| [u.scale, u.shift]),
        }))
    }
}

/// An input with arguments by their places; `None` if it names another.
fn described(input: &InputExpr, args: &[String]) -> Option<Value> {
    let place = |name: &str| args.iter().position(|arg| arg == name);
    Some(match input {
        InputExpr::Features(variable) => json!(["features", place(variable)?]),
        InputExpr::Field { variable, field } => json!(["field", place(variable)?, field.value]),
        InputExpr::Call {
            symbol,
            args: given,
        } => {
            let places: Option<Vec<usize>> = given.iter().map(|arg| place(arg)).collect();
            json!(["call", symbol.value, places?])
        }
        InputExpr::Stop(inner) => json!(["stop", described(inner, args)?]),
        InputExpr::Containment(a, b) => {
            json!(["containment", described(a, args)?, described(b, args)?])
        }
    })
}

fn layers(layers: &[LayerSpec]) -> Value {
    let layer = |layer: &LayerSpec| match layer {
        LayerSpec::Dense(_) => json!(["dense"]),
        LayerSpec::Conv { .. } => json!(["conv"]),
        LayerSpec::Pool(size) => json!(["pool", size]),
        LayerSpec::Flatten => json!(["flatten"]),
        LayerSpec::Activation(activation) => json!([activation.name()]),
        LayerSpec::Dropout(rate) => json!(["dropout", rate]),
        LayerSpec::Affine { scale, shift } => json!(["affine", scale, shift]),
    };
    layers.iter().map(layer).collect()
}
