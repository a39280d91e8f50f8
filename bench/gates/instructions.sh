#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Counts the instructions of one-thread reductions with callgrind. The counts may differ by 2 % from instructions.txt.
# Usage: instructions.sh [--update] fanin_gate_call BUILD
# BUILD names the compiler and its options. --update writes instructions.txt instead. Exit status 77 means that the
# counts of this build cannot be compared with it.
set -euo pipefail

table=$(dirname "${BASH_SOURCE[0]}")/instructions.txt
update=false
if [[ $1 == --update ]]; then
  update=true
  shift
fi
program=$1 build=$2

skip() {
  printf 'fanin: skipped: %s\n' "$*"
  exit 77
}

command -v valgrind > /dev/null || skip "valgrind was not found"
known=$(sed -n 's/^# Build: //p' "$table")
[[ $update == true || $build == "$known" ]] || skip "the table is for $known, this is $build"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# count VARIANT OPERATION TYPE METHOD COUNT prints the number of instructions.
count() {
  local status=0
  valgrind --quiet --tool=callgrind --callgrind-out-file="$scratch/counts" --toggle-collect=fanin_counted_call \
    "$program" "$@" || status=$?
  ((status != 77)) || skip "this machine has no AVX2"
  ((status == 0)) || exit 1
  sed -n 's/^\(totals\|summary\): //p' "$scratch/counts" | head -n 1
}

wrong=0
{
  sed "/^#/!d; s/^# Build: .*/# Build: $build/" "$table"
  while read -r name before; do
    IFS=/ read -r -a axes <<< "$name"
    now=$(count "${axes[@]:1}")
    printf '%-44s %9d\n' "$name" "$now"
    awk -v name="$name" -v before="$before" -v now="$now" -v update="$update" 'BEGIN {
      change = before > 0 ? 100 * (now - before) / before : 100
      bad = change > 2 || change < -2
      printf "%-44s %9d instead of %9d: %+.2f %%%s\n", name, now, before, change, bad && update != "true" ? "  FAILED" : ""
      exit bad
    }' >&2 || wrong=1
  done < <(grep -v '^#' "$table")
} > "$scratch/table"

if [[ $update == true ]]; then
  cp "$scratch/table" "$table"
elif ((wrong)); then
  printf 'If that is meant, this writes the table anew: %s --update %s "%s"\n' "$0" "$program" "$build" >&2
  exit 1
fi
