#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Whether a shared library exports only names of fanin, and all that its headers mark.
# usage: exports.sh LIBRARY FANIN_H
set -euo pipefail
names=$(nm --dynamic --defined-only --demangle --format=posix "$1" | sed 's/ [A-Za-z] [0-9a-f]*\( [0-9a-f]*\)\?$//')
foreign=$(grep -vE '^(fanin_|fanin::|(typeinfo|typeinfo name|vtable) for fanin::)' <<< "$names" || true)
if [[ -n $foreign ]]; then printf 'exported, but not of fanin:\n%s\n' "$foreign"; exit 1; fi
inner=$(grep -E 'fanin::(cuda|cpu|serial|openmp|tbb|cub_backend|thrust_backend)::' <<< "$names" || true)
if [[ -n $inner ]]; then printf 'exported, but private:\n%s\n' "$inner"; exit 1; fi
for name in 'fanin::reduce(' 'fanin::plan::operator()' 'fanin::incremental::push(' 'fanin::describer::push(' 'fanin::backends()' \
            'fanin::detail::fold_own(' 'typeinfo for fanin::invalid_argument'; do
  grep -qF "$name" <<< "$names" || { printf 'not exported: %s\n' "$name"; exit 1; }
done
# The exported functions of the C interface are those of fanin.h, and no others.
declared=$(grep -oE '\bfanin_[a-z0-9_]+\(' "$2" | tr -d '(' | sort -u)
exported=$(grep '^fanin_' <<< "$names" | sort -u)
diff <(printf '%s\n' "$declared") <(printf '%s\n' "$exported") || { echo 'the exported C functions are not those of fanin.h'; exit 1; }
printf '%s names of fanin\n' "$(wc -l <<< "$names")"
