#!/usr/bin/env bash
# Runs GPU tests under compute-sanitizer on device 0, in shards side by side, and keeps what it says. Fails when it has
# a finding, a test fails, or a shard does not end in time.
#   tools/sanitize_gpu.sh [tool] [filter of tests] [seconds a shard] [folder of the programs] [logs]
# tool: memcheck (default), racecheck, synccheck, initcheck. Calls that the driver refuses are not findings: a thread
# without a current context asks three times in vain before the library makes one current, and tests look at statuses.
# Left out: tests in which a kernel waits for another (a sanitizer runs them one by one) and tensors of 2^31 elements
# (hours). Racecheck looks at shared memory alone and pays for all that goes through it, so it gets small shapes: some
# 3,600 tests, 190 s of 16 cores. Beside a hand-over by bar.arrive, which it does not know, it does without
#   what is about global memory, numbers or several calls: far addresses, boards and counters that launches share, sums of
#     long runs, errors of FP8, streams, candidates of tuning, goldens; their kernels have sweeps
#   thousands of rows or keys, where a kernel has them with less, vectors long enough for rings of stages where an
#     operator has none or sequences are many and short, stacks in f32, and heads of f32 over 96 columns, which cost it
#     the most: each mask, bias, scaling and layout is there with fewer
#   f16, whose kernels are those of bf16
# Memcheck gets tensors in allocations of their own that end with the last element, far from each other, so that it sees
# one element too far; racecheck two random problems of each kernel. HSTUJIT_TEST_SEED=n: other random problems.
# Kernels are taken from $HSTUJIT_TEST_STORE, if it is set. EVERY=n: only each n-th test. ROOMS="norm fp8": only tests of
# these rooms of tests/kernels/. What ran without a finding is added to the counts of the GPU record in RECORD=folder
# (tests/gpu_record), with those that random sweeps leave in $HSTUJIT_TEST_COUNTS; a shard that did not end in time is not.
set -uo pipefail
cd "$(dirname "$0")/.."
tool=${1:-memcheck}
unfit=TileCounter.FindsASparePlaceWhenItsOwnIsTaken:LaunchBoard.LaunchesAtOnceHaveBoardsOfTheirOwnOrNone
unfit=$unfit:PrimDependentLaunch.*:ManyElements.*
global='FarRows.*:LaunchBoard.*:TileCounter.*:AttentionPairs.*:*LongPairs.*:*Streams.*:*Candidates.*:GoldensOnDevice.*'
global=$global:'AttentionFp8Sums.*:*/AttentionFp8Error.*:*/Fp8Error.*:AddmmOnDevice.ADividedK*:AddmmOnDevice.F32Sums*'
global=$global:'JaggedVectorsOnDevice.Long*'
large='*_8460x*:*_17001x*:*_2300x*:*_n4500b*:*_n4655b*:*_n4803b*:*_n5804b*:LargeStackOnDevice*:*/LargeStackOnDevice*'
large=$large:'*/JaggedVectorSweep.ReplacesTheLastRows/*Stages:*/JaggedVectorSweep.Expands/*Stages:*/ManyShortThroughStages'
large=$large:'*/StackInAGraph.*/f32:*ContextPairs.*:*_n2568b4_du300*:*/f32*_n2568b4*:*/OneHuge:*/OneHugeAmongGroups'
large=$large:'SampleSort.OrdersMany*:SampleSort.SortsRangesWithoutRoomInTurns'
large=$large:'*/f32_h?_1??_*:*/f32_h?_2??_*:*/f32_h?k?_2??_*:*/f32_*_h?_1??_*:*/f32_*_h?_2??_*'
[ "$tool" = racecheck ] && unfit=$unfit:PrimWarpgroup.RolesTradeRegistersAndHandOver:$global:$large:'*/f16_*'
options=()
if [ "$tool" = memcheck ]; then
  export HSTUJIT_TEST_EXACT=1
  options=(--padding 4096)
fi
[ "$tool" = racecheck ] && export HSTUJIT_TEST_PROBLEMS=${HSTUJIT_TEST_PROBLEMS:-2}
seconds=${3:-600}
bin=${4:-build}
logs=${5:-$(mktemp -d)}
mkdir -p "$logs"
programs=$bin/tests
[ -x "$programs/kernels_test" ] || programs=$bin
tests=$programs/kernels_test
list=$logs/list.json
"$tests" --gtest_list_tests --gtest_output=json:"$list" >/dev/null || exit 1
filter=${2:-*}
# shellcheck disable=SC2086
[ -z "${ROOMS:-}" ] || filter=$("$programs/gpu-record" filter --list "$list" $ROOMS) || exit 1
case $filter in *:-* | -*) filter=$filter:$unfit ;; *) filter=$filter:-$unfit ;; esac
shards=$(($(nproc) < 16 ? $(nproc) : 16))
running=()
for ((i = 0; i < shards; ++i)); do
  rm -f "$logs/$tool$i".*
  HSTUJIT_TEST_COUNTS=$logs/$tool$i.counts.json GTEST_TOTAL_SHARDS=$((shards * ${EVERY:-1})) GTEST_SHARD_INDEX=$i \
    timeout --kill-after=5 "$seconds" compute-sanitizer --tool "$tool" "${options[@]}" --error-exitcode 99 \
    --report-api-errors no "$tests" --gtest_filter="$filter" --gtest_output=json:"$logs/$tool$i.tests.json" \
    >"$logs/$tool$i.log" 2>&1 &
  running+=($!)
done
failed=0 found=0
outputs=() counts=()
for ((i = 0; i < shards; ++i)); do
  wait "${running[i]}"
  code=$?
  if [ $code -eq 0 ] || [ $code -eq 77 ]; then # 77: all were skipped
    outputs+=("$logs/$tool$i.tests.json")
    [ ! -e "$logs/$tool$i.counts.json" ] || counts+=(--counts "$logs/$tool$i.counts.json")
    continue
  fi
  failed=1
  [ $code -eq 124 ] || [ $code -eq 137 ] || found=1
  echo "shard $i: exit $code; $(grep -c '\[       OK' "$logs/$tool$i.log") tests passed"
  grep -m 20 '^========= ' "$logs/$tool$i.log"
done
echo "$tool: $(cat "$logs/$tool"*.log | grep -c '\[       OK') tests passed in $shards shards; logs in $logs"
if [ $found -eq 0 ] && [ ${#outputs[@]} -gt 0 ]; then
  record=${RECORD:-tests/gpu_record}
  mkdir -p "$record"
  for known in tests/gpu_record/*.json; do [ -e "$record/${known##*/}" ] || cp "$known" "$record"; done
  "$programs/gpu-record" --folder "$record" add-sanitized --tool "$tool" --list "$list" "${counts[@]}" "${outputs[@]}" || failed=1
fi
exit $failed
