#!/usr/bin/env bash
# Installs what is missing and builds into build/ (or the folder given): everything, or the targets given behind it.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/install_deps.sh
cmake -S . -B "${1:-build}" -G Ninja -DCMAKE_BUILD_TYPE=Release ${HSTUJIT_CMAKE_FLAGS:-}
cmake --build "${1:-build}" ${2:+--target "${@:2}"}
