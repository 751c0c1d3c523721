"""Loads _torch_ops.so and registers the fake kernels."""

from __future__ import annotations

import ctypes

import torch

from .. import _contexts
from .._library import PACKAGE, library
from . import _fakes

_PATH = str(PACKAGE / "_torch_ops.so")
_OLDEST = (2, 10)


def load() -> None:
    """Once: torch.ops.hstujit is there after it."""
    found = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
    if found < _OLDEST:
        raise ImportError(f"torch {torch.__version__}: hstujit.torch needs {'.'.join(map(str, _OLDEST))} or newer")
    library()  # says where NVRTC is
    torch.ops.load_library(_PATH)  # type: ignore[no-untyped-call]
    for name, kernel in _fakes.KERNELS.items():
        torch.library.register_fake(f"hstujit::{name}", kernel)
    _contexts.use(ctypes.CDLL(_PATH))


load()
