"""Logic Tensor Networks in log space: rules and neural networks, trained together.

>>> import logltn, numpy as np
>>> kb = logltn.KnowledgeBase("sort Person  predicate happy(Person)  axiom all: forall x: Person. happy(x)", sorts={"Person": 2})
>>> r = kb.evaluate({"happy": np.array([0.0, 0.0])})
>>> round(float(r.loss), 4)
0.6931

``import logltn.torch`` has the same for PyTorch. The guide is docs/python.md.
"""

from ._errors import Diagnostic, InputError, InputWarning
from ._given import AtRows, Percentile, percentile
from ._jupyter import load_ipython_extension
from ._asking import Explanation
from ._knowledge_base import Evaluation, KnowledgeBase
from ._native import __version__
from ._plan import ExportedPlan
from ._theory import Theory

__all__ = [
    "AtRows",
    "Diagnostic",
    "Evaluation",
    "Explanation",
    "ExportedPlan",
    "InputError",
    "InputWarning",
    "KnowledgeBase",
    "Percentile",
    "Theory",
    "__version__",
    "load_ipython_extension",
    "percentile",
]

for _public in (AtRows, Diagnostic, Evaluation, Explanation, ExportedPlan, InputError, InputWarning, KnowledgeBase, Percentile, Theory):
    _public.__module__ = "logltn"  # where users find them
