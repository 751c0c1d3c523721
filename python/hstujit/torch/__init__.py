"""hstujit for PyTorch: every operator as a typed function.

Those of `autograd.py` record gradients. The others are those of `hstujit.torch.ops`, which refuse tensors
that need one; below all of them lie the operators torch.ops.hstujit.*, which torch.compile and torch.export see.
"""

from __future__ import annotations

from . import autograd, ops
from .autograd import addmm, attention, layer_norm, rms_norm, swish_layer_norm
from .ops import *  # noqa: F403

__all__ = ["addmm", "attention", "autograd", "layer_norm", "ops", "rms_norm", "swish_layer_norm"]
__all__ += ops.__all__
