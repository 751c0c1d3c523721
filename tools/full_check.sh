#!/usr/bin/env bash
# The longer proofs, before an issue is called resolved; at most 80 minutes on two cores, no GPU needed:
#   all tests, with each source of every kernel family compiled and each fuzzer running for three minutes. What compiled
#     is listed in tests/families/compiled.txt, which belongs into the commit: the tests then compile a share of it a day;
#   the tests of the host code with the address and undefined-behaviour sanitizers, and those with threads with the
#     thread sanitizer;
#   the Python package with the oldest torch that it takes, and with the newest there is: 8 GB from the package registry.
# tools/fresh_machine.sh and, on a GPU, tools/record_gpu.sh and tools/sanitize_gpu.sh stand beside it.
#   tools/full_check.sh [tests] [sanitizers] [torch]: one of them alone
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- tests sanitizers torch

check_tests() {
  local list
  list=$(mktemp)
  HSTUJIT_COMPILE=all HSTUJIT_COMPILED=$list HSTUJIT_FUZZ_SECONDS=180 tools/test.sh
  LC_ALL=C sort -u "$list" >tests/families/compiled.txt
  rm "$list"
  git diff --stat -- tests/families/compiled.txt
}

# What compiles kernels or takes whole processes apart says no more with sanitizers than without.
check_sanitizers() {
  HSTUJIT_CMAKE_FLAGS="-DHSTUJIT_SANITIZE=address,undefined" tools/build.sh build/address
  ctest --test-dir build/address --output-on-failure -j "$(nproc)" -L cpu -E 'Compiles|packaging|gpu_record|format'
  HSTUJIT_CMAKE_FLAGS="-DHSTUJIT_SANITIZE=thread" tools/build.sh build/thread capi_test jit_test launch_test records_test tuner_test support_test
  ctest --test-dir build/thread --output-on-failure -j "$(nproc)" -R '^(capi|jit|launch|records|tuner|support)\.'
}

check_torch() {
  tools/build.sh build
  python/build_wheel.sh build
  for version in 2.10.0 newest; do
    python/torch_venv.sh "build/python/venv-$version" "$version"
    HSTUJIT_PYTHON_VENV=$PWD/build/python/venv-$version python/tests/run.sh build operators
  done
}

for part in "$@"; do
  echo "== $part ($SECONDS s)"
  "check_$part"
done
echo "== passed ($SECONDS s)"
