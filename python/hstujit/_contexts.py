"""The contexts that torch's operators run on: their options and their counters. They live in _torch_ops.so, so that a
process without Python has them too."""

from __future__ import annotations

import ctypes
import os
from typing import NamedTuple

from ._library import check, library

_MISS = {"default": 0, "nearest": 1, "tune": 2, "fail": 3, "async": 4}
_CPU = -1
_MAX_DEVICES = 64


class Options(NamedTuple):
    """What contexts are made with; None: what the environment says."""

    store: str | None = None
    system_store: str | None = None
    miss: str = "default"


_options = Options()
_torch_ops: ctypes.CDLL | None = None


def options() -> Options:
    """What configure() was last told."""
    return _options


def use(torch_ops: ctypes.CDLL) -> None:
    """Tells the library of torch's operators, which was just loaded, what configure() was told before."""
    global _torch_ops
    text = ctypes.c_char_p
    torch_ops.hstujit_torch_configure.argtypes = [text, text, ctypes.c_int32]
    torch_ops.hstujit_torch_context.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.c_int32, ctypes.c_int32]
    _torch_ops = torch_ops
    _apply()


def _apply() -> None:
    if _torch_ops is None:
        return
    store, system_store = (None if each is None else os.fsencode(each) for each in (_options.store, _options.system_store))
    check(_torch_ops.hstujit_torch_configure(store, system_store, _MISS[_options.miss]))


def configure(
    *,
    store: str | os.PathLike[str] | None = None,
    system_store: str | os.PathLike[str] | None = None,
    miss: str = "default",
) -> None:
    """Says where kernels are kept and what a call does whose problem has no tuned record.

    store         folder of the writable store; "": all in memory; None: HSTUJIT_STORE, else the cache folder
    system_store  a read-only store or a pack underneath it; None: HSTUJIT_SYSTEM_STORE, else none
    miss          "default", "nearest", "tune", "fail" or "async", as hstu_miss_policy has them
    Devices that were used already keep their store; the miss policy changes at once.
    """
    global _options
    if miss not in _MISS:
        raise ValueError(f"miss = {miss!r}: it must be one of {', '.join(_MISS)}")
    _options = Options(
        None if store is None else os.fspath(store),
        None if system_store is None else os.fspath(system_store),
        miss,
    )
    _apply()


def context(device: int = _CPU, *, make: bool = True) -> int | None:
    """The address of the hstu_context of a CUDA device, or of "cpu" (-1), for calls of the C API. None: not made yet."""
    if _torch_ops is None:
        return None
    out = ctypes.c_void_p()
    check(_torch_ops.hstujit_torch_context(ctypes.byref(out), device, int(make)))
    return out.value


def _text_of(address: int) -> str:
    needed = ctypes.c_size_t()
    library().hstu_context_metrics(address, None, 0, ctypes.byref(needed))
    text = ctypes.create_string_buffer(needed.value + 256)
    check(library().hstu_context_metrics(address, text, len(text), None))
    return text.value.decode()


def metrics() -> str:
    """Counters of every device in use, as text for Prometheus (exposition format 0.0.4); "" before the first call.

    Metrics of several devices stand together under one heading, as the format asks for.
    """
    order: list[str] = []
    lines: dict[str, list[str]] = {}
    for device in range(_CPU, _MAX_DEVICES):
        address = context(device, make=False)
        name = ""
        for line in _text_of(address).splitlines() if address else ():
            if line.startswith("#"):
                name = line.split()[2]
            if name not in lines:
                order.append(name)
                lines[name] = []
            if not line.startswith("#") or line not in lines[name]:
                lines[name].append(line)
    return "".join(f"{line}\n" for name in order for line in lines[name])
