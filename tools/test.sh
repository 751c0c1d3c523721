#!/usr/bin/env bash
# Installs what is missing, builds and passes the tests. GPU tests skip themselves where there is no GPU.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/build.sh build
ctest --test-dir build --output-on-failure -j "$(nproc)" "$@"
