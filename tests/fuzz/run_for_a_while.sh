#!/bin/sh
# Runs a libFuzzer program with the folders given for HSTUJIT_FUZZ_SECONDS of the environment, 10 by default; 0 skips it.
seconds=${HSTUJIT_FUZZ_SECONDS:-10}
[ "$seconds" != 0 ] || { echo "HSTUJIT_FUZZ_SECONDS is 0: not fuzzed"; exit 77; }
program=$1
shift
exec "$program" -max_total_time="$seconds" -rss_limit_mb=3000 -max_len=16384 -print_final_stats=1 "$@"
