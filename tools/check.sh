#!/usr/bin/env bash
# Before a commit: format, build, CPU tests.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/format.sh
tools/test.sh -L cpu
