"""hstujit for PyTorch: every operator as a typed function.

layer_norm and attention record gradients (`autograd.py`). The others are those of `hstujit.torch.ops`, which refuse tensors
that need one; below all of them lie the operators torch.ops.hstujit.*, which torch.compile and torch.export see.
"""

from __future__ import annotations

from . import autograd, ops
from .autograd import attention, layer_norm
from .ops import *  # noqa: F403

__all__ = ["attention", "autograd", "layer_norm", "ops"]
__all__ += ops.__all__
