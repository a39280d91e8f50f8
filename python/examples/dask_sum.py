# SPDX-License-Identifier: Apache-2.0
# needs: dask distributed numpy
"""An exact sum of a Dask array on a local cluster: chunks become states, which a tree of tasks merges."""

import dask
import dask.array
import numpy
from dask.distributed import Client, LocalCluster

import fanin


def state_of(chunk):
    """The state of a chunk, which a worker may have received at an address that is not aligned."""
    return fanin.State(numpy.require(chunk, requirements="CA"))


def exact_sum(x):
    """The sum of a Dask array with the bits of one sum over all of its numbers, whatever the chunks."""
    states = [dask.delayed(state_of)(chunk) for chunk in x.to_delayed().ravel()]
    while len(states) > 1:
        states = [dask.delayed(fanin.State.__add__)(*pair) if len(pair) == 2 else pair[0]
                  for pair in (states[i:i + 2] for i in range(0, len(states), 2))]
    return states[0].compute().value()


def main():
    numbers = numpy.random.default_rng(1).standard_normal((400, 500)) * 1e10
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        with Client(cluster):
            totals = {chunks: exact_sum(dask.array.from_array(numbers, chunks=chunks)) for chunks in (100, 130, 400)}
    print(totals)
    assert set(totals.values()) == {float(fanin.sum(numbers))}


if __name__ == "__main__":
    main()
