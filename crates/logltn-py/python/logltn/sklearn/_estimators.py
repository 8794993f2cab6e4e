"""The estimators."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin  # type: ignore[import-untyped]
from sklearn.utils import check_random_state  # type: ignore[import-untyped]
from sklearn.utils.multiclass import check_classification_targets, type_of_target  # type: ignore[import-untyped]
from sklearn.utils.validation import check_is_fitted, validate_data  # type: ignore[import-untyped]

from .. import InputWarning
from .._theory import Theory
from . import _training as training

# The parts that the estimator adds to a theory.
_TABLE, _AXIOM, _EQUAL = "labelled_", "labels_", "near_"
# A table of more rows is visited in batches, a sort of more individuals is sampled.
_BATCH, _SAMPLE = 32, 256


class _Estimator(BaseEstimator):
    """The common part of both estimators."""

    # Set by `fit`.
    network_: list[training.Layer]

    def __init__(
        self,
        theory: Any = None,
        target: str = "label",
        *,
        sort: str | None = None,
        unlabelled: Any = None,
        weight: float = 1.0,
        semantics: Any = "logltn",
        params: Mapping[str, float] | None = None,
        hidden: tuple[int, ...] = (64,),
        activation: str = "relu",
        steps: int | None = None,
        learning_rate: float = 0.005,
        weight_decay: float = 0.0,
        scale: bool = True,
        random_state: Any = 0,
    ) -> None:
        self.theory = theory
        self.target = target
        self.sort = sort
        self.unlabelled = unlabelled
        self.weight = weight
        self.semantics = semantics
        self.params = params
        self.hidden = hidden
        self.activation = activation
        self.steps = steps
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.scale = scale
        self.random_state = random_state

    def _rows(self, theory: Theory, arguments: list[str]) -> str:
        """The sort of the rows of X."""
        sort = self.sort or (arguments[0] if arguments else None)
        if sort is None or sort not in theory.sorts:
            raise ValueError(f"sort={sort!r} is not a sort of the theory, which has {', '.join(theory.sorts)}")
        if arguments[:1] != [sort]:
            raise ValueError(f"the first argument of `{self.target}` must be of sort `{sort}`")
        return sort

    def _theory(self, default: str) -> tuple[str, Theory]:
        given = self.theory
        text = default if given is None else str(given)
        with warnings.catch_warnings():
            # The target is used by the labels.
            warnings.filterwarnings("ignore", message="(?s).*is never used", category=InputWarning)
            return text, Theory(text)

    def _scaling(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if not self.scale:
            return np.zeros(X.shape[1]), np.ones(X.shape[1])
        mean = X.mean(0)
        deviation = X.std(0)
        return mean, np.where(deviation > 1e-12 * np.maximum(1.0, np.abs(mean)), deviation, 1.0)

    def _scaled(self, X: np.ndarray) -> np.ndarray:
        known: Any = self
        return (np.asarray(X, dtype=np.float64) - known.mean_) / known.deviation_

    def _says(self, X: Any) -> np.ndarray:
        """The network's output for rows."""
        check_is_fitted(self)
        X = validate_data(self, _numbers(X), reset=False, dtype=np.float64)
        return training.run(self.network_, self.activation, self._scaled(X))

    def _train(
        self,
        X: np.ndarray,
        text: str,
        theory: Theory,
        sort: str,
        target: tuple[str, str],
        labelled: dict[str, Any],
        tables: Mapping[str, Any] | None,
        sorts: Mapping[str, Any],
    ) -> None:
        """Writes a project, trains it, and keeps the network of the target."""
        names = getattr(self, "feature_names_in_", None)
        names = [f"x{i}" for i in range(X.shape[1])] if names is None else list(names)
        files = {"t.ltn": text.encode()}
        columns = {f"{name}": column for name, column in zip(names, X.T.tolist())}
        in_guards = any("." in name for name, *_ in theory._native.functions)
        manifest = ["theory = 't.ltn'", f"semantics = {training.toml(self.semantics)}"]
        if in_guards:
            # Guards compare the numbers as they are, networks read them scaled.
            files["rows.csv"] = training.csv(columns)
            features: Any = {"file": "rows.csv", "columns": names, "prepare": {name: "number" for name in names}}
            if not self.scale:
                del features["prepare"]
        else:
            files["rows.npy"] = _npy(self._scaled(X).astype(np.float32))
            features = "rows.npy"
        manifest += [f"[sorts.{training.toml(sort)}]", f"features = {training.toml(features)}"]
        if len(X) > _SAMPLE and len(theory.axioms) > 0:
            manifest += [f"sample = {_SAMPLE}"]
        for name, individuals in sorts.items():
            manifest += [f"[sorts.{training.toml(name)}]", f"individuals = {training.toml([str(i) for i in individuals])}"]
        manifest += ["[tables]"]
        if labelled["x"]:
            files["labelled.csv"] = training.csv(labelled)
            batch = {"rows": "labelled.csv"} | ({"batch": _BATCH} if len(labelled["x"]) > _BATCH else {})
            manifest += [f"{_TABLE} = {training.toml(batch)}"]
        for i, (name, given) in enumerate((tables or {}).items()):
            declared = [column for column, _ in dict(theory._native.tables).get(name, [])]
            files[f"table{i}.csv"] = training.csv(_table(name, given, declared))
            manifest += [f"{training.toml(name)} = {{ rows = 'table{i}.csv' }}"]
        for name, value in (self.params or {}).items():
            manifest += ["[params]" if "[params]" not in manifest else "", f"{training.toml(name)} = {training.toml(value)}"]
        manifest += self._grounding(theory, sort, target)
        count = len(labelled["x"]) or len(X)
        steps = self.steps or int(np.clip(60 * -(-count // _BATCH), 400, 20_000))
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        manifest += [
            "[train]", f"steps = {steps}", f"learning_rate = {float(self.learning_rate)!r}", f"seed = {seed}",
            "optimizer = 'adamw'", f"weight_decay = {float(self.weight_decay)!r}",
        ]
        files["m.toml"] = "\n".join(manifest).encode()
        weights = training.train(files)
        self.network_ = training.layers_of(weights, target[1])
        self.weights_ = weights

    def _network(self) -> str:
        hidden = [int(width) for width in self.hidden]
        return f"network = {{ mlp = {hidden}, activation = {training.toml(self.activation)} }}"

    def _grounding(self, theory: Theory, sort: str, target: tuple[str, str]) -> list[str]:
        """The groundings of the symbols of the theory: networks, and learnable numbers where nothing has features."""
        lines: list[str] = []
        kinds = {name: kind for name, kind, *_ in theory._native.sorts}
        for name, arguments in theory._native.predicates:
            lines.append(f"[predicates.{training.toml(name)}]")
            if ("predicates", name) == target:
                lines += [self._network(), f"output = '{'softmax' if len(arguments) == 2 else 'sigmoid'}'"]
            elif arguments == ["Real", "Real"]:
                lines += ["args = ['u', 'v']", f"closed_form = {{ log_truth = '{self._nearness()}' }}"]
            elif sort in arguments and all(a == sort for a in arguments):
                lines += [self._network(), "output = 'sigmoid'"]
            elif arguments and sort in arguments and all(a == sort for a in arguments[:-1]) and arguments[-1] in kinds:
                lines += [self._network(), "output = 'sigmoid'"]
            else:
                lines.append("learnable = true")
        for name, arguments, _ in theory._native.functions:
            if "." not in name:
                lines += [f"[functions.{training.toml(name)}]", self._network()]
                if ("functions", name) == target:
                    lines.append(self._units())
        return lines

    def _nearness(self) -> str:
        return "-(u - v) * (u - v)"

    def _units(self) -> str:
        return "output = 'linear'"


class Classifier(ClassifierMixin, _Estimator):
    """A classification network trained on labels and on the rules of a theory together.

    Parameters
    ----------
    theory
        Text of a theory (or a :class:`logltn.Theory`) that declares the predicate ``target`` and says what else is known. Without it
        there are only the labels.
    target
        The learnt predicate: of a row and a class, or of a row alone (two classes; the second means true).
    sort
        The sort whose individuals are the rows of X; the first argument of ``target`` unless said.
    unlabelled
        The value of y for rows whose class is unknown. They are left out of the labels; rules still apply to them. ``None`` and
        missing values of pandas mean the same. If no row has a label, the theory must list the classes, and only the rules train.
    weight
        The weight of the labels beside the axioms of the theory.
    semantics, params
        As in a manifest.
    hidden, activation, steps, learning_rate, weight_decay
        The network and its training; without ``steps`` they depend on the number of labels.
    scale
        Whether columns are scaled to mean 0 and standard deviation 1 for the network. Guards (``x.age > 40``) see them as they are.
    random_state
        The seed of the initial weights.
    """

    def fit(self, X: Any, y: Any, *, tables: Mapping[str, Any] | None = None, sorts: Mapping[str, Any] | None = None) -> Classifier:
        """Learns from rows and their classes. ``tables`` are the theory's tables by name (columns, a 2-D array or a data frame; rows
        of X by their numbers), ``sorts`` the individuals of its other sorts."""
        X, y, known = _checked(self, X, y, self.unlabelled)
        if known.any():
            check_classification_targets(y[known])
            if type_of_target(y[known]).startswith("continuous"):
                raise ValueError("Unknown label type: continuous")
        self.classes_ = np.unique(y[known])
        self.mean_, self.deviation_ = self._scaling(X)
        text, theory = self._theory(f"sort Row\nsort Class\npredicate {self.target}(Row, Class)\n")
        arguments = dict(theory._native.predicates).get(self.target)
        if arguments is None or len(arguments) not in (1, 2):
            raise ValueError(f"the theory has no predicate `{self.target}` of a row and a class, or of a row alone")
        sort = self._rows(theory, arguments)
        self.binary_ = len(arguments) == 1
        rows = np.flatnonzero(known)
        others = dict(sorts or {})
        given = [_name(c) for c in self.classes_.tolist()]
        x = {"x": rows.tolist()}
        if not known.any() and (self.binary_ or not theory.axioms or not _individuals(theory, arguments[1])):
            raise ValueError("no row of y is labelled, and there is no theory with axioms that lists the classes")
        if self.binary_:
            if len(self.classes_) > 2:
                raise ValueError(f"`{self.target}` is true or false, but y has {len(self.classes_)} classes")
            true = y[known] == self.classes_[-1] if len(self.classes_) == 2 else np.ones(len(rows), bool)
            labelled = {**x, "t": true.astype(int).tolist()}
            added = f"table {_TABLE}(x: {sort}, t: Int)\n"
            for name, t, literal in ((f"{_AXIOM}true", 1, ""), (f"{_AXIOM}false", 0, "not ")):
                share = float(np.mean(true == t))  # together the mean over all labels
                if share > 0:
                    added += f"axiom {name} (weight {_number(self.weight * share)}): forall (x, t) in {_TABLE} where t = {t}. {literal}{self.target}(x)\n"
        else:
            class_sort = arguments[1]
            listed = _individuals(theory, class_sort)
            if listed is None:
                others[class_sort] = given
            else:
                missing = [c for c in given if c not in listed]
                if missing:
                    raise ValueError(f"y has the class {missing[0]!r}, which is not in sort `{class_sort}`: {', '.join(listed)}")
                self.classes_ = _classes(listed, dict(zip(given, self.classes_.tolist())))
            labelled = {**x, "y": [_name(c) for c in y[known].tolist()]}
            # A variable may not have the name of a class.
            u, v = (_free(name, [*given, *(listed or [])]) for name in ("x", "y"))
            added = ""
            if len(rows):
                added = f"table {_TABLE}(x: {sort}, y: {class_sort})\naxiom {_AXIOM} (weight {_number(self.weight)}): forall ({u}, {v}) in {_TABLE}. {self.target}({u}, {v})\n"
        if len(self.classes_) == 1:
            self.network_ = []  # there is nothing to tell apart
            return self
        self._train(X, f"{text}\n{added}", theory, sort, ("predicates", self.target), labelled, tables, others)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class, in the order of ``classes_``."""
        check_is_fitted(self)
        if not self.network_:
            X = validate_data(self, _numbers(X), reset=False, dtype=np.float64)
            return np.ones((len(X), 1))
        logits = self._says(X)
        if self.binary_:
            logits = np.concatenate([np.zeros_like(logits), logits], axis=1)
        logits = logits - logits.max(axis=1, keepdims=True)
        shares = np.exp(logits)
        return shares / shares.sum(axis=1, keepdims=True)

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of each row."""
        check_is_fitted(self)
        return self.classes_[np.argmax(self.predict_proba(X), axis=1)]


class Regressor(RegressorMixin, _Estimator):
    """A regression network trained on known values and on the rules of a theory together.

    ``target`` is the function that is learnt, ``function f(Row): Real``. Predicates of two numbers in the theory say how near these
    are: 1 if equal, and less the further apart they are, in standard deviations of y. The other parameters are those of
    :class:`Classifier`; rows without a value have ``None`` or NaN in y.
    """

    def __init__(
        self,
        theory: Any = None,
        target: str = "f",
        *,
        sort: str | None = None,
        unlabelled: Any = None,
        weight: float = 1.0,
        semantics: Any = "logltn",
        params: Mapping[str, float] | None = None,
        hidden: tuple[int, ...] = (64, 64),
        activation: str = "relu",
        steps: int | None = None,
        learning_rate: float = 0.005,
        weight_decay: float = 0.0,
        scale: bool = True,
        random_state: Any = 0,
    ) -> None:
        super().__init__(
            theory, target, sort=sort, unlabelled=unlabelled, weight=weight, semantics=semantics, params=params, hidden=hidden,
            activation=activation, steps=steps, learning_rate=learning_rate, weight_decay=weight_decay, scale=scale,
            random_state=random_state,
        )  # fmt: skip

    def fit(self, X: Any, y: Any, *, tables: Mapping[str, Any] | None = None, sorts: Mapping[str, Any] | None = None) -> Regressor:
        """Learns from rows and their values; see :meth:`Classifier.fit`."""
        X, y, known = _checked(self, X, y, self.unlabelled, numeric=True)
        values = y[known].astype(np.float64)
        self.mean_, self.deviation_ = self._scaling(X)
        self.shift_, self.unit_ = float(values.mean()), float(values.std()) or 1.0
        text, theory = self._theory(f"sort Row\nfunction {self.target}(Row): Real\n")
        functions = {name: (arguments, result) for name, arguments, result in theory._native.functions}
        arguments, result = functions.get(self.target, ([], ""))
        if len(arguments) != 1 or result != "Real":
            raise ValueError(f"the theory has no function `{self.target}` of a row whose value is a number (`Real`)")
        sort = self._rows(theory, arguments)
        labelled = {"x": np.flatnonzero(known).tolist(), "y": values.tolist()}
        added = f"predicate {_EQUAL}(Real, Real)\ntable {_TABLE}(x: {sort}, y: Real)\naxiom {_AXIOM} (weight {_number(self.weight)}): forall (x, y) in {_TABLE}. {_EQUAL}({self.target}(x), y)\n"
        text = f"{text}\n{added}"
        self._train(X, text, Theory(text), sort, ("functions", self.target), labelled, tables, dict(sorts or {}))
        return self

    def _nearness(self) -> str:
        return f"-(u - v) / {self.unit_!r} * (u - v) / {self.unit_!r}"

    def _units(self) -> str:
        return f"output = {{ scale = {self.unit_!r}, shift = {self.shift_!r} }}"

    def predict(self, X: Any) -> np.ndarray:
        """The value of each row."""
        return self._says(X)[:, 0] * self.unit_ + self.shift_


def _checked(estimator: _Estimator, X: Any, y: Any, unlabelled: Any, numeric: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """X, y and which rows are labelled."""
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None")
    X = _numbers(X)
    whole = np.asarray(y, dtype=object) if isinstance(y, (list, tuple)) else np.asarray(y)
    if hasattr(y, "to_numpy") and whole.ndim == 1 and not _missing(y, whole).any():
        y = whole = np.array(whole.tolist())  # scikit-learn makes floats of what pandas keeps in its own way
    known = np.ones(len(whole), bool) if whole.ndim else np.ones(0, bool)
    if whole.ndim == 1:
        known = ~_missing(y, whole)
        if unlabelled is not None:
            known &= np.array([not k or v != unlabelled for k, v in zip(known, whole.tolist())], bool)
    numbers = whole.dtype.kind == "f"
    if known.all() or (numbers and not known.any()):
        checked: Any = validate_data
        X, y = checked(estimator, X, y, dtype=np.float64, y_numeric=numeric)
        return X, y, known
    if numeric and not known.any():
        raise ValueError("no row of y is labelled")
    X = validate_data(estimator, X, dtype=np.float64)
    if len(X) != len(whole):
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{len(X)}, {len(whole)}]")
    labels = np.array(whole[known].tolist())
    filled = np.empty(len(whole), dtype=labels.dtype)
    filled[known] = labels
    return X, filled, known


def _missing(y: Any, whole: np.ndarray) -> np.ndarray:
    """Which values of y are missing: ``None``, NaN, and what a data frame marks as missing."""
    if hasattr(y, "isna"):
        return np.asarray(y.isna(), dtype=bool)
    if whole.dtype.kind == "f":
        return np.isnan(whole)
    if whole.dtype != object:
        return np.zeros(len(whole), bool)
    return np.array([v is None or (isinstance(v, (float, np.floating)) and bool(v != v)) for v in whole.tolist()], bool)


def _numbers(X: Any) -> Any:
    """X, unless it is a data frame with a text column, which is reported by name."""
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        for name in X.columns:
            column = np.asarray(X[name])
            if column.dtype.kind not in "OUS" or column.ndim != 1:
                continue
            for value in column.tolist():
                try:
                    float(value)
                except ValueError:
                    raise ValueError(
                        f"could not convert string to float: column {name!r} of X holds {value!r}; make numbers of it first, for "
                        "example with OneHotEncoder in a pipeline"
                    ) from None
                except TypeError:
                    continue  # scikit-learn has words for it
    return X


def _name(label: Any) -> str:
    """The name of a class in the theory: its text without surrounding blanks; it must not be empty. Integers that
    pandas turned into floats because of missing values are integers."""
    text = str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)
    return text if text and text == text.strip() else repr(text)


def _classes(listed: list[str], seen: dict[str, Any]) -> np.ndarray:
    """The classes in the theory's order, as those of y are; `seen` are those by name."""
    kind: Any = type(next(iter(seen.values()), ""))
    try:
        others = {"True": True, "False": False} if kind is bool else {c: kind(c) for c in listed if c not in seen}
        return np.array([seen[c] if c in seen else others[c] for c in listed])
    except (KeyError, ValueError):
        raise ValueError(f"the theory lists the classes {', '.join(listed)}, which are not all {kind.__name__} as those of y: give y as texts") from None


def _free(name: str, taken: list[str]) -> str:
    """A name like this one that is not taken."""
    while name in taken:
        name += "_"
    return name


def _individuals(theory: Theory, sort: str) -> list[str] | None:
    """The classes listed in a theory; ``None`` if they come with the data."""
    kind, names = {name: (kind, names) for name, kind, names in theory._native.sorts}[sort]
    if kind == "range":
        return [str(i) for i in range(int(names[0]), int(names[1]) + 1)]
    return names if kind == "labels" else None


def _table(name: str, given: Any, declared: list[str]) -> dict[str, list[Any]]:
    if not declared:
        raise ValueError(f"the theory has no table `{name}`")
    if isinstance(given, Mapping):
        columns = {str(k): np.asarray(v).tolist() for k, v in given.items()}
    elif hasattr(given, "columns"):
        columns = {str(k): np.asarray(given[k]).tolist() for k in given.columns}
    else:
        array = np.asarray(given)
        array = array.reshape(-1, 1) if array.ndim == 1 else array
        if array.ndim != 2 or array.shape[1] != len(declared):
            raise ValueError(f"table `{name}` has {len(declared)} columns, but an array of shape {array.shape} is given")
        columns = {column: array[:, i].tolist() for i, column in enumerate(declared)}
    if set(columns) != set(declared):
        raise ValueError(f"table `{name}` has the columns {', '.join(declared)}, but {', '.join(columns)} are given")
    return columns


def _number(weight: float) -> str:
    return np.format_float_positional(float(weight), trim="-")


def _npy(array: np.ndarray) -> bytes:
    import io

    out = io.BytesIO()
    np.save(out, np.ascontiguousarray(array))
    return out.getvalue()
