"""libhstujit.so of this package, opened at first use."""

from __future__ import annotations

import ctypes
import functools
from pathlib import Path

from . import _nvrtc
from ._errors import error_of

PACKAGE = Path(__file__).resolve().parent


@functools.cache
def library() -> ctypes.CDLL:
    """The library, with the signatures of what Python calls."""
    _nvrtc.name_it()
    lib = ctypes.CDLL(str(PACKAGE / "lib/libhstujit.so.0"))
    lib.hstu_version.restype = ctypes.c_char_p
    lib.hstu_last_error.restype = ctypes.c_char_p
    lib.hstu_context_metrics.argtypes = [
        ctypes.c_void_p,
        ctypes.c_char_p,
        ctypes.c_size_t,
        ctypes.POINTER(ctypes.c_size_t),
    ]
    return lib


def check(status: int) -> None:
    """Raises hstujit.Error unless the status is HSTU_OK."""
    if status != 0:
        raise error_of(status, library().hstu_last_error().decode())


def version() -> str:
    """The version of the library in use."""
    text: bytes = library().hstu_version()
    return text.decode()


def include_dir() -> str:
    """Folder of the C headers: `#include <hstujit/hstujit.h>`."""
    return str(PACKAGE / "include")


def cmake_dir() -> str:
    """Folder of the CMake package: find_package(hstujit CONFIG PATHS <this>) gives the target hstujit::hstujit."""
    return str(PACKAGE / "lib/cmake/hstujit")
