#!/usr/bin/env bash
# Formats every C, C++ and CUDA file in place, or does with them what is given: --dry-run -Werror only looks.
set -euo pipefail
cd "$(dirname "$0")/.."
git ls-files '*.cpp' '*.hpp' '*.h' '*.c' '*.cuh' '*.cu' | xargs clang-format "${@:--i}"
