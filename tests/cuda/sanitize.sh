#!/usr/bin/env bash
# Runs the GPU tests under the four tools of compute-sanitizer, which ctest is too impatient for.
# Usage: tests/cuda/sanitize.sh FANIN_CUDA_TESTS      the tests' executable; ten minutes; exit 1 if a tool finds something
set -uo pipefail
tests=$1
export FANIN_REQUIRE_BACKENDS=cuda PATH=$PATH:/usr/local/cuda/bin
status=0
# racecheck is a hundred times slower than the others: special values only, on every stage and method.
for run in 'memcheck|*' 'synccheck|*' 'initcheck|*' 'racecheck|*special values*'; do
  tool=${run%%|*} cases=${run##*|}
  options=(--tool "$tool" --error-exitcode 9)
  if [[ $tool == memcheck ]]; then options+=(--report-api-errors no); fi  # tests provoke such errors
  if compute-sanitizer "${options[@]}" "$tests" -ts='contexts,cuda/ladder' -tc="$cases" \
      -tce='*large sizes*,over 2*,*several chunks*' > "/tmp/sanitize-$tool.txt" 2>&1; then
    printf '%s: %s, %s\n' "$tool" "$(grep 'ERROR SUMMARY\|RACECHECK SUMMARY' "/tmp/sanitize-$tool.txt" | sed 's/=* *//')" \
      "$(grep 'test cases' "/tmp/sanitize-$tool.txt" | sed 's/.doctest. //')"
  else
    printf '%s: failed\n' "$tool"
    tail -n 30 "/tmp/sanitize-$tool.txt"
    status=1
  fi
done
exit $status
