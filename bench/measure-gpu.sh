#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The measuring part of scripts/bench-gpu, for a machine that cannot build. Needs the CUDA driver and nvidia-smi.
# Usage: bench/measure-gpu.sh BIN OUT COMMIT
# BIN contains fanin and fanin_device_bench, OUT receives the results, and COMMIT is the commit of the programs. The
# measurement takes some minutes, during which the machine should do nothing else.
set -euo pipefail
bin=$1 out=$2 commit=$3
mkdir -p "$out/host"

{
  printf 'command: bench/measure-gpu.sh\n'
  printf 'commit: %s\n' "$commit"
  for fact in name driver_version memory.total clocks.max.sm clocks.max.memory power.limit; do
    printf '%s: %s\n' "$fact" "$(nvidia-smi --id=0 --query-gpu="$fact" --format=csv,noheader)"
  done
  printf 'nvcc: %s\n' "$(PATH=$PATH:/usr/local/cuda/bin nvcc --version 2> /dev/null | tail -n 1 || true)"
  printf 'kernel: %s\n' "$(uname -sr)"
  lscpu | grep -E '^(Model name|CPU\(s\))'
} > "$out/machine.txt"

CUDA_VISIBLE_DEVICES="" "$bin/fanin" compare --json < /dev/null > "$out/host/compare.json"
"$bin/fanin" compare --method exact < /dev/null > "$out/compare-exact.txt"
"$bin/fanin_device_bench" > "$out/gpu-sums.json"
"$bin/fanin" bench --backend cuda --operation all --type f32,f64 --method exact --count 2^20,2^24,2^28 \
  --json > "$out/exact-operations.json"
"$bin/fanin" device --json > "$out/device.json"
for experiment in divergence occupancy shapes latency; do
  printf 'lab %s\n' "$experiment" >&2
  "$bin/fanin" lab "$experiment" --json > "$out/lab-$experiment.json"
done
for type in f32 i32; do
  for power in 24 28; do
    printf 'ladder of 2^%s %s\n' "$power" "$type" >&2
    "$bin/fanin" ladder --json --type "$type" --count $((1 << power)) > "$out/ladder-$type-$power.json"
  done
done
