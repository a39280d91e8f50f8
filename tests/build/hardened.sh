#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Whether a program was linked to run at any address with all addresses of functions read-only, guards its stack and
# checks the sizes of buffers.
# usage: hardened.sh PROGRAM
set -euo pipefail
properties=$(readelf --wide --file-header --dynamic --program-headers "$1")
imports=$(nm --dynamic --undefined-only "$1")
expect() {
  if ! grep -qE "$2" <<< "$3"; then printf 'missing: %s\n' "$1"; exit 1; fi
}
expect 'any address' 'Type: +DYN' "$properties"
expect 'read-only addresses' 'GNU_RELRO' "$properties"
expect 'binding when it starts' 'FLAGS.*NOW' "$properties"
expect 'guards of the stack' '__stack_chk_fail' "$imports"
expect 'checks of sizes' '_chk@' "$imports"
