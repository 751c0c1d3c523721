#!/usr/bin/env bash
# Formats every C, C++ and CUDA file in place.
set -euo pipefail
cd "$(dirname "$0")/.."
git ls-files '*.cpp' '*.hpp' '*.h' '*.c' '*.cuh' '*.cu' | xargs clang-format -i
