//! From [syntax](crate::syntax) to a checked [`Theory`]: names, sorts, arities, scopes.
//!
//! Nothing here stops at the first mistake. Whatever cannot be understood is reported once and left out; errors that
//! follow from it are not reported.

mod definition;
mod formula;
mod guard;
mod lookalike;
mod scope;
mod term;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::diagnostic::{Code, Diagnostic, Diagnostics, shortened};
use crate::source::{Source, Span};
use crate::suggest::did_you_mean;
use crate::syntax::{AxiomSyntax, Declaration, Expr, Name, SortDefinition, TypeName};
use crate::theory::*;
use scope::Local;

/// The names of the individuals of data sorts, by sort: what the manifest or the host program knows them, the theory
/// does not.
///
/// ```
/// use logltn::{Labels, Source, Theory};
/// let text = "sort Box\nsort Type\npredicate type(Box, Type)\naxiom a: forall x: Box. type(x, cat)";
/// let source = Source::new("a.ltn", text);
/// assert!(Theory::parse(source.clone()).is_err()); // what is `cat`?
/// let mut labels = Labels::default();
/// labels.insert("Type", ["cat", "dog"]);
/// assert!(Theory::parse_with(source, &labels).is_ok());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Labels {
    by_sort: FxHashMap<String, Vec<String>>,
    unreadable: Vec<String>,
}

impl Labels {
    /// Adds the labels of a sort, in order.
    pub fn insert<L: Into<String>>(&mut self, sort: &str, labels: impl IntoIterator<Item = L>) {
        let labels = labels.into_iter().map(Into::into).collect();
        self.by_sort.insert(sort.to_string(), labels);
    }

    /// Records that the sort has labels that could not be read. That has been reported, so a name that may be one of
    /// them is not reported again.
    pub fn insert_unreadable(&mut self, sort: &str) {
        self.unreadable.push(sort.to_string());
    }
}

/// What a name declares in a theory; axioms have their own namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Declared {
    /// A sort, table, predicate, function, constant or param.
    Symbol,
    /// An axiom or a definition.
    Formula,
}

/// Which declarations to keep.
type Keep<'a> = &'a dyn Fn(Declared, &str) -> bool;

impl Theory {
    /// Parses and checks a theory. All mistakes are reported together.
    pub fn parse(source: Source) -> Result<Theory, Diagnostics> {
        Theory::parse_with(source, &Labels::default())
    }

    /// Like [`Theory::parse`], knowing the names of the individuals of data sorts.
    pub fn parse_with(source: Source, labels: &Labels) -> Result<Theory, Diagnostics> {
        let mut out = Diagnostics::new();
        let theory = Theory::parse_as_far_as_possible(source, labels, &mut out);
        if out.has_errors() {
            return Err(out);
        }
        Ok(theory)
    }

    /// The parts of a theory that could be understood, with mistakes and warnings pushed to `out`: for programs that
    /// go on to find more mistakes elsewhere.
    pub fn parse_as_far_as_possible(
        source: Source,
        labels: &Labels,
        out: &mut Diagnostics,
    ) -> Theory {
        Theory::read(source, labels, out, None)
    }

    /// The same without the axioms: the individuals that they mention are not checked, so these may be others. The
    /// syntax of the whole text is checked.
    pub fn parse_symbols(source: Source, labels: &Labels, out: &mut Diagnostics) -> Theory {
        Theory::parse_part(
            source,
            labels,
            &|declared, _| declared != Declared::Formula,
            out,
        )
    }

    /// The same with the declarations that `keep` selects by name; others are not checked. Those that are kept must not
    /// refer to others.
    pub fn parse_part(
        source: Source,
        labels: &Labels,
        keep: Keep,
        out: &mut Diagnostics,
    ) -> Theory {
        Theory::read(source, labels, out, Some(keep))
    }

    /// The names that a text defines, even if their formulas have errors.
    pub fn defined_names(source: &Source) -> Vec<String> {
        let declarations = crate::parser::parse(source, &mut Diagnostics::new());
        (declarations.into_iter())
            .filter_map(|declared| match declared {
                Declaration::Define(define) => Some(define.name.text),
                _ => None,
            })
            .collect()
    }

    fn read(source: Source, labels: &Labels, out: &mut Diagnostics, keep: Option<Keep>) -> Theory {
        if source.text().len() > Source::MAX_BYTES {
            out.push(Diagnostic::error(
                Code::FileTooLarge,
                format!("{}: a theory may not be longer than 4 GB", source.name()),
            ));
            return Theory::empty(source);
        }
        let mut found = Diagnostics::new();
        let mut declarations = crate::parser::parse(&source, &mut found);
        if let Some(keep) = keep {
            declarations.retain(|declaration| {
                let declared = match declaration {
                    Declaration::Axiom(_) | Declaration::Define(_) => Declared::Formula,
                    _ => Declared::Symbol,
                };
                keep(declared, &declaration.name().text)
            });
        }
        let theory = Resolver::new(source, &mut found).run(declarations, labels, keep.is_none());
        // A user works through a file from top to bottom, not stage by stage.
        found.sort_by_place();
        out.extend(found);
        theory
    }

    /// Parses and checks one formula against this theory's symbols, as `logltn entails` does. Its free
    /// variables are an error.
    pub fn parse_formula(&self, source: Source) -> Result<Axiom, Diagnostics> {
        let mut out = Diagnostics::new();
        let axiom = crate::parser::parse_formula(&source, &mut out)
            .and_then(|formula| self.resolve_question(source, formula, false, &mut out));
        match axiom {
            Some(axiom) if !out.has_errors() => Ok(axiom),
            _ => Err(out),
        }
    }

    /// Parses and checks a question against this theory's symbols, as `logltn query` does: a closed formula, or one
    /// that begins with `find`, which binds like a quantifier.
    ///
    /// ```
    /// use logltn::{Source, Theory};
    /// let theory = Theory::parse(Source::new("t", "
    ///     sort Person  predicate friends(Person, Person)  axiom a: forall x: Person. friends(x, x)"))?;
    /// let query = theory.parse_query(Source::new("query", "find x, y: Person where x != y. friends(x, y)"))?;
    /// assert!(query.is_open);
    /// let open = theory.parse_query(Source::new("query", "friends(x, x)")).unwrap_err();
    /// assert!(open.to_string().contains("`find x: Person. …`"));
    /// # Ok::<(), logltn::Diagnostics>(())
    /// ```
    pub fn parse_query(&self, source: Source) -> Result<Query, Diagnostics> {
        let mut out = Diagnostics::new();
        let find_is_predicate =
            self.predicate("find").is_some() || self.definition("find").is_some();
        let query = crate::parser::parse_query(&source, find_is_predicate, &mut out).and_then(
            |(formula, is_open)| {
                let axiom = self.resolve_question(source.clone(), formula, true, &mut out)?;
                Some(Query {
                    axiom,
                    is_open,
                    source,
                })
            },
        );
        match query {
            Some(query) if !out.has_errors() => Ok(query),
            _ => Err(out),
        }
    }

    fn resolve_question(
        &self,
        source: Source,
        formula: Expr,
        may_find: bool,
        out: &mut Diagnostics,
    ) -> Option<Axiom> {
        let mut resolver = Resolver::new(source, out);
        resolver.adopt(self);
        resolver.question = Some(Question { may_find });
        let span = formula.span;
        // Unused symbols matter in a file, not in a question.
        let mut axiom = resolver.axiom(AxiomSyntax {
            name: Name {
                text: "query".into(),
                span,
            },
            weight: None,
            family: None,
            formula,
            span,
        })?;
        axiom.products = resolver.theory.products.split_off(self.products.len());
        Some(axiom)
    }

    fn empty(source: Source) -> Theory {
        Theory {
            source,
            sorts: Vec::new(),
            tables: Vec::new(),
            predicates: Vec::new(),
            functions: Vec::new(),
            constants: Vec::new(),
            params: Vec::new(),
            definitions: Vec::new(),
            axioms: Vec::new(),
            products: Vec::new(),
        }
    }
}

/// What a name refers to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Symbol {
    Sort(SortId),
    Table(TableId),
    Predicate(PredicateId),
    Function(FunctionId),
    Constant(ConstantId),
    Param(ParamId),
    Definition(DefinitionId),
    Label(SortId, u32),
    /// Declared, but not understood; its uses get no messages.
    Broken,
}

impl Symbol {
    fn kind(self) -> &'static str {
        match self {
            Symbol::Sort(_) => "sort",
            Symbol::Table(_) => "table",
            Symbol::Predicate(_) => "predicate",
            Symbol::Function(_) => "function",
            Symbol::Constant(_) => "constant",
            Symbol::Param(_) => "param",
            Symbol::Definition(_) => "definition",
            Symbol::Label(..) => "label",
            Symbol::Broken => "symbol",
        }
    }
}

/// After this many errors names are no longer compared with all others: nobody reads that many messages, and the work
/// is errors times names.
const MAX_SUGGESTIONS: usize = 200;

/// What a name refers to, and where that is declared.
type Named = (Symbol, Span);

pub(super) struct Resolver<'a> {
    out: &'a mut Diagnostics,
    theory: Theory,
    symbols: FxHashMap<String, Named>,
    /// Named individuals of data sorts; the expected sort decides which one a name means.
    data_labels: FxHashMap<String, Vec<(SortId, u32)>>,
    /// Data sorts whose individuals have names that could not be read.
    unreadable: Vec<SortId>,
    used: FxHashMap<String, ()>,
    /// Names with two declarations: their uses are ambiguous and are not checked.
    declared_twice: FxHashSet<String>,
    // Of the axiom at hand:
    /// The names in scope in the order of their binding; a name is in it twice only after an error.
    scope: Vec<String>,
    locals: FxHashMap<String, Vec<Local>>,
    variables: Vec<Variable>,
    variable_used: Vec<bool>,
    /// The place of the variables that are bound by the rows of a table.
    row_variables: FxHashSet<Span>,
    /// In the guard of a big connective or a family, which may not read batched data.
    crisp_binder: Option<&'static str>,
    /// Present if the text is not a theory: there individuals without names are written by number.
    question: Option<Question>,
}

#[derive(Clone, Copy)]
struct Question {
    may_find: bool,
}

impl<'a> Resolver<'a> {
    fn new(source: Source, out: &'a mut Diagnostics) -> Resolver<'a> {
        Resolver {
            out,
            theory: Theory::empty(source),
            symbols: FxHashMap::default(),
            data_labels: FxHashMap::default(),
            unreadable: Vec::new(),
            used: FxHashMap::default(),
            declared_twice: FxHashSet::default(),
            scope: Vec::new(),
            locals: FxHashMap::default(),
            variables: Vec::new(),
            variable_used: Vec::new(),
            row_variables: FxHashSet::default(),
            crisp_binder: None,
            question: None,
        }
    }

    fn error(&mut self, code: Code, message: String, span: Span, label: &str) {
        self.error_with_help(code, message, span, label, None);
    }

    fn error_with_help(
        &mut self,
        code: Code,
        message: String,
        span: Span,
        label: &str,
        help: Option<String>,
    ) {
        self.out.push(
            Diagnostic::error(code, message)
                .at(&self.theory.source, span, label)
                .maybe_help(help),
        );
    }

    /// The same where nothing can be made of what is wrong.
    fn refuse<T>(&mut self, code: Code, message: String, span: Span, label: &str) -> Option<T> {
        self.refuse_with_help(code, message, span, label, None)
    }

    fn refuse_with_help<T>(
        &mut self,
        code: Code,
        message: String,
        span: Span,
        label: &str,
        help: Option<String>,
    ) -> Option<T> {
        self.error_with_help(code, message, span, label, help);
        None
    }

    /// Labels as they are written; empty if there are too many mistakes for suggestions.
    fn to_suggest(&self, labels: &[String], write: fn(&str) -> String) -> Vec<String> {
        match self.out.error_count() > MAX_SUGGESTIONS {
            true => Vec::new(),
            false => labels.iter().map(|label| write(label)).collect(),
        }
    }

    /// The nearest of the known names, or the one that it looks like.
    fn suggestion<'n>(
        &self,
        name: &str,
        known: impl IntoIterator<Item = &'n str>,
    ) -> Option<String> {
        if self.out.error_count() > MAX_SUGGESTIONS {
            return None;
        }
        let known: Vec<&str> = known.into_iter().collect();
        lookalike::help(name, known.iter().copied())
            .or_else(|| did_you_mean(name, known.iter().copied()))
    }

    /// Marks where something is declared, if that is in the current text: the symbols of a query are declared
    /// elsewhere.
    fn declared_here(error: Diagnostic, span: Span, text: impl Into<String>) -> Diagnostic {
        match span == Span::default() {
            true => error,
            false => error.mark(span, text),
        }
    }

    /// That a name is of another kind than is `expected` here, such as `a predicate`.
    fn wrong_kind(&mut self, name: &Name, found: Named, expected: &str, help: Option<String>) {
        let (symbol, declared) = found;
        let what = format!("`{}` is a {}, not {expected}", name.text, symbol.kind());
        let error = Diagnostic::error(Code::WrongKindOfName, what)
            .at(
                &self.theory.source,
                name.span,
                format!("expected {expected}"),
            )
            .maybe_help(help);
        self.push_declared(error, declared);
    }

    /// Whether the declaration of a name has been reported, so that its uses get no messages.
    fn is_broken(&self, name: &str) -> bool {
        let broken = matches!(self.symbols.get(name), Some((Symbol::Broken, _)));
        broken || self.declared_twice.contains(name)
    }

    fn push_declared(&mut self, error: Diagnostic, declared: Span) {
        (self.out).push(Self::declared_here(error, declared, "declared here"));
    }

    // --- declarations ---------------------------------------------------------------------------

    fn run(mut self, declarations: Vec<Declaration>, labels: &Labels, axioms: bool) -> Theory {
        // Sorts first, then what mentions them, then the axioms: the order of the text is free.
        for declaration in &declarations {
            self.declare_sort(declaration, labels);
        }
        for declaration in &declarations {
            self.declare_symbol(declaration);
        }
        let mut names: FxHashMap<String, Span> = FxHashMap::default();
        let mut defective = false;
        for declaration in declarations {
            let syntax = match declaration {
                Declaration::Axiom(syntax) => syntax,
                Declaration::Define(syntax) => {
                    defective |= !self.define(syntax);
                    continue;
                }
                _ => continue,
            };
            if !syntax.name.text.is_empty()
                && let Some(first) = names.insert(syntax.name.text.clone(), syntax.name.span)
            {
                self.out.push(
                    Diagnostic::error(
                        Code::DuplicateName,
                        format!("two axioms are named `{}`", shortened(&syntax.name.text)),
                    )
                    .at(&self.theory.source, syntax.name.span, "second axiom")
                    .mark(first, "first axiom")
                    .help("axiom names must differ: reports and phases refer to them"),
                );
            }
            match self.axiom(syntax) {
                Some(axiom) => self.theory.axioms.push(axiom),
                None => defective = true,
            }
        }
        if !defective && !self.out.has_errors() {
            self.check_depths();
        }
        if axioms && !defective && !self.out.has_errors() {
            self.warn_about_unused();
            self.warn_about_unused_definitions();
        }
        self.theory
    }

    /// Takes the symbols of a checked theory, to check one more formula.
    fn adopt(&mut self, theory: &Theory) {
        let mut adopted = theory.without_places();
        adopted.axioms = Vec::new();
        adopted.source = self.theory.source.clone();
        self.theory = adopted;
        let mut add = |name: &str, symbol| {
            self.symbols
                .insert(name.to_string(), (symbol, Span::default()));
        };
        for (i, sort) in theory.sorts.iter().enumerate() {
            let id = SortId(i as u32);
            add(&sort.name, Symbol::Sort(id));
            for (k, label) in sort.labels.iter().enumerate() {
                if sort.kind == SortKind::Labels {
                    add(label, Symbol::Label(id, k as u32));
                } else {
                    let known = self.data_labels.entry(label.clone()).or_default();
                    known.push((id, k as u32));
                }
            }
        }
        for (symbol, name, _) in symbols(theory) {
            add(name, symbol);
        }
        for (i, x) in theory.definitions.iter().enumerate() {
            add(x.name(), Symbol::Definition(DefinitionId(i as u32)));
        }
    }

    fn declare(&mut self, name: &Name, symbol: Symbol) {
        let new = (symbol, name.span);
        let Some(&(old, first)) = self.symbols.get(&name.text) else {
            self.symbols.insert(name.text.clone(), new);
            return;
        };
        let error = Diagnostic::error(Code::DuplicateName, format!("`{}` is declared twice", shortened(&name.text)))
            .at(
                &self.theory.source,
                name.span,
                format!("second time, as a {}", symbol.kind()),
            )
            .mark(first, format!("first time, as a {}", old.kind()))
            .help("sorts, tables, predicates, functions, constants, params, definitions and labels share one namespace");
        self.out.push(error);
        self.declared_twice.insert(name.text.clone());
    }

    fn declare_sort(&mut self, declaration: &Declaration, labels: &Labels) {
        let Declaration::Sort(name, definition) = declaration else {
            return;
        };
        let id = SortId(self.theory.sorts.len() as u32);
        if matches!(definition, SortDefinition::Error) {
            self.declare(name, Symbol::Broken);
            return;
        }
        self.declare(name, Symbol::Sort(id));
        let mut sort = Sort {
            name: name.text.clone(),
            kind: SortKind::Data,
            labels: Vec::new(),
            span: name.span,
        };
        match definition {
            SortDefinition::Range(low, high) => sort.kind = SortKind::Range(*low, *high),
            SortDefinition::Labels(names) => {
                sort.kind = SortKind::Labels;
                for (i, label) in names.iter().enumerate() {
                    self.declare(label, Symbol::Label(id, i as u32));
                    sort.labels.push(label.text.clone());
                }
            }
            SortDefinition::Data | SortDefinition::Error => {
                if let Some(known) = labels.by_sort.get(&name.text) {
                    for (i, label) in known.iter().enumerate() {
                        let entry = self.data_labels.entry(label.clone()).or_default();
                        entry.push((id, i as u32));
                    }
                    sort.labels.clone_from(known);
                }
                if labels.unreadable.contains(&name.text) {
                    self.unreadable.push(id);
                }
            }
        }
        self.theory.sorts.push(sort);
    }

    fn declare_symbol(&mut self, declaration: &Declaration) {
        match declaration {
            Declaration::Sort(..) | Declaration::Axiom(_) => {}
            Declaration::Define(syntax) => self.declare_definition(syntax),
            Declaration::Broken(name) => {
                self.symbols
                    .entry(name.text.clone())
                    .or_insert((Symbol::Broken, name.span));
            }
            Declaration::Param(name) => {
                let id = ParamId(self.theory.params.len() as u32);
                self.declare(name, Symbol::Param(id));
                self.theory.params.push(Param {
                    name: name.text.clone(),
                    span: name.span,
                });
            }
            Declaration::Constant(name, sort) => self.declare_constant(name, sort.as_ref()),
            Declaration::Table(name, columns) => self.declare_table(name, columns),
            Declaration::Predicate(name, arguments) => {
                let Some(arguments) = self.argument_sorts(arguments) else {
                    return self.declare(name, Symbol::Broken);
                };
                let id = PredicateId(self.theory.predicates.len() as u32);
                self.declare(name, Symbol::Predicate(id));
                self.theory.predicates.push(Predicate {
                    name: name.text.clone(),
                    arguments,
                    span: name.span,
                });
            }
            Declaration::Function(name, arguments, result) => {
                let arguments = self.argument_sorts(arguments);
                let result = result.as_ref().and_then(|r| self.argument_sort(r));
                let (Some(arguments), Some(result)) = (arguments, result) else {
                    return self.declare(name, Symbol::Broken);
                };
                let id = FunctionId(self.theory.functions.len() as u32);
                self.declare(name, Symbol::Function(id));
                self.theory.functions.push(Function {
                    name: name.text.clone(),
                    arguments,
                    result,
                    span: name.span,
                });
            }
        }
    }

    fn declare_constant(&mut self, name: &Name, sort: Option<&Name>) {
        let Some(sort) = sort.and_then(|s| self.sort_named(s)) else {
            return self.declare(name, Symbol::Broken);
        };
        let id = ConstantId(self.theory.constants.len() as u32);
        self.declare(name, Symbol::Constant(id));
        self.theory.constants.push(Constant {
            name: name.text.clone(),
            sort,
            span: name.span,
        });
    }

    fn declare_table(&mut self, name: &Name, columns: &[(Name, TypeName)]) {
        let mut seen: FxHashMap<&str, Span> = FxHashMap::default();
        let mut resolved = Vec::new();
        let mut whole = true;
        for (column, sort) in columns {
            if let Some(first) = seen.insert(&column.text, column.span) {
                self.out.push(
                    Diagnostic::error(
                        Code::DuplicateName,
                        format!(
                            "table `{}` has two columns named `{}`",
                            name.text, column.text
                        ),
                    )
                    .at(&self.theory.source, column.span, "second column")
                    .mark(first, "first column"),
                );
            }
            let sort = match sort {
                TypeName::Sort(sort) => self.sort_named(sort).map(ColumnSort::Sort),
                TypeName::Int(_) => Some(ColumnSort::Int),
                TypeName::Real => Some(ColumnSort::Real),
                TypeName::Vector(_, span) => {
                    let message = "a column cannot hold vectors".to_string();
                    let help = "vectors are the features of a sort's individuals".to_string();
                    self.refuse_with_help(Code::TypeNotAllowed, message, *span, "", Some(help))
                }
            };
            match sort {
                Some(sort) => resolved.push(Column {
                    name: column.text.clone(),
                    sort,
                    span: column.span,
                }),
                None => whole = false,
            }
        }
        if !whole {
            return self.declare(name, Symbol::Broken);
        }
        let id = TableId(self.theory.tables.len() as u32);
        self.declare(name, Symbol::Table(id));
        self.theory.tables.push(Table {
            name: name.text.clone(),
            columns: resolved,
            span: name.span,
        });
    }

    fn argument_sorts(&mut self, names: &[TypeName]) -> Option<Vec<ArgumentSort>> {
        // All of them are looked at before giving up, to report every unknown sort.
        let sorts: Vec<_> = names.iter().map(|n| self.argument_sort(n)).collect();
        sorts.into_iter().collect()
    }

    fn argument_sort(&mut self, name: &TypeName) -> Option<ArgumentSort> {
        match name {
            TypeName::Sort(name) => self.sort_named(name).map(ArgumentSort::Sort),
            TypeName::Real => Some(ArgumentSort::Vector(1)),
            TypeName::Vector(width, _) => Some(ArgumentSort::Vector(*width)),
            TypeName::Int(span) => {
                let message = "`Int` is for the columns of tables only".to_string();
                let help = "give the integers a sort: `sort Digit = 0..9`".to_string();
                self.refuse_with_help(Code::TypeNotAllowed, message, *span, "", Some(help))
            }
        }
    }

    fn sort_named(&mut self, name: &Name) -> Option<SortId> {
        match self.symbols.get(&name.text) {
            Some((Symbol::Sort(id), _)) => {
                let id = *id;
                self.mark_used(&name.text);
                Some(id)
            }
            Some(_) if self.is_broken(&name.text) => None,
            Some(&other) => {
                self.wrong_kind(name, other, "a sort", None);
                None
            }
            None => {
                let short = shortened(&name.text);
                let sorts = self.theory.sorts.iter().map(|s| s.name.as_str());
                let help = (self.suggestion(&name.text, sorts.clone()))
                    .or_else(|| Some(self.how_to_declare(format!("sort {short}"), sorts)));
                self.refuse_with_help(
                    Code::UnknownSort,
                    format!("unknown sort `{short}`"),
                    name.span,
                    "",
                    help,
                )
            }
        }
    }

    fn mark_used(&mut self, name: &str) {
        if !self.used.contains_key(name) {
            self.used.insert(name.to_string(), ());
        }
    }

    // --- axioms ---------------------------------------------------------------------------------

    /// Forgets the variables of the previous formula.
    fn start_formula(&mut self) {
        self.leave_scopes(0);
        self.variables.clear();
        self.variable_used.clear();
        self.row_variables.clear();
    }

    fn axiom(&mut self, syntax: AxiomSyntax) -> Option<Axiom> {
        let errors = self.out.error_count();
        self.start_formula();
        let family = syntax.family.as_ref().map(|(binding, guard)| {
            let variables = self.bind_sorts(binding, BoundBy::Family);
            self.crisp_binder = Some("for");
            let guard = guard.as_ref().map(|guard| self.guard(guard));
            self.crisp_binder = None;
            (variables, guard)
        });
        let formula = self.formula(&syntax.formula);
        // Text that was not understood may have been a use.
        if self.out.error_count() == errors && formula.is_some() {
            self.warn_about_unused_variables();
        }
        let family = match family {
            None => None,
            Some((variables, guard)) => Some(Family {
                variables: variables?,
                guard: all_or_none(guard)?,
            }),
        };
        Some(Axiom {
            name: syntax.name.text,
            weight: syntax.weight.map_or(1.0, |(w, _)| w),
            variables: std::mem::take(&mut self.variables),
            family,
            formula: formula?,
            products: Vec::new(),
            name_span: syntax.name.span,
            span: syntax.span,
        })
    }

    // --- warnings -------------------------------------------------------------------------------

    fn warn_about_unused_variables(&mut self) {
        for (variable, used) in self.variables.iter().zip(&self.variable_used) {
            if !used && !variable.name.starts_with('_') {
                let name = &variable.name;
                // A row binder is positional: without this variable it would have too few columns.
                let help = if self.row_variables.contains(&variable.span) {
                    format!("call it `_{name}` if that is intended")
                } else {
                    format!("remove it, or call it `_{name}` if that is intended")
                };
                self.out.push(
                    Diagnostic::warning(
                        Code::UnusedVariable,
                        format!("variable `{name}` never occurs"),
                    )
                    .at(&self.theory.source, variable.span, "")
                    .help(help),
                );
            }
        }
    }

    fn warn_about_unused(&mut self) {
        let theory = &self.theory;
        let sorts = theory.sorts.iter().map(|s| ("sort", &s.name, s.span));
        let others = symbols(theory).map(|(symbol, name, span)| (symbol.kind(), name, span));
        for (kind, name, span) in sorts.chain(others) {
            if !self.used.contains_key(name) {
                let what = format!("{kind} `{name}` is never used");
                let warning = Diagnostic::warning(Code::UnusedDeclaration, what);
                self.out.push(warning.at(&theory.source, span, ""));
            }
        }
    }
}

/// What is there must have been understood.
fn all_or_none<T>(part: Option<Option<T>>) -> Option<Option<T>> {
    match part {
        Some(None) => None,
        Some(part) => Some(part),
        None => Some(None),
    }
}

/// The symbols of a theory other than sorts, labels and definitions, with the places of their declarations.
fn symbols(theory: &Theory) -> impl Iterator<Item = (Symbol, &String, Span)> {
    macro_rules! each {
        ($list:ident, $symbol:ident, $id:ident) => {
            (theory.$list.iter().zip(0..)).map(|(x, i)| (Symbol::$symbol($id(i)), &x.name, x.span))
        };
    }
    each!(tables, Table, TableId)
        .chain(each!(predicates, Predicate, PredicateId))
        .chain(each!(functions, Function, FunctionId))
        .chain(each!(constants, Constant, ConstantId))
        .chain(each!(params, Param, ParamId))
}

/// `1 column`, `3 columns`
fn count(n: usize, what: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{n} {what}{plural}")
}
