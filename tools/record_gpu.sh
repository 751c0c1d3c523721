#!/usr/bin/env bash
# Takes the GPU record on device 0: measures with configurations as shipped, while the chip is rested, then runs the GPU
# tests, and writes tests/gpu_record/<device>.json and its page <device>.md (or into the folder given as second argument).
# Takes a few minutes; with HSTUJIT_RIVALS=1 one more, for Triton and CuPy.
#   tools/record_gpu.sh [folder of the programs] [out]
set -euo pipefail
cd "$(dirname "$0")/.."
bin=${1:-build}
out=${2:-tests/gpu_record}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tests=$bin/tests/kernels_test
[ -x "$tests" ] || tests=$bin/kernels_test
export HSTUJIT_STORE=$work/bench_store
"$bin/hstu-tune" warm tools/workloads/figures.json --device cuda
"$bin/hstu-tune" bench tools/workloads/figures.json ${HSTUJIT_RIVALS:+--rivals tools/rivals/engine.py} --json "$work/bench.json"
export HSTUJIT_STORE=$work/store
"$bin/hstu-tune" run tools/workloads/dlrm_v3.json --budget 15 --json "$work/cold.json"
"$bin/hstu-tune" run tools/workloads/dlrm_v3.json --json "$work/filled.json"
"$bin/hstu-tune" run tools/workloads/dlrm_v3_fp8.json --budget 15 --json "$work/fp8.json"
HSTUJIT_STORE=$work/tuned_store "$bin/hstu-tune" run tools/workloads/dlrm_v3.json --retune --budget 15 --json "$work/tuned.json"
"$bin/hstu-tune" run tools/workloads/dlrm_v3.json --device cuda@sm_80 --budget 25 --json "$work/sm80.json"
# Shards side by side: most of a test's time is compiling, on one core, unless the kernels are in $HSTUJIT_TEST_STORE. Once
# more with kernels of the sm_80 generation alone, which most problems do not take here; those are compiled by then.
export HSTUJIT_TEST_STORE=${HSTUJIT_TEST_STORE:-$work/test_store}
shards=$(($(nproc) < 16 ? $(nproc) : 16))
for device in cuda:0 cuda@sm_80; do
  for ((i = 0; i < shards; ++i)); do
    HSTUJIT_TEST_DEVICE=$device GTEST_TOTAL_SHARDS=$shards GTEST_SHARD_INDEX=$i timeout 400 "$tests" --gtest_brief=1 \
      --gtest_output=json:"$work/tests_$device.$i.json" || echo "some GPU tests failed; the record will say so" &
  done
  wait
done
cmake -DROOT=. -DTESTS="$(printf "%s;" "$work"/tests_cuda:0.*.json)" \
  -DTESTS_ON_SM80="$(printf "%s;" "$work"/tests_cuda@sm_80.*.json)" \
  -DALL_TESTS="$("$tests" --gtest_list_tests | grep -c '^  ')" \
  -DREPORTS="$work/cold.json;$work/filled.json;$work/tuned.json;$work/fp8.json;$work/sm80.json;$work/bench.json" \
  -DOUT="$out" -P tests/gpu_record/assemble.cmake
