"""Arrays of the host on a device, without waiting for what the device is doing."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


def upload(given: Any, device: torch.device, dtype: torch.dtype | None = None) -> Tensor:
    """A copy of an array or of lists of numbers."""
    here = torch.tensor(given, dtype=dtype, device="cpu")
    return here.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else here.to(device)
