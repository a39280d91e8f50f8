#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the GPU tests at small sizes under the four tools of compute-sanitizer, which ctest is too impatient for: a
# process for each tool and test case, as many at once as there are processors.
# Usage: tests/cuda/sanitize.sh FANIN_CUDA_TESTS      the tests' executable; exit 1 if a tool finds something
set -euo pipefail
tests=$1
export tests FANIN_REQUIRE_BACKENDS=cuda PATH=$PATH:/usr/local/cuda/bin
logs=$(mktemp -d)
export logs

list_cases() {  # all that a tool is to see, one a line
  "$tests" --list-test-cases -ts='contexts,cuda/ladder,exact_data,own_accumulators,pairs' \
    -tce='small sizes*,large sizes*,over 2*,*several chunks*,*large arrays*,so many*,sums of three*,host data in chunks*' |
    grep -v '^\[doctest\]\|^==='
}

run_case() {  # TOOL CASE
  local log options
  log=$logs/$1-${2//[^a-z0-9]/_}
  options=(--tool "$1" --error-exitcode 9)
  if [[ $1 == memcheck ]]; then options+=(--report-api-errors no); fi  # tests provoke such errors
  local begin=$SECONDS
  if timeout "${FANIN_SANITIZE_LIMIT:-3600}" compute-sanitizer "${options[@]}" "$tests" -tc="${2//,/?}" > "$log" 2>&1 &&
      grep -q '1 passed' "$log"; then
    printf '%s: clean: %s (%d s)\n' "$1" "$2" $((SECONDS - begin))
  else
    printf '%s: FAILED: %s (%d s; %s)\n' "$1" "$2" $((SECONDS - begin)) "$log"
    return 1
  fi
}
export -f run_case

# racecheck is a hundred times slower than the others, so it goes first, and not over millions of elements.
{
  list_cases | grep -v 'may not overlap\|two threads' | sed 's/^/racecheck\t/'
  for tool in memcheck synccheck initcheck; do list_cases | sed "s/^/$tool\t/"; done
} | tr '\t\n' '\0\0' | xargs -0 -n 2 -P "$(nproc)" bash -c 'run_case "$@"' _
