#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Prints what a release costs, and fails above the limit that budgets.txt names.
# usage: check.sh kernels_NAME OBJECT...    counts the kernels of object files and archives
#        check.sh program_NAME PROGRAM      runs the program, and counts its bytes without symbols for a debugger
#        check.sh wheel_NAME FILE...        counts compressed bytes: those of objects, without symbols for a debugger, twice
set -euo pipefail
name=$1
shift
limit=$(awk -v name="$name" '$1 == name { print $2 }' "$(dirname "${BASH_SOURCE[0]}")/budgets.txt")
case $name in
  kernels_*)
    # nvcc makes a function for the host, whose name has these two parts, of every kernel.
    found=$(nm "$@" | awk '/__device_stub__/ && /__handle/ { ++kernels } END { print kernels + 0 }')
    ((found > 0)) || { echo "no kernel was found in $*"; exit 1; }
    ;;
  program_*)
    "$1"
    released=$(mktemp)
    trap 'rm "$released"' EXIT
    strip -o "$released" "$1"
    found=$(stat --format %s "$released")
    ;;
  wheel_*)
    found=0
    stripped=$(mktemp)
    trap 'rm "$stripped"' EXIT
    for file in "$@"; do
      if [[ $file == *.o ]]; then # the library of the wheel has it, and the command
        strip -g -o "$stripped" "$file"
        ((found += 2 * $(gzip -9 <"$stripped" | wc -c)))
      else
        ((found += $(gzip -9 <"$file" | wc -c)))
      fi
    done
    ;;
esac
echo "$name: $found of at most $limit"
((found <= limit))
