#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Whether fanin.h has the functions and the enumerators, with their values, that interface.txt lists, and no others.
# usage: frozen.sh FANIN_H INTERFACE_TXT
set -euo pipefail
{
  grep -oE '\bfanin_[a-z0-9_]+\(' "$1" | tr -d '('
  grep -oE '\bFANIN_[A-Z0-9_]+ = -?[0-9]+' "$1"
} | LC_ALL=C sort -u | diff "$2" -
