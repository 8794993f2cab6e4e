"""The estimators: what scikit-learn asks of every estimator, and what rules add to labels."""

import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn")
from sklearn.model_selection import GridSearchCV  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.utils.estimator_checks import check_estimator  # noqa: E402

import logltn  # noqa: E402
from logltn.sklearn import Classifier, Regressor  # noqa: E402


@pytest.mark.parametrize("estimator", [Classifier(steps=300), Regressor(steps=300)], ids=["Classifier", "Regressor"])
def test_every_check_of_scikit_learn_passes(estimator):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = check_estimator(estimator, on_fail=None)
    # Skipped by scikit-learn itself, where SciPy's array API is off.
    skipped = {check["check_name"] for check in found if check["status"] == "skipped"}
    assert skipped <= {"check_array_api_input"}
    assert [(c["check_name"], c["exception"]) for c in found if c["status"] not in {"passed", "skipped"}] == []
    assert len(found) > 40


def frame(rows):
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(rows, columns=["age", "noise"])


def test_rules_speak_of_rows_without_a_label():
    random = np.random.default_rng(0)
    X = frame(np.c_[random.uniform(20, 90, 200), random.normal(size=200)])
    # Labels below 50 only; what is above is said by a rule.
    y = np.where(X.age < 35, "young", "middle").astype(object)
    y[X.age > 50] = None
    rules = """
        sort Row
        sort Class = {young, middle, old}
        predicate label(Row, Class)
        axiom old: forall x: Row where x.age > 60. label(x, old)
    """
    model = Classifier(rules).fit(X, y)
    said = model.predict(X)
    assert list(model.classes_) == ["young", "middle", "old"]
    assert np.mean(said[X.age > 65] == "old") > 0.95
    assert np.mean(said[X.age < 30] == "young") > 0.95
    shares = model.predict_proba(X)
    assert np.allclose(shares.sum(axis=1), 1)
    with pytest.raises(logltn.InputError, match="weight"):
        Classifier(rules.replace("x.age", "x.weight")).fit(X, y)


def test_a_pipeline_in_a_grid_search():
    random = np.random.default_rng(1)
    X = random.normal(size=(60, 3)) * [1, 10, 100]
    y = X[:, 0] + X[:, 1] / 10 > 0
    search = GridSearchCV(make_pipeline(StandardScaler(), Classifier(steps=100)), {"classifier__weight": [0.5, 1.0]}, cv=2)
    search.fit(X, y)
    assert search.best_score_ > 0.8
    assert search.predict(X).dtype == bool


def test_numbers_are_in_their_own_units():
    random = np.random.default_rng(2)
    X = random.normal(size=(120, 2))
    y = 1e5 + 2e4 * X[:, 0]
    y[::10] = np.nan  # not known
    model = Regressor(steps=400).fit(X, y)
    known = ~np.isnan(y)
    assert model.score(X[known], y[known]) > 0.9


def test_what_pandas_calls_missing_is_not_labelled():
    """``None`` in a column of a data frame becomes NaN or NA; the rows are unlabelled all the same."""
    pandas = pytest.importorskip("pandas")
    random = np.random.default_rng(3)
    X = random.normal(size=(30, 2))
    label = [None if i % 3 == 0 else int(x > 0) for i, x in enumerate(X[:, 0])]
    words = [None if k is None else "no yes".split()[k] for k in label]
    for y, classes in [
        (label, [0, 1]),
        (pandas.Series(label), [0, 1]),
        (pandas.array(label, dtype="Int64"), [0, 1]),
        (np.array([np.nan if k is None else k for k in label]), [0, 1]),
        (words, ["no", "yes"]),
        (pandas.Series(words), ["no", "yes"]),
        (pandas.Series(words, dtype="category"), ["no", "yes"]),
    ]:
        model = Classifier(steps=20).fit(X, y)
        assert list(model.classes_) == classes
        assert set(model.predict(X)) <= set(classes)
    numbered = "sort Row\nsort Class = 0..2\npredicate label(Row, Class)\n"
    assert list(Classifier(numbered, steps=20).fit(X, pandas.Series(label)).classes_) == [0, 1, 2]
    with pytest.raises(ValueError, match="column 'd' of X holds 'u'; .*OneHotEncoder"):
        Classifier(steps=20).fit(pandas.DataFrame({"a": X[:, 0], "d": pandas.Categorical(["u"] * 30)}), words)


@pytest.mark.parametrize("classes", [(True, False), (2, 1), ("z", "a")], ids=repr)
def test_classes_keep_the_order_and_type_of_the_theory(classes):
    pandas = pytest.importorskip("pandas")
    X = np.linspace(-1, 1, 20)[:, None]
    y = np.where(X[:, 0] > 0, *classes)
    theory = f'sort Row\nsort Class = {{"{classes[0]}", "{classes[1]}"}}\npredicate label(Row, Class)\n'
    for given in (y, pandas.Series(y).astype("category"), pandas.Series(y).convert_dtypes()):
        model = Classifier(theory, steps=150).fit(X, given)
        assert model.classes_.tolist() == list(classes) and type(model.classes_.tolist()[0]) is type(classes[0])
        assert model.score(X, y) > 0.9
    if classes[0] != "z":
        with pytest.raises(ValueError, match="give y as texts"):
            Classifier(theory.replace("{", '{"other", '), steps=20).fit(X, y)


@pytest.mark.parametrize("classes", [("x", "y"), ("", "a"), (" a", "a"), ("NA", "?"), ('a "b" \\', "two\nlines")], ids=repr)
def test_classes_of_any_name(classes):
    X = np.linspace(-1, 1, 20)[:, None]
    y = np.where(X[:, 0] > 0, *classes)
    model = Classifier(steps=150).fit(X, y)
    assert model.score(X, y) > 0.9


def test_rules_alone():
    X = frame(np.c_[np.linspace(20, 90, 50), np.zeros(50)])
    rules = """
        sort Row
        sort Class = {young, old}
        predicate label(Row, Class)
        axiom old: forall x: Row where x.age > 55. label(x, old)
        axiom young: forall x: Row where x.age <= 55. label(x, young)
    """
    model = Classifier(rules, steps=200).fit(X, [None] * 50)
    assert model.score(X, np.where(X.age > 55, "old", "young")) > 0.9
    with pytest.raises(ValueError, match="no row of y is labelled"):
        Classifier(steps=20).fit(X, [None] * 50)
