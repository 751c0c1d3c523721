#!/usr/bin/env bash
# Before a commit: format, build, CPU tests, and clang-tidy over what changed.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/format.sh
tools/test.sh -L cpu
mapfile -t changed < <(git diff --name-only --diff-filter=d HEAD -- 'src/*.cpp' 'tools/*.cpp')
[ ${#changed[@]} -eq 0 ] || tools/tidy.sh "${changed[@]}"
