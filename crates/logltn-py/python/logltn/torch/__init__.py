"""PyTorch networks, logltn's logic."""

from ._knowledge_base import KnowledgeBase
from ._networks import log_truth, sigmoid, softmax, truth

__all__ = ["KnowledgeBase", "log_truth", "sigmoid", "softmax", "truth"]

KnowledgeBase.__module__ = "logltn.torch"  # where users find it
