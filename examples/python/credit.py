"""Credit with rules: more income never harms, and two people who differ only in sex are treated alike.

    python examples/python/credit.py

A pipeline of scikit-learn with a grid search over the weight of the labels beside the rules. The data are made here: in the past, men
were given credit more easily, and a network that learns from labels alone learns that, too.
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from logltn.sklearn import Classifier

RULES = """
    sort Row
    sort Class = {refused, given}
    predicate credit(Row, Class)

    # Columns are in standard deviations: the pipeline scales them before the rules see them.
    axiom monotone:
        forall x, y: Row where x.income < y.income and x.debt >= y.debt and x.years <= y.years and x.sex = y.sex.
        credit(x, given) -> credit(y, given)
    axiom fair:
        forall x, y: Row where x.sex < y.sex and abs(x.income - y.income) < 0.5 and abs(x.debt - y.debt) < 0.5.
        credit(x, given) <-> credit(y, given)
"""


def people(count: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Rows, and which of them were given credit."""
    random = np.random.default_rng(seed)
    rows = pd.DataFrame(
        {
            "income": random.lognormal(3.4, 0.4, count),
            "debt": random.gamma(2.0, 6.0, count),
            "years": random.integers(0, 30, count).astype(float),
            "sex": random.integers(0, 2, count).astype(float),
        }
    )
    score = 0.09 * rows.income - 0.12 * rows.debt + 0.05 * rows.years + 1.2 * rows.sex - 3.0
    chance = 1 / (1 + np.exp(-score))
    return rows, np.where(random.random(count) < chance, "given", "refused")


def chances(model: object, rows: pd.DataFrame) -> np.ndarray:
    """The chance of credit of each row."""
    return model.predict_proba(rows)[:, list(model.classes_).index("given")]  # type: ignore[attr-defined]


def judged(name: str, model: object, rows: pd.DataFrame, right: np.ndarray) -> dict[str, float]:
    """The accuracy, how often more income harms, and how much a person's sex counts."""
    own = chances(model, rows)
    richer = chances(model, rows.assign(income=rows.income * 1.2))
    found = {
        "accuracy": float(np.mean(model.predict(rows) == right)),  # type: ignore[attr-defined]
        "harmed": float(np.mean(richer < own - 1e-6)),
        "gap": float(np.mean(np.abs(chances(model, rows.assign(sex=0.0)) - chances(model, rows.assign(sex=1.0))))),
    }
    print(f"{name:12} accuracy {found['accuracy']:.3f}   more income harms {found['harmed']:.1%}   difference by sex {found['gap']:.3f}")
    return found


def pipeline(rules: str | None, steps: int | None) -> object:
    """Scaled columns, with their names, and a network with rules."""
    scaler = StandardScaler().set_output(transform="pandas")
    return make_pipeline(scaler, Classifier(rules, target="credit", steps=steps, scale=False))


def main(arguments: list[str] | None = None) -> dict[str, dict[str, float]]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=600)
    parser.add_argument("--steps", type=int, default=None)
    options = parser.parse_args(arguments)
    rows, right = people(options.rows, seed=1)
    learn, test, learn_right, test_right = train_test_split(rows, right, test_size=0.4, random_state=0, stratify=right)
    plain = pipeline(None, options.steps).fit(learn, learn_right)  # type: ignore[attr-defined]
    search = GridSearchCV(pipeline(RULES, options.steps), {"classifier__weight": [0.3, 1.0]}, cv=2)
    search.fit(learn, learn_right)
    print(f"weight of the labels: {search.best_params_['classifier__weight']}")
    return {
        "labels": judged("labels", plain, test, test_right),
        "with rules": judged("with rules", search.best_estimator_, test, test_right),
    }


if __name__ == "__main__":
    main()
