"""A stack in a C++ process without Python: tools/examples/aoti."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from hstujit import _library

EXAMPLE = Path(__file__).resolve().parents[2] / "tools/examples/aoti"
TORCH = Path(torch.__file__).resolve().parent
THREADS = 4


@pytest.mark.skipif(not shutil.which("g++"), reason="no g++")
def test_a_process_without_python_runs_a_stack_from_several_threads(tmp_path: Path) -> None:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    program, package = tmp_path / "serve_stack", tmp_path / "stack.pt2"
    build = ["g++", "-std=c++17", "-O1", EXAMPLE / "serve_stack.cpp", "-o", program, "-isystem", TORCH / "include"]
    build += ["-isystem", TORCH / "include/torch/csrc/api/include", f"-L{TORCH}/lib", f"-Wl,-rpath,{TORCH}/lib"]
    build += ["-Wl,--no-as-needed", "-ltorch", "-ltorch_cpu", "-lc10", "-ldl"]
    if device == "cuda":
        build += ["-ltorch_cuda", "-lc10_cuda"]
    building = subprocess.Popen([str(part) for part in build])
    environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "inductor"), "OMP_NUM_THREADS": "1"}
    export = [sys.executable, str(EXAMPLE / "export_stack.py"), str(package), device]
    exported = subprocess.run(export, capture_output=True, text=True, check=True, env=environment).stdout.split()[-1]
    assert building.wait() == 0

    linked = subprocess.run(["ldd", str(program)], capture_output=True, text=True, check=True).stdout
    assert "libpython" not in linked
    operators = _library.PACKAGE / "_torch_ops.so"
    serve = [str(program), str(package), str(operators), device, str(THREADS)]
    said = subprocess.run(serve, capture_output=True, text=True, check=True, timeout=120, env=environment).stdout
    assert f"sum {exported}" in said
    rates = re.search(rf"1 thread (\d+), {THREADS} threads (\d+)", said)
    assert rates
    print(said)
    # A lock that all calls share would let four threads fall behind one by what changing hands costs.
    assert int(rates.group(2)) > 0.8 * int(rates.group(1))
