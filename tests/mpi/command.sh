#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# command.sh MPIRUN FANIN FANIN_MPI KILLED FOLDER: the command over MPI prints what `fanin` prints for any number of
# ranks, and where a rank has other files or options, or is killed, ends with one line of its own and an error.
set -u
mpirun=$1 fanin=$2 fanin_mpi=$3 killed=$4 folder=$5
run=$(dirname "$0")/run.sh
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder" || exit 1
wrong=0
complain() {
  echo "wrong: $*"
  wrong=1
}

# same RANKS OPERATION ARGUMENTS: `fanin` and `fanin_mpi` print the same.
same() {
  local ranks=$1 expected got
  shift
  expected=$("$fanin" "$@") || complain "fanin $*"
  got=$("$run" "$mpirun" "$ranks" "$fanin_mpi" "$@") || complain "status of $ranks: $*"
  [[ $got == "$expected" ]] || complain "$ranks ranks: $*: $got instead of $expected"
}

# refused PATTERN RANKS ARGUMENTS: an error, and one line that has the pattern.
refused() {
  local pattern=$1 ranks=$2 status=0
  shift 2
  "$run" "$mpirun" "$ranks" "$@" > out 2> err || status=$?
  [[ $status != 0 && $status != 124 && $status != 137 ]] || complain "status $status of $*"
  [[ $(grep -c '^fanin: ' err) == 1 ]] || complain "not one line of $*: $(cat err)"
  grep -q "^fanin: .*$pattern" err || complain "no '$pattern' of $*: $(cat err)"
  [[ ! -s out ]] || complain "output of $*"
}

"$fanin" generate wide --count 1001 -o x.npy && "$fanin" generate uniform --count 1001 -o y.npy || exit 1
tail -c 8008 x.npy > x.bin
head -c 7200 x.bin > short.bin
head -c 8000 x.npy > short.npy
: > empty.bin

same 1 sum x.npy
same 7 sum x.npy
same 3 dot x.npy y.npy
same 7 argmax x.npy
same 2 variance x.npy --nan skip
same 5 sum x.bin --type f32 --result f64
same 3 max x.bin --type i16
same 3 sum empty.bin --type f64
value() { "$run" "$mpirun" "$1" "$fanin_mpi" sum x.npy --json | grep -E '"(value_hex|count|ranks)"'; }
[[ $(value 1 | grep -v ranks) == $(value 7 | grep -v ranks) ]] || complain "JSON of 1 and 7 ranks"
value 7 | grep -q '"ranks": 7' || complain "JSON has no ranks: $(value 7)"

sum=("$fanin_mpi" sum)
refused '900 elements on one rank, and 1001 on another' 2 "${sum[@]}" x.bin --type f64 : -n 1 "${sum[@]}" short.bin --type f64
refused 'short.npy' 1 "${sum[@]}" x.npy : -n 2 "${sum[@]}" short.npy
refused 'rank 2: none.npy' 2 "${sum[@]}" x.npy : -n 1 "${sum[@]}" none.npy
refused 'different operations, types or options' 2 "${sum[@]}" x.npy : -n 1 "${sum[@]}" x.npy --nan skip
refused 'different operations, types or options' 1 "${sum[@]}" x.npy : -n 2 "$fanin_mpi" mean x.npy
refused 'abacus' 2 "${sum[@]}" x.npy : -n 1 "${sum[@]}" x.npy --backend abacus
refused 'min of an empty array' 3 "$fanin_mpi" min empty.bin --type f64
refused "unknown operation 'sun'; did you mean 'sum'" 3 "$fanin_mpi" sun x.npy
refused "unknown option '--thread'; did you mean '--threads'" 3 "${sum[@]}" x.npy --thread 2
refused "threads needs a value: write '--threads NUMBER'; see 'fanin_mpi --help'" 3 "${sum[@]}" x.npy --threads
refused "FILE is missing: write 'fanin_mpi OPERATION FILE...'" 3 "${sum[@]}"
refused 'product' 3 "$fanin_mpi" product x.npy

status=0
"$run" "$mpirun" 3 "$killed" > out 2> err || status=$?
[[ $status != 0 && $status != 124 ]] || complain "status $status after a rank was killed"
exit $wrong
