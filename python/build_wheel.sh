#!/usr/bin/env bash
# Builds the wheel: build/python/hstujit-<version>-py3-none-manylinux_2_35_x86_64.whl.
#   python/build_wheel.sh [BUILD_FOLDER]
# torch's headers come from the torch of HSTUJIT_PYTHON_VENV, a virtual environment, else from one that is made in the build
# folder. Exit code 77: there is none, and none can be made.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build}
[ -f "$build/build.ninja" ] || tools/build.sh "$build" hstujit hstu-tune
venv=${HSTUJIT_PYTHON_VENV:-$build/python/venv}
[ -n "${HSTUJIT_PYTHON_VENV:-}" ] || python/torch_venv.sh "$venv"
headers=$("$venv/bin/python" -c 'import importlib.util as u; print(u.find_spec("torch").submodule_search_locations[0])')/include
[ -f "$headers/torch/csrc/stable/library.h" ] || { echo "$headers is not of torch 2.10 or newer" >&2; exit 1; }
mkdir -p "$build/python"
ln -sfn "$headers" "$build/python/torch_include"
cmake --build "$build" --target wheel
