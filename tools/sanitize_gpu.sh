#!/usr/bin/env bash
# Runs GPU tests under compute-sanitizer on device 0, in shards side by side, and keeps what it says. Fails when it has
# a finding, a test fails, or a shard does not end in time.
#   tools/sanitize_gpu.sh [tool] [filter of tests] [seconds a shard] [folder of the programs] [logs]
# tool: memcheck (default), racecheck, synccheck, initcheck. Calls that the driver refuses are not findings: a thread
# without a current context asks three times in vain before the library makes one current, and tests look at statuses.
# Left out: tests in which a kernel waits for another (a sanitizer runs them one by one), tensors of 2^31 elements
# (hours), and for racecheck a hand-over by bar.arrive, which it does not know, and large shapes, which take it minutes.
# Kernels are taken from $HSTUJIT_TEST_STORE, if it is set. EVERY=n: only each n-th test.
set -uo pipefail
cd "$(dirname "$0")/.."
tool=${1:-memcheck}
unfit=TileCounter.FindsASparePlaceWhenItsOwnIsTaken:LaunchBoard.LaunchesAtOnceHaveBoardsOfTheirOwnOrNone
unfit=$unfit:PrimDependentLaunch.*:ManyElements.*
large='*_8460x*:*_17001x*:*_2300x*:*_n4500b*:*_n4803b*:*_n5804b*:LargeStackOnDevice*:*/LargeStackOnDevice*'
large=$large:AttentionPairs.*:*LongPairs.*:*Streams.*:*Candidates.*
[ "$tool" = racecheck ] && unfit=$unfit:PrimWarpgroup.RolesTradeRegistersAndHandOver:$large
filter=${2:-*}
case $filter in *:-* | -*) filter=$filter:$unfit ;; *) filter=$filter:-$unfit ;; esac
seconds=${3:-600}
bin=${4:-build}
logs=${5:-$(mktemp -d)}
tests=$bin/tests/kernels_test
[ -x "$tests" ] || tests=$bin/kernels_test
mkdir -p "$logs"
shards=$(($(nproc) < 16 ? $(nproc) : 16))
running=()
for ((i = 0; i < shards; ++i)); do
  GTEST_TOTAL_SHARDS=$((shards * ${EVERY:-1})) GTEST_SHARD_INDEX=$i timeout --kill-after=5 "$seconds" compute-sanitizer --tool "$tool" \
    --error-exitcode 99 --report-api-errors no "$tests" --gtest_filter="$filter" >"$logs/$tool$i.log" 2>&1 &
  running+=($!)
done
failed=0
for ((i = 0; i < shards; ++i)); do
  wait "${running[i]}"
  code=$?
  [ $code -eq 0 ] && continue
  failed=1
  echo "shard $i: exit $code; $(grep -c '\[       OK' "$logs/$tool$i.log") tests passed"
  grep -m 20 '^========= ' "$logs/$tool$i.log"
done
echo "$tool: $(cat "$logs/$tool"*.log | grep -c '\[       OK') tests passed in $shards shards; logs in $logs"
exit $failed
