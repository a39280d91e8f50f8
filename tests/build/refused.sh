#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Whether the compiler refuses each line of refused.cpp that ends in `//!`, by the words behind that and with no other
# error, and warns of the results that are not used.
# usage: refused.sh REFUSED_CPP COMPILER ARGUMENT...
set -euo pipefail
source=$1
shift
said=$("$@" "$source" 2>&1 || true)
errors=$(grep ' error: ' <<<"$said" || true)
expected=$(sed -n 's,.*//! ,,p' "$source")
while read -r words; do
  grep -qF "$words" <<<"$errors" || { echo "nothing is refused by: $words"; exit 1; }
done <<<"$expected"
[ "$(wc -l <<<"$errors")" = "$(wc -l <<<"$expected")" ] || { echo "there are other errors:"; echo "$errors"; exit 1; }
grep -q nodiscard <<<"$said" || { echo "no unused result is warned of"; exit 1; }
