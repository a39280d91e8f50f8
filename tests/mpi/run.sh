#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh MPIRUN RANKS COMMAND...: runs the command on that many ranks of this machine, at most 100 seconds, also as root
# and on fewer cores.
mpirun=$1
ranks=$2
shift 2
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl_vader_single_copy_mechanism=none OMP_NUM_THREADS=1
exec timeout --kill-after=5 100 "$mpirun" -n "$ranks" "$@"
