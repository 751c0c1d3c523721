"""hstujit for PyTorch: torch.ops.hstujit.*, their fake kernels, and typed functions for them."""

from __future__ import annotations

from . import _load, ops

__all__ = ["ops"]

del _load
