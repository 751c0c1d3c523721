"""libhstujit for Python: kernels for HSTU recommenders, compiled at run time and tuned.

This module needs neither CUDA nor torch. `hstujit.torch` has the operators for PyTorch, `hstujit.nn` modules made of them, and
`hstujit.compat` the functions of other libraries, in whose place `hstujit.patch` puts them.
"""

from __future__ import annotations

from ._contexts import configure, metrics
from ._errors import Error, Failed, InvalidArgument, OutOfMemory, Status, Unsupported, UnsupportedType
from ._library import cmake_dir, include_dir, version
from ._measure import Row, bench, tune
from ._patch import Patch, patch
from ._tool import doctor, pack, warm

__all__ = [
    "Error",
    "Failed",
    "InvalidArgument",
    "OutOfMemory",
    "Patch",
    "Row",
    "Status",
    "Unsupported",
    "UnsupportedType",
    "__version__",
    "bench",
    "cmake_dir",
    "configure",
    "doctor",
    "include_dir",
    "metrics",
    "pack",
    "patch",
    "tune",
    "version",
    "warm",
]

__version__: str


def __getattr__(name: str) -> str:
    if name == "__version__":
        return version()
    raise AttributeError(f"module 'hstujit' has no attribute {name!r}")
