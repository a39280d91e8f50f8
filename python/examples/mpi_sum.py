# SPDX-License-Identifier: Apache-2.0
# needs: mpi4py numpy
"""An exact sum over the ranks of MPI by one all-reduce of integers: mpirun -n 4 python mpi_sum.py"""

import numpy
from mpi4py import MPI

import fanin


def main():
    world = MPI.COMM_WORLD
    numbers = numpy.random.default_rng(1).standard_normal(100000) * 1e10
    share = numpy.array_split(numbers, world.size)[world.rank]
    lanes = fanin.State(share).lanes()
    world.Allreduce(MPI.IN_PLACE, lanes, MPI.SUM)
    total = fanin.State.from_lanes(lanes)
    assert total.value() == float(fanin.sum(numbers)) and total.count == len(numbers)
    if world.rank == 0:
        print("%d ranks: %r" % (world.size, total.value()))


if __name__ == "__main__":
    main()
