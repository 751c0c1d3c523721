#!/usr/bin/env bash
# The main job. With a GPU: runs the DLRM-v3 stack, tuned first where no record is shipped, and prints a table. Without:
# compiles that workload's kernels for sm_80 and sm_90a, runs a small stack on the CPU and checks it.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/build.sh build hstu-tune
build/hstu-tune run tools/workloads/dlrm_v3.json "$@"
