#!/usr/bin/env python3
"""Installs the wheel into a fresh virtual environment without torch, and uses it there. Exit code 77: skipped.

fresh_venv.py WHEEL FOLDER
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

IMPORT = """
import sys, time
begin = time.perf_counter()
import hstujit
print(time.perf_counter() - begin)
assert not {"torch", "numpy"} & set(sys.modules), "hstujit imports what it must not"
"""
USE = """
import ctypes, hstujit, os
assert hstujit.__version__ in os.environ["WHEEL"], hstujit.__version__
text = hstujit.doctor()
assert "ok       library" in text and "torch        none" in text, text
try:
    hstujit.warm("no_such_workload", arch="sm_90a")
except hstujit.Error as error:
    assert "no_such_workload" in str(error), error
else:
    raise AssertionError("a workload that is not there is warmed")
assert hstujit.metrics() == ""
"""
WARM = """
import hstujit, os
os.environ.pop("CUDA_HOME", None)
text = hstujit.doctor()
assert "nvidia" in next(line for line in text.splitlines() if "NVRTC" in line), text
print(hstujit.warm("dlrm_v3", arch="sm_90a", store="store"))
assert "0 compiled" in hstujit.warm("dlrm_v3", arch="sm_90a", store="store")
hstujit.pack("dlrm_v3", "dlrm_v3.pack", arch="sm_90a", store="store")
assert os.path.getsize("dlrm_v3.pack") > 10000
"""


def main() -> None:
    """The command line."""
    wheel, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    if not wheel.is_file():
        print("skipped: there is no wheel")
        sys.exit(77)
    subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
    python = folder / "bin/python"
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--no-index", "--no-deps", wheel], check=True)

    def run(program: str) -> str:
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "WHEEL": wheel.name}
        done = subprocess.run([python, "-c", program], cwd=folder, env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{program}\n{done.stdout}{done.stderr}")
        return done.stdout

    run(IMPORT)  # writes its bytecode
    seconds = min(float(run(IMPORT)) for _ in range(5))
    print(f"import hstujit: {seconds * 1e3:.0f} ms")
    if seconds > 0.1:
        sys.exit("import hstujit takes more than 0.1 s")
    run(USE)
    subprocess.run([folder / "bin/hstu-tune", "--version"], check=True)
    if subprocess.run([*pip, "--retries", "1", "nvidia-cuda-nvrtc==13.0.88"], check=False).returncode != 0:
        print("not tried: NVRTC from PyPI, which cannot be reached")
        return
    print(next(line for line in run(WARM).splitlines() if " compiled, " in line))


if __name__ == "__main__":
    main()
