"""hstujit for PyTorch: every operator as a typed function.

Those of `autograd.py` record gradients. The others are those of `hstujit.torch.ops`, which refuse tensors
that need one; below all of them lie the operators torch.ops.hstujit.*, which torch.compile and torch.export see.
"""

from __future__ import annotations

from . import autograd, ops
from .autograd import *  # noqa: F403
from .ops import *  # noqa: F403

__all__ = ["autograd", "ops"]
__all__ += autograd.__all__
__all__ += ops.__all__
