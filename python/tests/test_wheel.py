"""The wheel's file: what is in it, what it needs, how large it is."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import zipfile
from base64 import urlsafe_b64encode
from pathlib import Path

import pytest

WHEEL = Path(os.environ.get("HSTUJIT_WHEEL", "missing"))
pytestmark = pytest.mark.skipif(not WHEEL.is_file(), reason="HSTUJIT_WHEEL names no wheel")
PUBLIC_OF_TORCH_OPS = {"hstujit_torch_configure", "hstujit_torch_context"}


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    with zipfile.ZipFile(WHEEL) as wheel:
        wheel.extractall(folder)
    return folder


def output_of(*command: str | Path) -> str:
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, check=True).stdout


def test_is_small() -> None:
    assert WHEEL.stat().st_size <= 12_000_000


def test_record_has_every_file_with_its_hash() -> None:
    with zipfile.ZipFile(WHEEL) as wheel:
        names = wheel.namelist()
        record = next(n for n in names if n.endswith(".dist-info/RECORD"))
        listed = {}
        for line in wheel.read(record).decode().splitlines():
            name, digest, _ = line.rsplit(",", 2)
            listed[name] = digest
        assert set(listed) == set(names)
        for name in names:
            if name != record:
                digest = urlsafe_b64encode(hashlib.sha256(wheel.read(name)).digest()).rstrip(b"=").decode()
                assert listed[name] == f"sha256={digest}"


def test_holds_the_package() -> None:
    with zipfile.ZipFile(WHEEL) as wheel:
        names = set(wheel.namelist())
        tool = wheel.getinfo("hstujit/bin/hstu-tune")
    for name in ("_torch_ops.so", "lib/libhstujit.so.0", "lib/cmake/hstujit/hstujit-config.cmake", "include/hstujit/hstujit.h",
                 "py.typed", "torch/ops.py", "torch/_fakes.py", "workloads/dlrm_v3.json"):  # fmt: skip
        assert f"hstujit/{name}" in names
    assert tool.external_attr >> 16 & 0o111
    assert not [n for n in names if "__pycache__" in n or n.startswith("hstujit/tests")]


def test_auditwheel_accepts_its_tag() -> None:
    tag = re.search(r"(manylinux_2_\d+)_x86_64", WHEEL.name)
    assert tag
    text = output_of(Path(os.environ.get("HSTUJIT_TOOLS", Path(sys.executable).parent)) / "auditwheel", "show", WHEEL)
    assert f'constrains the platform tag to "{tag.group(0)}"' in " ".join(text.split())


@pytest.mark.parametrize(
    ("name", "needed"),
    [
        ("lib/libhstujit.so.0", set()),
        ("bin/hstu-tune", set()),
        ("_torch_ops.so", {"libhstujit.so.0", "libtorch_cpu.so"}),
    ],
)
def test_needs_only_the_c_and_cpp_libraries(unpacked: Path, name: str, needed: set[str]) -> None:
    dynamic = output_of("readelf", "-d", unpacked / "hstujit" / name)
    found = set(re.findall(r"NEEDED.*\[(.*)\]", dynamic))
    assert found - {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "libstdc++.so.6", "ld-linux-x86-64.so.2"} == needed
    assert not re.search(r"R(UN)?PATH.*\[(?!\$ORIGIN/lib\])", dynamic)


def test_exports_nothing_but_its_functions(unpacked: Path) -> None:
    def exported(name: str) -> set[str]:
        lines = output_of("nm", "-D", "--defined-only", "--format=posix", unpacked / "hstujit" / name).splitlines()
        return {line.split()[0].split("@")[0] for line in lines}

    headers = "".join(p.read_text() for p in (unpacked / "hstujit/include/hstujit").glob("*.h"))
    declared = set(re.findall(r"HSTU_API [^;(]*?(hstu_\w+)\(", headers))
    assert exported("lib/libhstujit.so.0") == declared
    # Templates of the standard library are weak and everybody's.
    assert {n for n in exported("_torch_ops.so") if not n.startswith("_Z")} == PUBLIC_OF_TORCH_OPS


def test_a_project_builds_against_it(unpacked: Path, tmp_path: Path) -> None:
    if not shutil.which("cmake"):
        pytest.skip("no cmake")
    (tmp_path / "main.c").write_text(
        "#include <hstujit/hstujit.h>\n#include <stdio.h>\nint main(void) { puts(hstu_version()); return 0; }\n"
    )
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(consumer C)\nfind_package(hstujit CONFIG REQUIRED)\n"
        "add_executable(consumer main.c)\ntarget_link_libraries(consumer PRIVATE hstujit::hstujit)\n"
    )
    cmake_dir = unpacked / "hstujit/lib/cmake/hstujit"
    output_of("cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-Dhstujit_DIR={cmake_dir}")
    output_of("cmake", "--build", tmp_path / "build")
    assert output_of(tmp_path / "build/consumer").strip() in WHEEL.name
    # And without CMake.
    root = unpacked / "hstujit"
    output_of("cc", tmp_path / "main.c", f"-I{root}/include", f"-L{root}/lib", "-lhstujit", f"-Wl,-rpath,{root}/lib",
              "-o", tmp_path / "by_hand")  # fmt: skip
    assert output_of(tmp_path / "by_hand").strip() in WHEEL.name
