//! The kinds of mistakes, by which programs tell diagnostics apart.
//!
//! A code names what is wrong, not where it was found: the same code may come from a theory, a manifest or a
//! call. Messages may change; codes stay.

use std::fmt;

use crate::example::{Example, Mistake, Text};
use crate::severity::Severity;

/// Declares [`Code`] from a single list: a code without a name, a meaning and an example does not
/// compile.
macro_rules! codes {
    ($($section:literal { $(
        $code:ident = $name:literal: $meaning:literal, $severity:ident, $mistake:expr;
    )* })*) => {
        /// A kind of mistake, by which programs tell diagnostics apart. `docs/diagnostics.md` lists them all.
        ///
        /// ```
        /// use logltn_diagnostics::Code;
        /// assert_eq!(Code::UnknownPredicate.name(), "unknown-predicate");
        /// assert_eq!(Code::named("unknown-predicate"), Some(Code::UnknownPredicate));
        /// assert_eq!(Code::UnknownPredicate.meaning(), "There is no predicate of that name.");
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Code {
            $($(#[doc = $meaning] $code,)*)*
        }

        impl Code {
            /// Every code, in the order of the list.
            pub const ALL: &'static [Code] = &[$($(Code::$code,)*)*];

            /// The stable short name, such as `unknown-predicate`.
            pub fn name(self) -> &'static str {
                match self {
                    $($(Code::$code => $name,)*)*
                }
            }

            /// What it means, in a sentence.
            pub fn meaning(self) -> &'static str {
                match self {
                    $($(Code::$code => $meaning,)*)*
                }
            }

            /// Its topic: the section of the list that it is in.
            pub fn section(self) -> &'static str {
                match self {
                    $($(Code::$code => $section,)*)*
                }
            }

            /// A mistake of this kind.
            pub fn example(self) -> Example {
                match self {
                    $($(Code::$code => Example {
                        severity: Severity::$severity,
                        mistake: $mistake,
                    },)*)*
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

fn theory(text: &'static str) -> Mistake {
    Mistake::Theory(Text(text.as_bytes()))
}

fn action(words: &'static str) -> Mistake {
    Mistake::Action(Text(words.as_bytes()))
}

fn unmakeable(why: &'static str) -> Mistake {
    Mistake::Unmakeable(Text(why.as_bytes()))
}

fn files(commands: &'static str, files: &'static [(&'static str, Text)]) -> Mistake {
    Mistake::Files {
        commands: Text(commands.as_bytes()),
        files,
    }
}

/// Commands and the files beside which they are run.
macro_rules! run {
    ($commands:literal $(, $name:literal: $content:expr)* $(,)?) => {
        files($commands, &[$(($name, Text($content)),)*])
    };
}

codes! {
"How a theory is written" {
    UnexpectedToken = "unexpected-token":
        "The text does not follow the grammar: something else was expected at this place.",
        Error, theory("predicate rains()\naxiom wet rains()\n");
    UnexpectedCharacter = "unexpected-character":
        "A character is not part of the language.",
        Error, theory("predicate rains?()\n");
    TurnedText = "turned-text":
        "A comment or a label contains an invisible character that changes the writing direction, so the text can look like another.",
        Warning, theory("
            # \u{202e}reads from right to left
            predicate rains()
            axiom wet: rains()
            ");
    UnclosedParenthesis = "unclosed-parenthesis":
        "A parenthesis is opened and never closed.",
        Error, theory("predicate rains()\naxiom wet: (rains() or not rains()\n");
    ReservedName = "reserved-name":
        "A reserved word is used as a name.",
        Error, theory("predicate forall()\n");
    MalformedNumber = "malformed-number":
        "A number is expected, but something else is written.",
        Error, theory("sort Digit = 0..9th\n");
    MalformedLabel = "malformed-label":
        "A label in quotes is empty, is not closed on its line, or has a character that it cannot have.",
        Error, theory("sort Colour = {\"dark red, blue}\n");
    NumberTooLarge = "number-too-large":
        "A number is too large to be computed with.",
        Error, theory("sort Digit = 0..99999999999999999999\n");
    DoesNotChain = "does-not-chain":
        "Comparisons and equivalences have two sides, not three.",
        Error, theory("
            sort Digit = 0..9
            predicate good(Digit)
            axiom small: forall d: Digit where 0 < d < 5. good(d)
            ");
    NestedTooDeep = "nested-too-deep":
        "A formula is nested so deep that it cannot be read, or its normal form would be too large.",
        Error, theory("
            predicate p()
            axiom deep:
                p() <-> (p() <-> (p() <-> (p() <-> (p() <-> (p() <-> (p() <-> (p() <-> (p() <-> (p() <->
                (p() <-> (p() <-> (p() <-> (p() <-> (p() <-> (p() <-> (p() <-> (p() <-> (p() <-> (p() <->
                p() )))))))))) )))))))))
            ");
    TypeNotAllowed = "type-not-allowed":
        "A type is used where it is not allowed, such as a vector in a column.",
        Error, theory("table measured(x: Real[3])\n");
}

"Names" {
    DuplicateName = "duplicate-name":
        "Two things have the same name, but their names must differ.",
        Error, theory("sort Point\nsort Point\n");
    ShadowedName = "shadowed-name":
        "A variable is given the name of another one, or of a label, a constant or a param.",
        Error, theory("
            sort Point
            predicate good(Point)
            axiom some: forall x: Point. good(x) -> (exists x: Point. good(x))
            ");
    WrongKindOfName = "wrong-kind-of-name":
        "A name belongs to something of another kind, such as a sort where a predicate is expected.",
        Error, theory("
            sort Point
            predicate good(Point)
            axiom all: forall x: good. good(x)
            ");
    UnknownSort = "unknown-sort":
        "There is no sort of that name.",
        Error, theory("sort Point\npredicate good(Piont)\n");
    UnknownTable = "unknown-table":
        "There is no table of that name.",
        Error, theory("
            sort Point
            predicate good(Point)
            axiom all: forall (x) in points. good(x)
            ");
    UnknownPredicate = "unknown-predicate":
        "There is no predicate of that name.",
        Error, theory("
            sort Point
            predicate good(Point)
            axiom all: forall x: Point. godo(x)
            ");
    UnknownFunction = "unknown-function":
        "There is no function of that name.",
        Error, theory("
            sort Point
            predicate good(Point)
            axiom all: forall x: Point. good(next(x))
            ");
    UnknownConstant = "unknown-constant":
        "There is no constant of that name.",
        Error, run!("check m.toml", "m.toml": br#"
            theory = "theory.ltn"
            [sorts]
            Point = { features = "points.csv" }
            [constants]
            origin = { row = 0 }
            "#);
    UnknownParam = "unknown-param":
        "There is no param of that name.",
        Error, run!("check m.toml", "m.toml": br#"
            theory = "theory.ltn"
            [sorts]
            Point = { features = "points.csv" }
            [params]
            near = 0.5
            "#);
    UnknownAxiom = "unknown-axiom":
        "There is no axiom of that name.",
        Error, run!("check m.toml", "m.toml": br#"
            theory = "theory.ltn"
            [sorts]
            Point = { features = "points.csv" }
            [train]
            phases = [{ steps = 10, axioms = ["smoe"] }]
            "#);
    UnknownVariable = "unknown-variable":
        "A name is unknown here: it is not a variable in scope, a declaration or an argument.",
        Error, theory("
            sort Point
            predicate good(Point)
            axiom all: forall x: Point. good(y)
            ");
    UnknownIndividual = "unknown-individual":
        "A sort has no individual of that name or number.",
        Error, theory("
            sort Digit = 0..9
            predicate even(Digit)
            axiom ten: even(10)
            ");
    UnusedVariable = "unused-variable":
        "A variable is bound and never occurs.",
        Warning, theory("
            sort Point
            predicate good(Point)
            axiom all: forall x, y: Point. good(x)
            ");
    DefinitionCycle = "definition-cycle":
        "A definition calls itself without end, or definitions that use each other have more than one depth.",
        Error, theory("
            predicate p()
            define q() to depth 3: p() or r()
            define r() to depth 2: q()
            axiom a: q()
            ");
    UnusedDeclaration = "unused-declaration":
        "Something is declared and never used.",
        Warning, theory("
            predicate rains()
            predicate snows()
            axiom wet: rains()
            ");
}

"Sorts and arguments" {
    WrongNumberOfArguments = "wrong-number-of-arguments":
        "A predicate, function or table has more or fewer arguments than declared.",
        Error, theory("
            sort Point
            predicate good(Point)
            axiom all: forall x, y: Point. good(x, y)
            ");
    WrongSort = "wrong-sort":
        "An individual is of another sort than expected.",
        Error, theory("
            sort Point
            sort Digit = 0..9
            predicate good(Point)
            axiom all: forall d: Digit. good(d)
            ");
    ExpectedFormula = "expected-formula":
        "Something without a truth is used as a formula.",
        Error, theory("
            sort Point
            predicate good(Point)
            axiom all: forall x: Point. good(x) and x
            ");
    ExpectedCondition = "expected-condition":
        "Something that is neither true nor false is used as a condition in a guard.",
        Error, theory("
            sort Digit = 0..9
            predicate even(Digit)
            axiom all: forall d: Digit where d + 1. even(d)
            ");
    ExpectedNumber = "expected-number":
        "A guard computes with something that is not a number.",
        Error, theory("
            sort Colour = {red, green}
            predicate bright(Colour)
            axiom all: forall c: Colour where c + 1 = 2. bright(c)
            ");
    ExpectedIndividual = "expected-individual":
        "Something that is not an individual is used as an argument.",
        Error, theory("
            sort Digit = 0..9
            predicate even(Digit)
            axiom all: forall d: Digit where d < 9. even(d + 1)
            ");
    NotComparable = "not-comparable":
        "Two things cannot be compared: they are individuals of different sorts, or have no order.",
        Error, theory("
            sort Colour = {red, green}
            predicate bright(Colour)
            axiom all: forall c: Colour where c < green. bright(c)
            ");
    EmptySort = "empty-sort":
        "A sort has no individuals.",
        Error, theory("sort Digit = 9..0\n");
    TooManyIndividuals = "too-many-individuals":
        "A sort has more individuals than can be numbered.",
        Error, theory("sort Number = 0..4294967296\n");
}

"Guards" {
    LearntInGuard = "learnt-in-guard":
        "A guard uses a learnt predicate or function.",
        Error, theory("
            sort Point
            predicate good(Point)
            predicate near(Point, Point)
            axiom all: forall x, y: Point where near(x, y). good(x) and good(y)
            ");
    OperatorNotInGuard = "operator-not-in-guard":
        "A guard uses a connective or quantifier that guards do not have.",
        Error, theory("
            sort Digit = 0..9
            predicate even(Digit)
            axiom all: forall d: Digit where d = 1 -> d = 2. even(d)
            ");
    DivisionByZero = "division-by-zero":
        "A guard divides by zero.",
        Error, theory("
            sort Digit = 0..9
            predicate even(Digit)
            axiom all: forall d: Digit where 8 % d = 0. even(d)
            ");
}

"From a theory to a plan" {
    NoAxioms = "no-axioms":
        "There are no axioms to evaluate.",
        Error, theory("predicate rains()\n");
    ZeroWeights = "zero-weights":
        "The weights of the axioms add up to 0.",
        Error, theory("predicate rains()\naxiom wet (weight 0): rains()\n");
    MisplacedForall = "misplaced-forall":
        "A `forall` is inside another formula, where the semantics cannot evaluate it.",
        Error, run!("check m.toml",
            "theory.ltn": b"
            sort Point
            predicate near(Point, Point)
            axiom centre: exists x: Point. forall y: Point. near(x, y)
            ",
            "m.toml": br#"
            theory = "theory.ltn"
            semantics = "prod"
            [sorts]
            Point = { features = "points.csv" }
            "#);
    MembersDependOnData = "members-depend-on-data":
        "The members of `for`, `all` or `any` would depend on rows of data.",
        Error, theory("
            sort Point
            predicate good(Point)
            axiom each for x: Point: good(x)
            ");
    TooManyMembers = "too-many-members":
        "`all`, `any` or `for` would write out more than a million members.",
        Error, theory("
            sort Number = 0..2000000
            predicate even(Number)
            axiom each for n: Number: even(n)
            ");
    NothingToRangeOver = "nothing-to-range-over":
        "A quantifier, a family or a whole axiom has no individuals or rows to range over.",
        Warning, theory("
            sort Digit = 0..9
            predicate even(Digit)
            axiom some: exists d: Digit where d > 9. even(d)
            ");
    OneSidedPredicate = "one-sided-predicate":
        "A predicate occurs only positively or only negatively, so a constant would satisfy every axiom.",
        Warning, run!("check m.toml", "theory.ltn": b"
            sort Point
            predicate good(Point)
            axiom all: forall x: Point. good(x)
            ");
    TooManyBindings = "too-many-bindings":
        "A quantifier or a predicate has more bindings than can be numbered.",
        Error, theory("
            sort Number = 0..99999
            predicate sum(Number, Number, Number, Number)
            axiom all: forall a, b, c, d: Number. sum(a, b, c, d)
            ");
    TooMuchMemory = "too-much-memory":
        "A quantifier, a network, a file or something else would take more memory than the program may have.",
        Error, theory("
            sort Number = 0..4000000000
            predicate even(Number)
            axiom all: forall n: Number. even(n)
            ");
    TooHard = "too-hard":
        "The exact probability of an event, or of worlds that satisfy all laws, would take more time or memory than is allowed.",
        Error, run!("check m.toml", "m.toml": br#"
            theory = "theory.ltn"
            semantics = "probability"
            [predicates]
            good = { learnable = true }
            [train]
            steps = 3
            compile_seconds = 0.000001
            "#, "theory.ltn": b"
            sort Point = 0..199
            predicate good(Point)
            axiom two: exists x, y: Point where x < y. good(x) and good(y)
            ");
    Contradiction = "contradiction":
        "No world satisfies all laws (the axioms with `hard = true`).",
        Error, run!("check m.toml", "m.toml": br#"
            theory = "theory.ltn"
            semantics = "probability"
            [predicates]
            rain = { learnable = true }
            [axioms]
            wet = { hard = true }
            dry = { hard = true }
            "#, "theory.ltn": b"
            predicate rain()
            axiom wet: rain()
            axiom dry: not rain()
            ");
    NoClasses = "no-classes":
        "A predicate should give several classes, but has no last argument that picks one.",
        Error, run!("check m.toml", "m.toml": br#"
            theory = "theory.ltn"
            [sorts]
            Point = { features = "points.csv" }
            [predicates]
            good = { network = { mlp = [4] }, output = "softmax" }
            "#, "theory.ltn": b"
            sort Point
            sort Class = {only}
            predicate good(Point, Class)
            axiom all: forall x: Point. good(x, only)
            ");
    ComputedClass = "computed-class":
        "The class of a predicate that answers for all classes at once is computed or learnt.",
        Error, run!("check m.toml", "theory.ltn": b"
            sort Point
            sort Class = {left, right}
            function side(Point): Class
            predicate good(Point, Class)
            axiom all: forall x: Point. good(x, side(x))
            ", "m.toml": br#"
            theory = "theory.ltn"
            [sorts]
            Point = { features = "points.csv" }
            [predicates]
            good = { network = { mlp = [4] }, output = "softmax" }
            "#);
}

"Semantics" {
    UnknownSemantics = "unknown-semantics":
        "There is no semantics of that name.",
        Error, run!("check m.toml", "m.toml": br#"
            theory = "theory.ltn"
            semantics = "logltm"
            "#);
    UnknownOperator = "unknown-operator":
        "There is no operator of that name, or it cannot be used here.",
        Error, run!("check m.toml", "m.toml": br#"
            theory = "theory.ltn"
            semantics = { base = "logltn", or = "maxx" }
            "#);
    OperatorsDoNotMix = "operators-do-not-mix":
        "Operators on truths and operators on logs are mixed.",
        Error, run!("check m.toml", "m.toml": br#"
            theory = "theory.ltn"
            semantics = { base = "logltn", and = "product" }
            "#);
}

"Data" {
    MissingData = "missing-data":
        "A sort has no individuals, a table no rows, or a param no value.",
        Error, run!("check m.toml", "m.toml": br#"
            theory = "theory.ltn"
            "#);
    LearntArgument = "learnt-argument":
        "A function that is given by data is applied to something that is learnt.",
        Error, run!("check m.toml", "age.csv": b"age\n30\n40\n50\n", "theory.ltn": b"
            sort Point
            constant new: Point
            function age(Point): Real
            predicate old(Real)
            axiom all: old(age(new))
            ", "m.toml": br#"
            theory = "theory.ltn"
            [sorts]
            Point = { features = "points.csv" }
            [constants]
            new = { learnable = 2 }
            [functions]
            age = { values = "age.csv" }
            [predicates]
            old = { network = { mlp = [4] }, output = "sigmoid" }
            "#);
    NotGrounded = "not-grounded":
        "A predicate, function or constant has no grounding.",
        Error, run!("eval m.toml", "m.toml": br#"
            theory = "theory.ltn"
            [sorts]
            Point = { features = "points.csv" }
            "#);
    DefinedByTheory = "defined-by-theory":
        "Data are given for a sort whose individuals the theory lists.",
        Error, run!("check m.toml", "theory.ltn": b"
            sort Digit = 0..9
            predicate even(Digit)
            axiom some: exists d: Digit. even(d)
            ", "m.toml": br#"
            theory = "theory.ltn"
            [sorts]
            Digit = { features = "points.csv" }
            "#);
    SizesDisagree = "sizes-disagree":
        "Two sizes disagree: numbers of individuals, rows, or numbers of a vector.",
        Error, run!("check m.toml", "classes.csv": b"class\n0\n1\n", "m.toml": br#"
            theory = "theory.ltn"
            [sorts]
            Point = { features = "points.csv", labels = { file = "classes.csv", column = "class" } }
            "#);
    WrongShape = "wrong-shape":
        "An array or a table of numbers has the wrong shape.",
        Error, run!("check m.toml", "good.csv": b"good\n0.5\n", "m.toml": br#"
            theory = "theory.ltn"
            [sorts]
            Point = { features = "points.csv" }
            [predicates]
            good = { truth = "good.csv" }
            "#);
    NotFinite = "not-finite":
        "A number is infinite or not a number (NaN).",
        Error, run!("check m.toml", "points.csv": b"a,b\n0,nan\n1,0\n");
    NoFeatures = "no-features":
        "A sort has no features to measure distances with, or for a network to read.",
        Error, run!("check m.toml", "theory.ltn": b"
            sort Point
            predicate good(Point)
            axiom smooth: forall x, y: Point where dist(x, y) < 1. good(x) <-> good(y)
            ", "m.toml": br#"
            theory = "theory.ltn"
            [sorts]
            Point = { individuals = ["ann", "bob"] }
            "#);
    NoLabels = "no-labels":
        "A sort has no known labels to compare with.",
        Error, run!("check m.toml", "m.toml": br#"
            theory = "theory.ltn"
            [sorts]
            Point = { features = "points.csv" }
            [evaluate]
            metrics = [{ metric = "accuracy", predicate = "good", labels = "Point" }]
            "#);
    VectorArgument = "vector-argument":
        "A predicate of vectors is used where its arguments have to be listed.",
        Error, run!("check m.toml", "good.csv": b"good\n0.5\n", "theory.ltn": b"
            sort Point
            function place(Point): Real[2]
            predicate good(Real[2])
            axiom all: forall x: Point. good(place(x))
            ", "m.toml": br#"
            theory = "theory.ltn"
            [sorts]
            Point = { features = "points.csv" }
            [predicates]
            good = { truth = "good.csv" }
            "#);
    TableNotBatched = "table-not-batched":
        "Some rows of a table are chosen, but the plan was not made for that.",
        Error, action("In a program: `Engine::set_batches` names a table that `Data::set_batched` did not.");
    NotStreamed = "not-streamed":
        "Rows or a size come with a call, but the plan was not made for that.",
        Error, action("In a program: `Engine::stream` names a table that `Data::set_streamed` did not.");
    NotShardable = "not-shardable":
        "An axiom would have to see rows that other processes have, or other parts of a large table.",
        Error, action("In Python: `KnowledgeBase(…, process_group=…, streamed=[\"rows\"])` for `forall c: Class. exists (x) in rows. P(x, c)`.");
    RanksDisagree = "ranks-disagree":
        "Processes that compute a loss together were given different things, or one of them failed.",
        Error, action("In Python: rank 0 calls `kb.loss(…, alpha=2.0)` and rank 1 `kb.loss(…, alpha=4.0)`, with a `process_group`.");
    RowOutOfRange = "row-out-of-range":
        "A table has no row of that number.",
        Error, action("In a program: `Engine::set_batches` asks for row 5 of a table of 3 rows.");
    NotEnoughData = "not-enough-data":
        "There are fewer data than requested.",
        Error, run!("reproduce mnist-add --samples 1000000 --data DATA");
}

"Files" {
    FileNotFound = "file-not-found":
        "There is no such file or folder.",
        Error, run!("check m.toml", "m.toml": br#"
            theory = "thoery.ltn"
            "#);
    FileUnreadable = "file-unreadable":
        "A file exists but cannot be read.",
        Error, action("`points.csv` is a link to itself, or nobody may read it.");
    NotAFile = "not-a-file":
        "Something else is where a file should be: a folder, a pipe, a device.",
        Error, run!("check m.toml", "m.toml": br#"
            theory = "."
            "#);
    NotAFolder = "not-a-folder":
        "A file is where a folder should be, or no folder can be made there.",
        Error, run!("eval m.toml --run points.csv");
    CannotWrite = "cannot-write":
        "A file, a folder or a picture cannot be written.",
        Error, run!("eval m.toml --gradients points.csv", "good.csv": b"good\n0.5\n0.25\n1\n", "m.toml": br#"
            theory = "theory.ltn"
            [sorts]
            Point = { features = "points.csv" }
            [predicates]
            good = { truth = "good.csv" }
            "#);
    FileTooLarge = "file-too-large":
        "A text is larger than is sensible.",
        Error, action("A manifest has 100 MB.");
    FileChanged = "file-changed":
        "A file was changed while it was in use.",
        Error, action("A column is added to `points.csv` after the project has been loaded and before it is trained.");
    NotUtf8 = "not-utf8":
        "A text is not UTF-8.",
        Error, run!("check m.toml", "theory.ltn": b"sort Caf\xe9\n");
    UnknownFormat = "unknown-format":
        "The name of a file does not say a known format.",
        Error, run!("check m.toml", "points.mat": b"0 1\n1 0\n2 2\n", "m.toml": br#"
            theory = "theory.ltn"
            [sorts]
            Point = { features = "points.mat" }
            "#);
    WrongFormat = "wrong-format":
        "A file is not in the format that its name says.",
        Error, run!("check m.toml", "points.npy": b"a,b\n0,1\n1,0\n2,2\n", "m.toml": br#"
            theory = "theory.ltn"
            [sorts]
            Point = { features = "points.npy" }
            "#);
    FileCutShort = "file-cut-short":
        "A file is cut short.",
        Error, run!("check m.toml", "points.idx": b"\0\0\x08\x01\0\0\0\x03\x07", "m.toml": br#"
            theory = "theory.ltn"
            [sorts]
            Point = { features = "points.idx" }
            "#);
    FileDamaged = "file-damaged":
        "A file contradicts itself.",
        Error, run!("check m.toml", "points.safetensors": b"\x06\0\0\0\0\0\0\0{\"a\":}", "m.toml": br#"
            theory = "theory.ltn"
            [sorts]
            Point = { features = "points.safetensors" }
            "#);
    UnsupportedElements = "unsupported-elements":
        "A file contains something other than arrays of numbers.",
        Error, run!("check m.toml",
            "points.safetensors":
                b"\x36\0\0\0\0\0\0\0{\"a\":{\"dtype\":\"C64\",\"shape\":[1],\"data_offsets\":[0,8]}}\0\0\0\0\0\0\0\0",
            "m.toml": br#"
            theory = "theory.ltn"
            [sorts]
            Point = { features = "points.safetensors" }
            "#);
    EmptyFile = "empty-file":
        "A file is empty.",
        Error, run!("check m.toml", "points.csv": b"a,b\n");
    MalformedCsv = "malformed-csv":
        "A CSV file is not laid out as rows of equal length.",
        Error, run!("check m.toml", "points.csv": b"a,b\n0,1\n1\n");
    UnknownColumn = "unknown-column":
        "A file has an unknown column, or lacks the column asked for.",
        Error, run!("check m.toml", "classes.csv": b"class\n0\n1\n0\n", "m.toml": br#"
            theory = "theory.ltn"
            [sorts]
            Point = { features = "points.csv", labels = { file = "classes.csv", column = "clas" } }
            "#);
    MissingColumn = "missing-column":
        "A file lacks a column that is needed.",
        Error, run!("check m.toml", "pairs.csv": b"x\n0\n", "theory.ltn": b"
            sort Point
            table pairs(x: Point, y: Point)
            predicate near(Point, Point)
            axiom all: forall (x, y) in pairs. near(x, y)
            ", "m.toml": br#"
            theory = "theory.ltn"
            [sorts]
            Point = { features = "points.csv" }
            [tables]
            pairs = { rows = "pairs.csv" }
            "#);
    AmbiguousColumn = "ambiguous-column":
        "A file has several columns or arrays, and nothing says which is meant.",
        Error, run!("check m.toml", "classes.csv": b"class,colour\n0,1\n1,1\n0,0\n", "m.toml": br#"
            theory = "theory.ltn"
            [sorts]
            Point = { features = "points.csv", labels = { file = "classes.csv" } }
            "#);
    NoHeader = "no-header":
        "The header line of a CSV holds numbers only: it may be the first row.",
        Warning, run!("check m.toml", "points.csv": b"0.5,1\n1,0\n2,2\n3,1\n");
    HeaderAmongIndividuals = "header-among-individuals":
        "The first line of a file of individuals looks like a header, which such a file does not have.",
        Warning, run!("check m.toml", "points.txt": b"point\nann\nbob\n", "m.toml": br#"
            theory = "theory.ltn"
            [sorts]
            Point = { individuals = "points.txt", learnable = 2 }
            [predicates.good]
            network = { mlp = [2] }
            output = "sigmoid"
            "#);
    IndexColumn = "index-column":
        "The first column of a file of features looks like the index of a data frame.",
        Warning, run!("check m.toml", "points.csv": b",a,b\n0,1,5\n1,0,3\n2,2,4\n");
    ColumnNotRead = "column-not-read":
        "A file of new individuals has a column that was not there when the columns were prepared.",
        Warning, run!("train m.toml --out a\npredict m.toml --run a good --features Point=new.csv", "new.csv": b"a,b,c\n0,1,2\n", "m.toml": br#"
            theory = "theory.ltn"
            [sorts]
            Point = { features = { file = "points.csv", prepare = true } }
            [predicates]
            good = { network = { mlp = [4] }, output = "sigmoid" }
            [train]
            steps = 3
            "#);
    NewCategory = "new-category":
        "A cell holds a category that was not met when the columns were prepared, or is missing where none was.",
        Warning, run!("train m.toml --out a\npredict m.toml --run a good --features Point=new.csv", "points.csv": b"a,colour\n0,red\n2,blue\n1,red\n", "new.csv": b"a,colour\n0,green\n", "m.toml": br#"
            theory = "theory.ltn"
            [sorts]
            Point = { features = { file = "points.csv", prepare = true } }
            [predicates]
            good = { network = { mlp = [4] }, output = "sigmoid" }
            [train]
            steps = 3
            "#);
    EmptyColumn = "empty-column":
        "A column of features has no value in any training row.",
        Warning, run!("check m.toml", "points.csv": b"a,b\n0,\n2,\n1,\n", "m.toml": br#"
            theory = "theory.ltn"
            [sorts]
            Point = { features = { file = "points.csv", prepare = true } }
            [predicates]
            good = { network = { mlp = [4] }, output = "sigmoid" }
            [train]
            steps = 3
            "#);
    MalformedDate = "malformed-date":
        "A date is expected, but something else is written.",
        Error, run!("check m.toml", "points.csv": b"a,born\n0,1990-05-01\n2,1991-02-30\n1,1992-01-01\n", "m.toml": br#"
            theory = "theory.ltn"
            [sorts]
            Point = { features = { file = "points.csv", prepare = { born = "date" } } }
            [predicates]
            good = { network = { mlp = [4] }, output = "sigmoid" }
            [train]
            steps = 3
            "#);
    AmbiguousDate = "ambiguous-date":
        "The dates of a column can be read with the month or with the day first.",
        Warning, run!("check m.toml", "points.csv": b"a,born\n0,1/5/1990\n2,2/3/1991\n1,4/4/1992\n", "m.toml": br#"
            theory = "theory.ltn"
            [sorts]
            Point = { features = { file = "points.csv", prepare = true } }
            [predicates]
            good = { network = { mlp = [4] }, output = "sigmoid" }
            [train]
            steps = 3
            "#);
    MixedColumn = "mixed-column":
        "A column holds numbers or dates and sometimes something else, so it is read as categories.",
        Warning, run!("check m.toml", "points.csv": b"a,age\n0,31\n2,40\n1,22\n5,unknown\n4,51\n", "m.toml": br#"
            theory = "theory.ltn"
            [sorts]
            Point = { features = { file = "points.csv", prepare = true } }
            [predicates]
            good = { network = { mlp = [4] }, output = "sigmoid" }
            [train]
            steps = 3
            "#);
    UnknownPart = "unknown-part":
        "The part of a split does not exist, or the sort has no split.",
        Error, run!("check m.toml", "theory.ltn": b"
            sort Point
            table some(x: Point)
            predicate good(Point)
            axiom all: forall (x) in some. good(x)
            ", "m.toml": br#"
            theory = "theory.ltn"
            [sorts]
            Point = { features = "points.csv", split = { test = 0.3 } }
            [tables]
            some = { rows = "points.csv", part = "tset" }
            [predicates]
            good = { network = { mlp = [4] }, output = "sigmoid" }
            "#);
    OtherFile = "other-file":
        "`column` and `part` apply to the file with the individuals' features, but another file is named.",
        Error, run!("check m.toml", "others.csv": b"b\n1\n2\n3\n", "theory.ltn": b"
            sort Point
            table some(x: Point, b: Int)
            predicate good(Point)
            axiom all: forall (x, b) in some where b > 1. good(x)
            ", "m.toml": br#"
            theory = "theory.ltn"
            [sorts]
            Point = { features = "points.csv" }
            [tables]
            some = { rows = "others.csv", column = "b" }
            [predicates]
            good = { network = { mlp = [4] }, output = "sigmoid" }
            "#);
    TooManyClasses = "too-many-classes":
        "The column to predict has too many different values to be classes.",
        Error, run!("new p --from names.csv --target name", "names.csv": b"name,age\nann,7\nbob,8\ncid,9\n");
    UnscaledFeatures = "unscaled-features":
        "Features that a network reads are far from 1 in size, and it learns badly from them.",
        Warning, run!("check m.toml", "points.csv": b"age,height\n31,180\n25,165\n40,171\n");
    SuspiciousColumn = "suspicious-column":
        "A column is read as something other than its name says.",
        Warning, run!("check m.toml", "good.csv": b"right,left\n1,0\n0,1\n1,1\n", "theory.ltn": b"
            sort Point
            sort Side = {left, right}
            predicate good(Point, Side)
            axiom all: forall x: Point. good(x, left) <-> good(x, right)
            ", "m.toml": br#"
            theory = "theory.ltn"
            [sorts]
            Point = { features = "points.csv" }
            [predicates]
            good = { truth = "good.csv" }
            "#);
    UnknownField = "unknown-field":
        "The features of a sort have no such field.",
        Error, run!("check m.toml", "m.toml": br#"
            theory = "theory.ltn"
            [sorts]
            Point = { features = "points.csv" }
            [predicates]
            good = { args = ["x"], network = { mlp = [4], inputs = ["x.position"] }, output = "sigmoid" }
            "#);
}

"Manifests" {
    MalformedToml = "malformed-toml":
        "A manifest is not TOML.",
        Error, run!("check m.toml", "m.toml": b"theory = theory.ltn\n");
    DuplicateKey = "duplicate-key":
        "A key is given twice.",
        Error, run!("check m.toml", "m.toml": br#"
            theory = "theory.ltn"
            theory = "other.ltn"
            "#);
    UnknownKey = "unknown-key":
        "There is no such key here.",
        Error, run!("check m.toml", "m.toml": br#"
            theory = "theory.ltn"
            semantic = "logltn"
            "#);
    MissingKey = "missing-key":
        "A required key is missing.",
        Error, run!("check m.toml", "m.toml": br#"
            theory = "theory.ltn"
            [predicates]
            good = { network = { mlp = [4] } }
            "#);
    ConflictingKeys = "conflicting-keys":
        "Two keys exclude each other, or one does not apply here.",
        Error, run!("check m.toml", "m.toml": br#"
            theory = "theory.ltn"
            [train]
            steps = 10
            epochs = 10
            "#);
    WrongType = "wrong-type":
        "A value has the wrong type, such as a string for a number.",
        Error, run!("check m.toml", "m.toml": br#"
            theory = "theory.ltn"
            [train]
            steps = "many"
            "#);
    ValueOutOfRange = "value-out-of-range":
        "A value has the right type, but is out of range.",
        Error, run!("check m.toml", "m.toml": br#"
            theory = "theory.ltn"
            [train]
            steps = 10
            learning_rate = -1.0
            "#);
    UnknownChoice = "unknown-choice":
        "A word is not one of the possible choices.",
        Error, run!("check m.toml", "m.toml": br#"
            theory = "theory.ltn"
            [train]
            steps = 10
            optimizer = "adma"
            "#);
    EmptyValue = "empty-value":
        "Something is empty that must not be.",
        Error, run!("check m.toml", "m.toml": br#"
            theory = "theory.ltn"
            [train]
            phases = []
            "#);
    MalformedExpression = "malformed-expression":
        "A string of a manifest has wrong syntax, such as a name or `stop(type(x))`.",
        Error, run!("check m.toml", "m.toml": br#"
            theory = "theory.ltn"
            [predicates]
            good = { args = ["x"], network = { mlp = [4], inputs = ["stop(type(x)"] }, output = "sigmoid" }
            "#);
    InvalidSchedule = "invalid-schedule":
        "A schedule is incomplete, or has impossible values.",
        Error, run!("check m.toml", "m.toml": br#"
            theory = "theory.ltn"
            [schedule]
            alpha = { linear = [1, 2, 4] }
            "#);
    NoEffect = "no-effect":
        "Something is given that changes nothing.",
        Warning, run!("check m.toml", "m.toml": br#"
            theory = "theory.ltn"
            semantics = { base = "logltn", stable_eps = 0.001 }
            [sorts]
            Point = { features = "points.csv" }
            "#);
    UnknownNetwork = "unknown-network":
        "There is no network of that name.",
        Error, run!("check m.toml", "m.toml": br#"
            theory = "theory.ltn"
            [predicates]
            good = { network = "trnuk", output = "sigmoid" }
            [networks]
            trunk = { mlp = [4] }
            "#);
    InvalidLayers = "invalid-layers":
        "The layers of a network do not fit each other or what they read.",
        Error, run!("check m.toml", "m.toml": br#"
            theory = "theory.ltn"
            [predicates]
            good = { network = { layers = ["flatten", { conv = [6, 5] }] }, output = "sigmoid" }
            "#);
    NetworkReadsItself = "network-reads-itself":
        "The inputs of a network depend on its own output.",
        Error, run!("check m.toml", "m.toml": br#"
            theory = "theory.ltn"
            [sorts]
            Point = { features = "points.csv" }
            [predicates]
            good = { args = ["x"], network = { mlp = [4], inputs = ["x", "good(x)"] }, output = "sigmoid" }
            "#);
    UnknownMetric = "unknown-metric":
        "There is no metric of that name among those that are evaluated.",
        Error, run!("check m.toml", "m.toml": br#"
            theory = "theory.ltn"
            [train]
            steps = 10
            early_stop = { metric = "acuracy", patience = 3 }
            "#);
    MetricDoesNotFit = "metric-does-not-fit":
        "A metric does not apply to that predicate.",
        Error, action("Measuring `accuracy`, without a column `truth`, for a predicate that does not pick one of several classes.");
    MetricUndefined = "metric-undefined":
        "A metric has no value on these rows.",
        Error, action("Measuring `roc_auc` on rows that are all true.");
}

"Training" {
    NoTrainingLength = "no-training-length":
        "The manifest does not say how long to train.",
        Warning, run!("check m.toml", "m.toml": br#"
            theory = "theory.ltn"
            [sorts]
            Point = { features = "points.csv" }
            [predicates]
            good = { network = { mlp = [4] }, output = "sigmoid" }
            [train]
            learning_rate = 0.01
            "#);
    NothingToTrain = "nothing-to-train":
        "A manifest asks for a training, but nothing in it can be learnt.",
        Error, run!("check m.toml", "good.csv": b"good\n0.5\n0.25\n0\n", "m.toml": br#"
            theory = "theory.ltn"
            [sorts]
            Point = { features = "points.csv" }
            [predicates]
            good = { truth = "good.csv" }
            [train]
            steps = 10
            "#);
    TrainingHasBegun = "training-has-begun":
        "Something is changed that can be changed only before the first step.",
        Error, action("In a program: a predicate gets another network after the first step.");
    TrainingDiverged = "training-diverged":
        "The loss, a truth, a gradient or a network's output is not finite.",
        Error, action("Training with `learning_rate = 1e30`.");
    ClosedFormOutOfRange = "closed-form-out-of-range":
        "A closed form gives a truth outside 0 to 1, a log truth above 0, or no finite number.",
        Error, run!("eval m.toml", "m.toml": br#"
            theory = "theory.ltn"
            [sorts]
            Point = { features = "points.csv" }
            [predicates]
            good = { args = ["x"], closed_form = { truth = "sum(x) / 2" } }
            "#);
    Interrupted = "interrupted":
        "An evaluation was asked to stop before its end.",
        Error, action("Setting the flag of `Engine::set_stop`.");
    SlowStep = "slow-step":
        "A step of a training goes through so many groundings that it takes a minute or more.",
        Warning, action("Training `forall x, y, z, w: Thing. near(x, y) and near(z, w) -> near(x, w)` with 1,000 things.");
    SlowWork = "slow-work":
        "What was asked for takes a minute or more.",
        Warning, action("`logltn query` of `forall x, y, z, w: Thing. near(x, y) or near(z, w)` with 1,000 things.");
    VanishingGradient = "vanishing-gradient":
        "The gradient of an axiom stays zero, so it teaches nothing.",
        Warning, action("Training `sure(x) or good(x)` in the semantics `lukasiewicz`, where `sure` is 1 everywhere.");
    NothingLearnt = "nothing-learnt":
        "The gradient was zero in every step of a training: no weight has moved.",
        Error, action("Training `not good(x)` in the semantics `godel`, whose negation is flat.");
    DominatingGradient = "dominating-gradient":
        "The gradient of one axiom is far larger than that of all others together.",
        Warning, action("Training with an axiom of weight 1000 beside one of weight 1.");
    RuleNotKept = "rule-not-kept":
        "After training, a rule's conclusion is false in most of the few groundings whose premise is true.",
        Warning, action("Training `forall d: Digit. even(d) -> good(d)` where one digit of ten is even, beside a `not good(d)` of weight 100.");
    PremiseNeverTrue = "premise-never-true":
        "After training, a rule's premise is true nowhere, so the rule holds trivially.",
        Warning, action("Training `forall d: Digit. even(d) -> good(d)` where no digit is even.");
    NothingToChoose = "nothing-to-choose":
        "An `exists` has nothing to choose from, so it is false whatever is learnt.",
        Warning, action("In Python: `kb.loss(…, tables={\"sums\": {…, \"n\": [19]}})` for the sum of two digits.");
    SquashedTwice = "squashed-twice":
        "Logits are expected, but the values seem to have been through a sigmoid or a softmax already.",
        Warning, action("In Python: `predicates={\"good\": nn.Sequential(nn.Linear(2, 1), nn.Sigmoid())}`.");
    HiddenParameters = "hidden-parameters":
        "A callable has learnable parameters that the knowledge base does not know of.",
        Warning, action("In Python: `predicates={\"good\": lambda x: nets[0](x)}`, where `nets` is a list.");
    ClassesCollapsed = "classes-collapsed":
        "After training, the labels hold, but nearly all unlabelled individuals are of one class.",
        Warning, action("Training `forall (x, y) in links. exists k: Class. class(x, k) and class(y, k)` beside a few labels.");
    NotTrained = "not-trained":
        "A value is requested that is known only after training.",
        Error, run!("eval m.toml");
    NothingToHoldOut = "nothing-to-hold-out":
        "`advise` needs an axiom that gives labels, to hold some of them out.",
        Error, run!("advise m.toml");
    TooFewRuns = "too-few-runs":
        "There is nothing to compare a run with.",
        Error, run!("
            train m.toml --out run
            compare run
            ");
    FeaturesNotUsed = "features-not-used":
        "Features are given for a sort that the predicate or function does not use.",
        Error, run!("predict m.toml good --features Side=points.csv", "theory.ltn": b"
            sort Point
            sort Side
            predicate good(Point)
            axiom all: forall x: Point. good(x)
            ");
    LawOfOthers = "law-of-others":
        "New individuals are asked about, but a law uses a table or a percentile of the manifest's own individuals.",
        Error, run!("predict m.toml good --features Point=points.csv", "theory.ltn": b"
            sort Point
            table near(a: Point, b: Point)
            predicate good(Point)
            axiom alike: forall (a, b) in near. good(a) -> good(b)
            ", "near.csv": b"a,b\n0,1\n", "m.toml": br#"
            theory = "theory.ltn"
            [sorts.Point]
            features = "points.csv"
            [tables]
            near = { rows = "near.csv" }
            [predicates]
            good = { network = { mlp = [4] }, output = "sigmoid" }
            [axioms.alike]
            hard = true
            "#);
    TooManyTuples = "too-many-tuples":
        "A predicate or function is asked about more than ten million tuples at once.",
        Error, run!("
            train m.toml --out run
            predict m.toml after --run run
            ", "theory.ltn": b"
            sort Number = 0..9999
            predicate after(Number, Number)
            axiom all: forall x: Number. after(x, x)
            ", "m.toml": br#"
            theory = "theory.ltn"
            [predicates]
            after = { learnable = true }
            [train]
            steps = 1
            "#);
    NothingToSample = "nothing-to-sample":
        "An axiom cannot be sampled: it does not begin with `forall`, or is a family.",
        Error, run!("check m.toml", "theory.ltn": b"
            sort Point
            predicate good(Point)
            axiom some: exists x: Point. good(x)
            ", "m.toml": br#"
            theory = "theory.ltn"
            [sorts]
            Point = { features = "points.csv" }
            [predicates]
            good = { network = { mlp = [4] }, output = "sigmoid" }
            [axioms]
            some = { sample = 2 }
            [train]
            steps = 1
            "#);
    NothingToMine = "nothing-to-mine":
        "No axiom says what rows of a table make a predicate true, so rules have nothing to conclude.",
        Error, run!("mine m.toml");
    CannotPredict = "cannot-predict":
        "A predicate cannot be evaluated on other rows than those of the axioms.",
        Error, action("Measuring a predicate whose numbers come from the caller's own program.");
    WeightsDoNotFit = "weights-do-not-fit":
        "Stored weights belong to other networks.",
        Error, run!("
            train m.toml --out run
            eval larger.toml --run run
            ", "larger.toml": br#"
            theory = "theory.ltn"
            [sorts]
            Point = { features = "points.csv" }
            [predicates]
            good = { network = { mlp = [8] }, output = "sigmoid" }
            "#);
    NotLearnt = "not-learnt":
        "Nothing learnt has that name, so it can be neither frozen nor taken from another run.",
        Error, run!("check m.toml", "m.toml": br#"
            theory = "theory.ltn"
            [sorts]
            Point = { features = "points.csv" }
            [predicates]
            good = { network = { mlp = [4] }, output = "sigmoid" }
            [train]
            steps = 1
            freeze = ["god"]
            "#);
    RunExists = "run-exists":
        "The folder for a new run holds one already.",
        Error, action("`logltn train m.toml --out run` is given a second time, without `--resume`.");
    FolderTaken = "folder-taken":
        "The folder for a new run holds files that are not a run's.",
        Error, action("`logltn train m.toml --out .` is given in the folder of the manifest.");
    OwnFile = "own-file":
        "A command would write over a file that the manifest reads.",
        Error, run!("eval m.toml --gradients .", "m.toml": br#"
            theory = "theory.ltn"
            [sorts]
            Point = { features = "points.csv" }
            [predicates]
            good = { truth = "good.csv" }
            "#, "good.csv": b"good\n1\n0.5\n1\n");
    LinkInRun = "link-in-run":
        "The folder of a run contains a link, a pipe or a device; nothing is read or written through it.",
        Error, action("The `metrics.csv` of a run is replaced by a link to another file, and the run is resumed.");
    CannotListen = "cannot-listen":
        "The dashboard cannot listen at the address: it is in use, or not this machine's.",
        Error, action("`logltn dashboard runs --port 6060` is given while another one runs there.");
    RunNotFound = "run-not-found":
        "A folder holds no run.",
        Error, run!("eval m.toml --run .");
    RunInUse = "run-in-use":
        "Another process is writing the run.",
        Error, action("`logltn train m.toml --out run --resume` is given while the run is still training.");
    RunDiffers = "run-differs":
        "The run was made with another theory, manifest, data or settings.",
        Error, run!("
            reproduce clustering --runs 1 --configs logltn --steps 2 --out table --data .
            reproduce clustering --runs 1 --configs logltn --steps 3 --out table --data .
            ");
    RunNotDescribed = "run-not-described":
        "A run has no record of what it was trained with, so whether its weights fit cannot be checked.",
        Warning, action("`logltn eval m.toml --run old` is given a run that an older version made.");
    RunDamaged = "run-damaged":
        "A file of a run was changed after it was written.",
        Error, action("The `run.json` of a run has lost its end.");
}

"Experiments" {
    UnknownConfiguration = "unknown-configuration":
        "An experiment has no configuration of that name.",
        Error, run!("reproduce clustering --configs logltn-sun");
    NotARule = "not-a-rule":
        "An axiom of a file of rules does not conclude facts from facts.",
        Error, run!("reproduce knowledge-graph --graph umls --data . --rules rules.ltn",
            "rules.ltn": b"axiom likes: forall x, y: Entity where not train(x, r0, y). linked(x, r1, y)\n");
    UnknownExample = "unknown-example":
        "There is no example of that name.",
        Error, run!("example smoke");
    FlagDoesNotApply = "flag-does-not-apply":
        "A flag is given that means nothing here.",
        Error, run!("reproduce pascal-part --noise 1 --data .",
            "pascal-part/trainval/box_features.hdf5": b"real features, which need no noise",
            "pascal-part/test/box_features.hdf5": b"real features, which need no noise");
}

"The machine" {
    NoThreads = "no-threads":
        "The system refuses to start threads.",
        Error, unmakeable("a machine that refuses threads to a test would refuse them to the tests themselves");
    Internal = "internal":
        "Something went wrong that should be impossible: please report it.",
        Error, unmakeable("a way to make it would be a bug to be removed");
}
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
