"""PyTorch networks, logltn's logic."""

from ._knowledge_base import KnowledgeBase
from ._networks import log_truth, sigmoid, softmax, truth
from ._run import load_run

__all__ = ["KnowledgeBase", "load_run", "log_truth", "sigmoid", "softmax", "truth"]

KnowledgeBase.__module__ = "logltn.torch"  # where users find it
