"""logltn for PyTorch networks."""

try:
    import torch as _torch  # noqa: F401
except ModuleNotFoundError as error:
    if error.name != "torch":
        raise
    raise ModuleNotFoundError("logltn.torch needs PyTorch: `pip install torch`", name="torch") from None

from ._knowledge_base import KnowledgeBase
from ._networks import log_truth, sigmoid, softmax, truth
from ._run import load_run

__all__ = ["KnowledgeBase", "load_run", "log_truth", "sigmoid", "softmax", "truth"]

KnowledgeBase.__module__ = "logltn.torch"  # where users find it
