#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Whether the folders include only from themselves and from the folders that stand behind them here; all may include
# public headers. What is not here, as tests and most of the command, may include from any folder. In the command
# one header alone includes the parser of JSON, and one the parser of command lines.
# usage: include_directions.sh SOURCE_FOLDER
set -euo pipefail
cd "$1"
status=0
while read -r folder below; do
  files=$(find "$folder" -name '*.[ch]*' -o -name '*.in')
  [[ -n $files ]] || { printf 'there are no sources in %s\n' "$folder"; exit 1; }
  allowed=$(tr ' ' '|' <<< "$folder $below")
  wrong=$(grep -nE '^ *# *include "' $files | grep -vE "include \"($allowed)/" || true)
  [[ -z $wrong ]] || { printf '%s\n' "$wrong"; status=1; }
done << 'END'
include
base
backends base
measure base
oracle base
cli/kit base measure
cli/input base cli/kit
END
while read -r header library; do
  wrong=$(grep -rnE "^ *# *include <$library/" cli | grep -v "^$header:" || true)
  [[ -z $wrong ]] || { printf '%s\n' "$wrong"; status=1; }
done << 'END'
cli/kit/json.hpp nlohmann
cli/kit/parser.hpp CLI
END
exit $status
