"""Estimators for scikit-learn: rules and labels, without a training loop and without PyTorch.

>>> from logltn.sklearn import Classifier
>>> rules = '''
...     sort Row
...     sort Class
...     predicate label(Row, Class)
...     axiom old: forall x: Row where x.age > 60. label(x, retired)
... '''
>>> model = Classifier(rules, target="label")  # then model.fit(X, y) and model.predict(X)

The theory declares the target, a predicate of a row and its class (or of a row alone, for true and false), for a
:class:`Regressor` a function of a row, and says what else is known. The labels of ``fit`` are an axiom that is added to it.
"""

from ._estimators import Classifier, Regressor

__all__ = ["Classifier", "Regressor"]
