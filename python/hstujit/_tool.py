"""The packaged hstu-tune: as a command, and behind doctor(), warm() and pack()."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from . import _contexts, _nvrtc
from ._errors import error_of
from ._library import PACKAGE

_TOOL = str(PACKAGE / "bin/hstu-tune")
_FAILED = 12  # the tool says why in words alone


def main() -> NoReturn:
    """The console script hstu-tune: becomes the packaged tool."""
    _nvrtc.name_it()
    os.execv(_TOOL, ["hstu-tune", *sys.argv[1:]])


def _run(*arguments: str, may_fail: bool = False) -> str:
    _nvrtc.name_it()
    done = subprocess.run([_TOOL, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0 and not may_fail:
        raise error_of(_FAILED, f"hstu-tune {' '.join(arguments)}: exit code {done.returncode}\n{done.stdout}")
    return done.stdout


def _workload(workload: str | os.PathLike[str]) -> str:
    """A workload file, or the name of one that the package brings."""
    shipped = PACKAGE / "workloads" / f"{workload}.json"
    return str(shipped if shipped.is_file() else Path(workload))


def _targets(arch: str | Sequence[str]) -> list[str]:
    return [arch] if isinstance(arch, str) else list(arch)


def _store(store: str | os.PathLike[str] | None) -> list[str]:
    store = _contexts.options().store if store is None else store
    return [] if store is None else ["--store", str(store)]


def doctor() -> str:
    """What was found, what is missing and how to mend it: the library, the driver, NVRTC, the store, torch."""
    torch = next((str(Path(root, "torch")) for root in sys.path if Path(root, "torch/version.py").is_file()), None)
    about = f"{'ok' if torch else '-':8} torch        {torch or 'none; hstujit.torch needs 2.10 or newer'}\n"
    return _run("doctor", *_store(None), may_fail=True) + about


def warm(
    workload: str | os.PathLike[str] = "dlrm_v3",
    *,
    arch: str | Sequence[str] | None = None,
    device: str = "cuda",
    store: str | os.PathLike[str] | None = None,
) -> str:
    """Compiles every kernel that a workload needs into the store, and gives the tool's table.

    workload  a workload file, or the name of one of the package: dlrm_v3, dlrm_v3_fp8, figures
    arch      targets to compile for instead of the device, which need no GPU: "sm_80", "sm_86", "sm_89", "sm_90a"
    store     folder of the store; None: that of configure(), else the default one
    Raises hstujit.Error with the tool's text.
    """
    where = ["--arch", *_targets(arch)] if arch is not None else ["--device", device]
    return _run("warm", _workload(workload), *where, *_store(store))


def pack(
    workload: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    arch: str | Sequence[str],
    store: str | os.PathLike[str] | None = None,
) -> str:
    """Puts a workload's kernels and records into a pack, without a GPU: one read-only file for servers.

    Arguments are those of warm(); `output` is the file to write. configure(system_store=output) serves from it.
    Raises hstujit.Error with the tool's text.
    """
    where = ["--arch", *_targets(arch), *_store(store)]
    return _run("build", "--workload", _workload(workload), "-o", str(output), *where)
