//! The one list of all kinds of mistakes, of all crates.
//!
//! A code names what is wrong, not where it was found: the same code may come from a theory, a manifest or a
//! call. Messages may be worded anew; codes stay.

use std::fmt;

macro_rules! codes {
    ($($code:ident = $name:literal: $meaning:literal;)*) => {
        /// A kind of mistake, by which programs tell diagnostics apart.
        ///
        /// ```
        /// use logltn_diagnostics::Code;
        /// assert_eq!(Code::UnknownPredicate.name(), "unknown-predicate");
        /// assert_eq!(Code::named("unknown-predicate"), Some(Code::UnknownPredicate));
        /// assert!(Code::ALL.len() > 50);
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Code {
            $(#[doc = $meaning] $code,)*
        }

        impl Code {
            /// Every code, in the order of the list.
            pub const ALL: &'static [Code] = &[$(Code::$code,)*];

            /// The stable short name, such as `unknown-predicate`.
            pub fn name(self) -> &'static str {
                match self {
                    $(Code::$code => $name,)*
                }
            }

            /// What it means, in a sentence.
            pub fn meaning(self) -> &'static str {
                match self {
                    $(Code::$code => $meaning,)*
                }
            }
        }
    };
}

impl Code {
    /// The code with that name.
    pub fn named(name: &str) -> Option<Code> {
        Code::ALL.iter().copied().find(|code| code.name() == name)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

codes! {
    // --- how a theory is written ------------------------------------------------------------------
    UnexpectedToken = "unexpected-token":
        "The text does not follow the grammar: something else was expected at this place.";
    UnexpectedCharacter = "unexpected-character":
        "A character is not part of the language.";
    UnclosedParenthesis = "unclosed-parenthesis":
        "A parenthesis is opened and never closed.";
    ReservedName = "reserved-name":
        "A reserved word stands where a name belongs.";
    MalformedNumber = "malformed-number":
        "A number is wanted, and what is written is none.";
    NumberTooLarge = "number-too-large":
        "A number is too large to be computed with.";
    DoesNotChain = "does-not-chain":
        "Comparisons and equivalences stand between two sides, not three.";
    NestedTooDeep = "nested-too-deep":
        "A formula is nested too deep to be read.";
    InvalidWeight = "invalid-weight":
        "The weight of an axiom is not a number of 0 or more.";
    TableWithoutColumns = "table-without-columns":
        "A table is declared without columns.";
    TypeNotAllowed = "type-not-allowed":
        "A type stands where values of it cannot be, such as a vector in a column.";

    // --- names ------------------------------------------------------------------------------------
    DuplicateName = "duplicate-name":
        "Two things that need names of their own have the same one.";
    VariableBoundTwice = "variable-bound-twice":
        "A variable is bound where one of that name is bound already.";
    VariableHidesName = "variable-hides-name":
        "A variable has the name of a label, a constant or a param.";
    WrongKindOfName = "wrong-kind-of-name":
        "A name stands for something of another kind, such as a sort where a predicate is wanted.";
    UnknownSort = "unknown-sort":
        "There is no sort of that name.";
    UnknownTable = "unknown-table":
        "There is no table of that name.";
    UnknownPredicate = "unknown-predicate":
        "There is no predicate of that name.";
    UnknownFunction = "unknown-function":
        "There is no function of that name.";
    UnknownConstant = "unknown-constant":
        "There is no constant of that name.";
    UnknownParam = "unknown-param":
        "There is no param of that name.";
    UnknownAxiom = "unknown-axiom":
        "There is no axiom of that name.";
    UnknownVariable = "unknown-variable":
        "A name stands for nothing here: it is no variable in scope, and nothing is declared by it.";
    UnknownLabel = "unknown-label":
        "A sort has no individual of that name.";
    UnusedVariable = "unused-variable":
        "A variable is bound and never occurs.";
    UnusedDeclaration = "unused-declaration":
        "Something is declared and never used.";

    // --- sorts and arguments ----------------------------------------------------------------------
    WrongNumberOfArguments = "wrong-number-of-arguments":
        "A predicate, function or table has more or fewer arguments than declared.";
    WrongSort = "wrong-sort":
        "An individual is of another sort than the one that is wanted.";
    ExpectedFormula = "expected-formula":
        "Something that has no truth stands where a formula is wanted.";
    ExpectedCondition = "expected-condition":
        "Something that is neither true nor false stands in a guard as a condition.";
    ExpectedNumber = "expected-number":
        "Something that is not a number is computed with in a guard.";
    ExpectedIndividual = "expected-individual":
        "Something that is not an individual stands as an argument.";
    NotComparable = "not-comparable":
        "Two things are compared that cannot be: individuals of different sorts, or by order.";
    IndividualOutOfRange = "individual-out-of-range":
        "A number is given for an individual, and its sort has no such individual.";
    EmptySort = "empty-sort":
        "A sort has no individuals.";
    TooManyIndividuals = "too-many-individuals":
        "A sort has more individuals than can be numbered.";

    // --- guards -----------------------------------------------------------------------------------
    LearntInGuard = "learnt-in-guard":
        "A guard looks at a predicate or a function, whose values are learnt.";
    OperatorNotInGuard = "operator-not-in-guard":
        "A guard uses a connective or quantifier that guards do not have.";
    GuardVariesWithData = "guard-varies-with-data":
        "The guard of `for`, `all` or `any` looks at what is known only as data go by.";
    GuardDivisionByZero = "guard-division-by-zero":
        "A guard divides by zero.";
    GuardOverflow = "guard-overflow":
        "A number in a guard does not fit in 64 bits.";

    // --- from a theory to a plan ------------------------------------------------------------------
    NoAxioms = "no-axioms":
        "There are no axioms to evaluate.";
    ZeroWeights = "zero-weights":
        "The weights of the axioms add up to 0.";
    MisplacedForall = "misplaced-forall":
        "A `forall` stands inside another formula, where the semantics cannot evaluate it.";
    MembersAreData = "members-are-data":
        "`all`, `any` or `for` would write out one member per row of data.";
    TooManyMembers = "too-many-members":
        "`all`, `any` or `for` would write out more than a million members.";
    NothingToRangeOver = "nothing-to-range-over":
        "A quantifier or a family has no individuals or rows to range over.";
    NoGroundings = "no-groundings":
        "An axiom says something of nothing, so it is always true.";
    OneSidedPredicate = "one-sided-predicate":
        "A predicate occurs only positively or only negatively, so that a constant satisfies every axiom.";
    FormulaTooLarge = "formula-too-large":
        "The normal form of a formula would be too large.";
    TooManyBindings = "too-many-bindings":
        "A quantifier or a predicate has more bindings than can be numbered.";
    TooMuchMemory = "too-much-memory":
        "A plan would take more memory than it may have.";
    NoClassArgument = "no-class-argument":
        "A predicate answers for all classes at once, but has no last argument that picks the class.";
    ComputedClass = "computed-class":
        "The class of a predicate that answers for all classes at once is computed or learnt.";
    SoftmaxOfOneClass = "softmax-of-one-class":
        "A softmax has one class only, so that it is always 1.";
    WrongNumberOfOutputs = "wrong-number-of-outputs":
        "There are more or fewer outputs than predicates.";

    // --- semantics --------------------------------------------------------------------------------
    UnknownSemantics = "unknown-semantics":
        "There is no semantics of that name.";
    UnknownOperator = "unknown-operator":
        "There is no operator of that name, or none to be replaced by it.";
    OperatorsDoNotMix = "operators-do-not-mix":
        "Operators on truths and operators on their logs are put together.";
    ParameterOutOfRange = "parameter-out-of-range":
        "A parameter of the operators (α, p, p_forall, ε) has a value that it cannot have.";

    // --- data -------------------------------------------------------------------------------------
    MissingData = "missing-data":
        "Nothing says which individuals a sort has, which rows a table, or which value a param.";
    NotGrounded = "not-grounded":
        "Nothing says which values a predicate, a function or a constant has.";
    DefinedByTheory = "defined-by-theory":
        "Data are given for a sort whose individuals the theory spells out.";
    SizesDisagree = "sizes-disagree":
        "Two places that speak of the same individuals or rows have different numbers of them.";
    WrongShape = "wrong-shape":
        "An array or a table of numbers has another shape than the one that is wanted.";
    DifferentWidths = "different-widths":
        "Vectors that go together have different lengths.";
    NotFinite = "not-finite":
        "A number is infinite or not a number (NaN).";
    NoFeatures = "no-features":
        "A sort has no features to measure distances with, or for a network to read.";
    NoLabels = "no-labels":
        "A sort has no known labels to compare with.";
    VectorArgument = "vector-argument":
        "A predicate of vectors is used where its arguments have to be listed.";
    TableNotBatched = "table-not-batched":
        "Some rows of a table are chosen, but the plan was not made for that.";
    NotStreamed = "not-streamed":
        "Rows or a size come with a call, but the plan was not made for that.";
    RowOutOfRange = "row-out-of-range":
        "A table has no row of that number.";
    InconsistentData = "inconsistent-data":
        "Two places of the data contradict each other.";
    NotEnoughData = "not-enough-data":
        "There are fewer data than are asked for.";

    // --- files ------------------------------------------------------------------------------------
    FileNotFound = "file-not-found":
        "There is no such file or folder.";
    FileUnreadable = "file-unreadable":
        "A file is there and cannot be read.";
    NotAFile = "not-a-file":
        "A folder is where a file should be.";
    NotAFolder = "not-a-folder":
        "A file is where a folder should be.";
    CannotWrite = "cannot-write":
        "A file or folder cannot be written.";
    FileTooLarge = "file-too-large":
        "A text is larger than is sensible.";
    FileChanged = "file-changed":
        "A file was changed while it was in use.";
    NotUtf8 = "not-utf8":
        "A text is not UTF-8.";
    UnknownFormat = "unknown-format":
        "The name of a file does not tell a format that can be read.";
    WrongFormat = "wrong-format":
        "A file is not in the format that its name tells.";
    FileCutShort = "file-cut-short":
        "A file ends before all of it is there.";
    FileDamaged = "file-damaged":
        "A file contradicts itself.";
    UnsupportedElements = "unsupported-elements":
        "A file holds something else than arrays of numbers.";
    EmptyFile = "empty-file":
        "There is nothing in a file.";
    MalformedCsv = "malformed-csv":
        "A CSV file is not laid out as rows of equal length.";
    UnknownColumn = "unknown-column":
        "A file has a column that nothing is known about, or a column is asked for that it does not have.";
    MissingColumn = "missing-column":
        "A file lacks a column that is needed.";
    AmbiguousColumn = "ambiguous-column":
        "A file has several columns or arrays, and nothing says which is meant.";
    SuspiciousColumn = "suspicious-column":
        "A column is read as something else than its name says.";
    UnknownField = "unknown-field":
        "The features of a sort have no such field.";

    // --- manifests --------------------------------------------------------------------------------
    MalformedToml = "malformed-toml":
        "A manifest is not TOML.";
    DuplicateKey = "duplicate-key":
        "A key is given twice.";
    UnknownKey = "unknown-key":
        "There is no such key here.";
    MissingKey = "missing-key":
        "A key is missing that has to be here.";
    ConflictingKeys = "conflicting-keys":
        "Two keys are given that exclude each other, or one that does not apply here.";
    WrongType = "wrong-type":
        "A value is of another type than the one that is wanted, such as a string for a number.";
    ValueOutOfRange = "value-out-of-range":
        "A value is of the right type, but not among those that are possible.";
    UnknownChoice = "unknown-choice":
        "A word is not one of those that can stand here.";
    EmptyValue = "empty-value":
        "Something is empty that has to have contents.";
    InvalidName = "invalid-name":
        "A name has characters that names do not have.";
    MalformedExpression = "malformed-expression":
        "A string of a manifest does not follow its own small grammar, such as `stop(type(x))`.";
    InvalidSchedule = "invalid-schedule":
        "A schedule does not say from which number to which, or no curve leads there.";
    NoEffect = "no-effect":
        "Something is given that changes nothing.";
    UnknownNetwork = "unknown-network":
        "There is no network of that name.";
    InvalidLayers = "invalid-layers":
        "The layers of a network do not fit each other or what they read.";
    NetworkReadsItself = "network-reads-itself":
        "The inputs of a network depend on its own output.";
    NetworkWithoutInput = "network-without-input":
        "A network has nothing to read.";
    ClassAsInput = "class-as-input":
        "A network is to read the argument that picks one of its classes.";
    NotABox = "not-a-box":
        "`containment` is asked of something else than boxes of four numbers.";
    UnknownMetric = "unknown-metric":
        "There is no metric of that name.";
    MetricDoesNotFit = "metric-does-not-fit":
        "A metric cannot be asked of that predicate.";
    MetricUndefined = "metric-undefined":
        "A metric has no value on these rows.";

    // --- training ---------------------------------------------------------------------------------
    NoTrainingLength = "no-training-length":
        "Nothing says how long to train.";
    TrainingHasBegun = "training-has-begun":
        "Something is changed that can be changed only before the first step.";
    TrainingDiverged = "training-diverged":
        "The loss, a truth or a gradient is no longer a finite number.";
    VanishingGradient = "vanishing-gradient":
        "The gradient of an axiom is zero, so it teaches nothing.";
    DominatingGradient = "dominating-gradient":
        "The gradient of one axiom is far larger than that of all others together.";
    NotTrained = "not-trained":
        "A value is asked for that is known only after training.";
    CannotPredict = "cannot-predict":
        "A predicate cannot be evaluated on other rows than those of the axioms.";
    WeightsDoNotFit = "weights-do-not-fit":
        "Stored weights are of other networks.";
    RunExists = "run-exists":
        "The folder for a new run holds one already.";
    RunNotFound = "run-not-found":
        "A folder holds no run.";
    RunInUse = "run-in-use":
        "Another process is writing the run.";
    RunDiffers = "run-differs":
        "The run was made with another theory, manifest, data or settings.";
    RunDamaged = "run-damaged":
        "A file of a run is not as it was written.";
    CheckpointDamaged = "checkpoint-damaged":
        "A checkpoint is not as it was written.";
    NoWeights = "no-weights":
        "A run has no weights yet.";

    // --- experiments and reports ------------------------------------------------------------------
    UnknownConfiguration = "unknown-configuration":
        "An experiment has no configuration of that name.";
    FlagDoesNotApply = "flag-does-not-apply":
        "A flag is given that means nothing here.";
    PictureFailed = "picture-failed":
        "A picture cannot be drawn.";
    NoThreads = "no-threads":
        "The system gives no threads.";
    Internal = "internal":
        "Something went wrong that should be impossible: please report it.";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_variants() {
        for code in Code::ALL {
            let mut kebab = String::new();
            for letter in format!("{code:?}").chars() {
                if letter.is_uppercase() && !kebab.is_empty() {
                    kebab.push('-');
                }
                kebab.extend(letter.to_lowercase());
            }
            assert_eq!(code.name(), kebab);
            assert_eq!(Code::named(&kebab), Some(*code));
        }
    }
}
