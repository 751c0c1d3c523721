#!/usr/bin/env python3
"""Packs the staged package into a wheel. The same inputs give the same bytes.

make_wheel.py --source <repository> --staged <package> --library libhstujit.so.0 --version 0.1.0 --out <folder>
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import shutil
import stat
import zipfile
from pathlib import Path

# glibc of the system that it is built on decides; auditwheel checks it (tests/test_wheel.py).
TAG = "py3-none-manylinux_2_35_x86_64"
WHEN = (2026, 1, 1, 0, 0, 0)

METADATA = """\
Metadata-Version: 2.4
Name: hstujit
Version: {version}
Summary: Kernels for HSTU recommenders, compiled at run time and tuned
License-Expression: Apache-2.0
License-File: LICENSE
Requires-Python: >=3.10
Classifier: Environment :: GPU :: NVIDIA CUDA
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: C++
Classifier: Programming Language :: Python :: 3
Classifier: Typing :: Typed
Provides-Extra: torch
Requires-Dist: torch>=2.10; extra == "torch"
Provides-Extra: nvrtc
Requires-Dist: nvidia-cuda-nvrtc>=13; extra == "nvrtc"
Description-Content-Type: text/markdown

{description}"""

WHEEL = """\
Wheel-Version: 1.0
Generator: hstujit make_wheel.py
Root-Is-Purelib: false
Tag: {tag}
"""

ENTRY_POINTS = "[console_scripts]\nhstu-tune = hstujit._tool:main\n"


def stage(source: Path, staged: Path, library: Path) -> None:
    """Puts what is not built beside what is: Python, headers, the CMake package, workloads."""
    package = source / "python/hstujit"
    for path in package.rglob("*"):
        if path.suffix in (".py", ".typed") and "__pycache__" not in path.parts:
            to = staged / path.relative_to(package)
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, to)
    for folder, at in (("include/hstujit", "include/hstujit"), ("tools/workloads", "workloads")):
        shutil.rmtree(staged / at, ignore_errors=True)
        shutil.copytree(source / folder, staged / at)
    cmake = staged / "lib/cmake/hstujit"
    cmake.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source / "python/hstujit-config.cmake", cmake / "hstujit-config.cmake")
    shutil.copyfile(library, staged / "lib" / library.name)
    # `-lhstujit` finds this one: a wheel holds no links.
    (staged / "lib/libhstujit.so").write_text(f"/* GNU ld script */\nINPUT({library.name})\n")


def files_of(source: Path, staged: Path, version: str) -> dict[str, bytes]:
    """Every file of the wheel but RECORD."""
    out = {}
    for path in sorted(staged.rglob("*")):
        if path.is_file() and not path.is_symlink() and "__pycache__" not in path.parts:
            out[f"hstujit/{path.relative_to(staged)}"] = path.read_bytes()
    info = f"hstujit-{version}.dist-info"
    description = (source / "docs/python.md").read_text()
    out[f"{info}/METADATA"] = METADATA.format(version=version, description=description).encode()
    out[f"{info}/WHEEL"] = WHEEL.format(tag=TAG).encode()
    out[f"{info}/entry_points.txt"] = ENTRY_POINTS.encode()
    out[f"{info}/licenses/LICENSE"] = (source / "LICENSE").read_bytes()
    return out


def record_of(files: dict[str, bytes], info: str) -> bytes:
    """RECORD: each file with its hash and size."""
    lines = []
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(data)}")
    return "\n".join([*lines, f"{info}/RECORD,,", ""]).encode()


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Packs the staged package into a wheel")
    for name in ("--source", "--staged", "--library", "--out"):
        parser.add_argument(name, type=Path, required=True)
    parser.add_argument("--version", required=True)
    given = parser.parse_args()
    stage(given.source, given.staged, given.library)
    files = files_of(given.source, given.staged, given.version)
    info = f"hstujit-{given.version}.dist-info"
    files[f"{info}/RECORD"] = record_of(files, info)
    for old in given.out.glob("hstujit-*.whl"):
        old.unlink()
    path = given.out / f"hstujit-{given.version}-{TAG}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, WHEN)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (stat.S_IFREG | (0o755 if name == "hstujit/bin/hstu-tune" else 0o644)) << 16
            wheel.writestr(entry, data)
    print(f"{path} ({path.stat().st_size / 1e6:.1f} MB)")


if __name__ == "__main__":
    main()
