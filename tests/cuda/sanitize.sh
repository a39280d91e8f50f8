#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the GPU tests at small sizes under the four tools of compute-sanitizer, which ctest is too impatient for: a
# process for each tool and test case, several at once.
# Usage: tests/cuda/sanitize.sh FANIN_CUDA_TESTS [SUITES]
#   FANIN_CUDA_TESTS   the tests' executable
#   SUITES             names of suites with commas between them; default: all suites that are small enough
# FANIN_SANITIZE_JOBS   processes at once; default: one for each processor, at most 8
# FANIN_SANITIZE_LIMIT  seconds for each process; default: 3600
# Exit 1 if a tool finds something, if a process did not run its test case, or if there is no device. A test case that
# launches no kernel is clean.
set -euo pipefail
tests=$1
of_batches=small_batches,batches_enqueued,groups_enqueued,additions_enqueued,rows_added
suites=${2:-contexts,cuda/ladder,exact_data,own_accumulators,pairs,$of_batches}
processors=$(nproc)
jobs=${FANIN_SANITIZE_JOBS:-$((processors < 8 ? processors : 8))}
export tests FANIN_REQUIRE_BACKENDS=cuda PATH=$PATH:/usr/local/cuda/bin
logs=$(mktemp -d)
export logs

fail() {
  echo "sanitize.sh: $1" >&2
  exit 1
}

too_large=(
  'small sizes*' 'large sizes*' 'over 2*' '*several chunks*' '*large arrays*' 'so many*' 'sums of three*'
  'host data in chunks*' 'results in device memory*' 'several operations*' 'a graph is replayed with other*'
  'exact sums are*' 'sums of numbers*' 'keys of all types*' 'exact results*' 'sums are exact*')
list_cases() {  # SUITES: all that a tool is to see, one a line
  "$tests" --list-test-cases -ts="$1" -tce="$(IFS=,; echo "${too_large[*]}")" |
    grep -v '^\[doctest\]\|^===' || true
}

run_case() {  # TOOL CASE
  local log options
  log=$logs/$1-${2//[^a-zA-Z0-9]/_}
  options=(--tool "$1" --error-exitcode 9)
  if [[ $1 == memcheck ]]; then options+=(--report-api-errors no); fi  # tests provoke such errors
  local begin=$SECONDS
  if timeout "${FANIN_SANITIZE_LIMIT:-3600}" compute-sanitizer "${options[@]}" "$tests" -tc="${2//,/?}" > "$log" 2>&1 &&
      grep -q '1 passed' "$log"; then
    printf '%s: clean: %s (%d s)\n' "$1" "$2" $((SECONDS - begin))
  else
    printf '%s: FAILED: %s (%d s; %s)\n' "$1" "$2" $((SECONDS - begin)) "$log"
    grep '^=========' "$log" | head -12 || true
    return 1
  fi
}
export -f run_case

[[ -x $tests ]] || fail "$tests is no program"
command -v compute-sanitizer > /dev/null || fail "compute-sanitizer was not found"
IFS=, read -ra names <<< "$suites"
for suite in "${names[@]}"; do
  [[ -n $(list_cases "$suite") ]] || fail "the suite $suite has no test case"
done
cases=$(list_cases "$suites")
# Under racecheck a kernel takes a hundred times as long as under the other tools. So it goes first, and not over
# millions of elements.
for_racecheck=$(grep -v 'may not overlap\|two threads' <<< "$cases" || true)
[[ -n $for_racecheck ]] || fail "there is nothing to run for racecheck"
runs=$({
  sed 's/^/racecheck\t/' <<< "$for_racecheck"
  for tool in memcheck synccheck initcheck; do sed "s/^/$tool\t/" <<< "$cases"; done
})
status=0
tr '\t\n' '\0\0' <<< "$runs" | xargs -0 -n 2 -P "$jobs" bash -c 'run_case "$@"' _ || status=1
printf 'ran %d test cases of %s in %d s, by tool:%s\n' "$(wc -l <<< "$cases")" "$suites" "$SECONDS" \
  "$(cut -f 1 <<< "$runs" | sort | uniq -c | awk '{printf " %s %s", $2, $1}')"
exit $status
