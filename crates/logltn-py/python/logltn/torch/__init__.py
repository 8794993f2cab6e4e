"""PyTorch networks, logltn's logic."""

from ._knowledge_base import KnowledgeBase

__all__ = ["KnowledgeBase"]

KnowledgeBase.__module__ = "logltn.torch"  # where users find it
