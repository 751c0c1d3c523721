#!/usr/bin/env bash
# Takes the GPU record tests/gpu_record/<device>.json, or a part of it, on device 0: figures with configurations as shipped,
# while the chip is rested, then GPU tests on all kernels and on those of the sm_80 generation alone. Each result goes into
# the record, and into its page <device>.md, as soon as it is there: what was stopped goes on with --stale.
#   tools/record_gpu.sh [--stale] [--only ROOM...] [--bin FOLDER] [--out FOLDER]
# --stale: only what no record has of these sources, whatever its GPU. --only: only these rooms, of figures and of
# tests: attention dense fp8 jagged norm position; stack and engine (figures); prim, candidates and other files of
# tests/kernels/ (tests). --list: says what there is to do, and does nothing. --bin: of the programs (build). --out: where
# the record is written (tests/gpu_record).
# All of it takes a quarter of an hour. HSTUJIT_RIVALS=1: Triton and CuPy too. Kernels stay in $HSTUJIT_RECORD_STORE and
# $HSTUJIT_TEST_STORE, if they are set.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=build out=tests/gpu_record list=
choice=()
while [ $# -gt 0 ]; do
  case $1 in
    --stale) choice+=(--stale) ;;
    --only)
      while [ $# -gt 1 ] && [ "${2#--}" = "$2" ]; do
        choice+=(--only "$2")
        shift
      done
      ;;
    --list) list=1 ;;
    --bin) bin=$2 && shift ;;
    --out) out=$2 && shift ;;
    *) echo "tools/record_gpu.sh: $1: see the head of the file" >&2 && exit 2 ;;
  esac
  shift
done
programs=$bin/tests
[ -x "$programs/kernels_test" ] || programs=$bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
for record in tests/gpu_record/*.json; do [ -e "$out/${record##*/}" ] || cp "$record" "$out"; done
record=("$programs/gpu-record" --folder "$out")
"${record[@]}" jobs "${choice[@]}" >"$work/jobs"
cat "$work/jobs"
[ -z "$list" ] || exit 0
failed=0

# Runs hstu-tune as a figure's command says, with a store as the figure's name asks for it.
measure() { # command, figures
  local words report=$work/report.json store=${HSTUJIT_RECORD_STORE:-$work/bench_store}
  read -ra words <<<"$1"
  words[0]=$bin/hstu-tune
  case "$1" in
    *--arch*) ;;
    *' bench '*)
      HSTUJIT_STORE=$store "${words[@]:0:1}" warm "${words[2]}" --device cuda >"$work/warm.log"
      words+=(${HSTUJIT_RIVALS:+--rivals tools/rivals/engine.py})
      ;;
    *dlrm_v3.json) # with all kernels in its store
      store=$work/filled_store
      HSTUJIT_STORE=$store "${words[@]}" >"$work/warm.log"
      ;;
    *) store=$work/empty_store && rm -rf "$store" ;;
  esac
  [ -z "$2" ] || words+=(--figures "$2")
  rm -f "$report"
  if HSTUJIT_STORE=$store "${words[@]}" --json "$report" </dev/null; then
    "${record[@]}" add-figures "$report" || failed=1
  else
    echo "that failed: none of its figures is recorded" && failed=1
  fi
}

# In shards side by side: most of a test's time is compiling, on one core, unless the kernels are in $HSTUJIT_TEST_STORE.
export HSTUJIT_TEST_STORE=${HSTUJIT_TEST_STORE:-$work/test_store}
shards=$(($(nproc) < 16 ? $(nproc) : 16))
run_tests() { # device, room
  local filter
  [ -e "$work/list.json" ] || "$programs/kernels_test" --gtest_list_tests --gtest_output=json:"$work/list.json" >/dev/null
  filter=$("${record[@]}" filter --list "$work/list.json" "$2")
  rm -f "$work"/tests.*.json
  for ((i = 0; i < shards; ++i)); do
    HSTUJIT_TEST_DEVICE=$1 GTEST_TOTAL_SHARDS=$shards GTEST_SHARD_INDEX=$i timeout 500 "$programs/kernels_test" \
      --gtest_brief=1 --gtest_filter="$filter" --gtest_output=json:"$work/tests.$i.json" </dev/null &
  done
  wait
  "${record[@]}" add-tests --test-device "$1" --list "$work/list.json" "$work"/tests.*.json || failed=1
}

while IFS=$'\t' read -r kind what names <&3; do
  echo "== $kind: $what $names"
  case $kind in
    figures) measure "$what" "$names" ;;
    tests) run_tests "$what" "$names" ;;
  esac
done 3<"$work/jobs"
"${record[@]}" check || [[ " ${choice[*]} " = *" --only "* ]] || failed=1
exit $failed
