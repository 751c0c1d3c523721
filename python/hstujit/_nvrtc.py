"""Where NVRTC is: PyPI's nvidia-cuda-nvrtc, which torch brings along, before the system's."""

from __future__ import annotations

import os
import sys
from pathlib import Path

_NAMES = ("libnvrtc.so.13", "libnvrtc.so.12")
_FOLDERS = ("nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib")
VARIABLE = "HSTUJIT_LIBNVRTC"


def find() -> Path | None:
    """NVRTC of an installed wheel; its builtins lie beside it, where the library looks for them."""
    for root in sys.path:
        for folder in _FOLDERS:
            for name in _NAMES:
                path = Path(root, folder, name)
                if path.is_file():
                    return path
    return None


def name_it() -> None:
    """Tells the library, and the tools that this process starts, unless the user did."""
    if VARIABLE not in os.environ and (found := find()):
        os.environ[VARIABLE] = str(found)
