#!/usr/bin/env bash
# Passes the C++ files given through clang-tidy, or all of the library and the tool (most of an hour of one core).
set -euo pipefail
cd "$(dirname "$0")/.."
command -v clang-tidy >/dev/null || { echo "clang-tidy is not installed: nothing is checked" >&2; exit 0; }
# A folder of its own: what is precompiled for gcc is nothing to clang.
cmake -S . -B build/tidy -G Ninja -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON >/dev/null
[ $# -gt 0 ] || set -- $(git ls-files 'src/*.cpp' 'tools/*.cpp')
printf '%s\n' "$@" | xargs -n 1 -P "$(nproc)" clang-tidy -p build/tidy --quiet 2>/dev/null
