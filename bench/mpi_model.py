#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cost of a sum over many ranks, from measurements of few ranks of this machine.

    mpi_model.py FOLDER        reads the output of mpi_sums from FOLDER/ranks-1.txt, ranks-2.txt, ...

An all-reduce of P ranks is ceil(log2 P) rounds of latency + bytes / bandwidth; a call adds what it does on its own
rank, which a run of one rank measures. The first round's latency and bandwidth come from the calls of two ranks.
The ranks of later rounds are further apart, so their latency and bandwidth come from the calls of four ranks. The model
predicts all runs, and ends with status 1 if a small call is more than 20 % off. Vectors of larger calls leave the
caches, and ranks compete for memory. The model also gives the cost over a network, whose latency and bandwidth are
assumptions (options)."""
import argparse
import math
import pathlib
import statistics
import sys

SMALL = 65536  # elements; 512 KiB
WITHIN = 0.2
SIZES = (8, 32 * 8)  # bytes of a plain and of an exact sum


def read(path):
    """The ranks, the time of a bare all-reduce of each way, and (plain, exact) by number of elements, in us."""
    ranks, bare, sums = 0, [], {}
    for line in path.read_text().splitlines():
        words = line.split()
        if line.startswith("ranks "):
            ranks = int(words[1])
        elif line.startswith("MPI_Allreduce of "):
            bare = [float(word) for word in words[-3:-1]]
        elif line.startswith("sum "):
            sums[int(words[1])] = (float(words[2]), float(words[3]))
    return ranks, bare, sums


def rounds(ranks):
    return math.ceil(math.log2(ranks))


def cost(of_round, size):
    latency, per_byte = of_round
    return latency + size * per_byte


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--latency", type=float, default=1.5, help="of a round over the network, in us")
    parser.add_argument("--bandwidth", type=float, default=10, help="of the network, in GB/s")
    given = parser.parse_args()
    runs = sorted(read(path) for path in given.folder.glob("ranks-*.txt"))
    alone = next(sums for ranks, _, sums in runs if ranks == 1)
    of_one = next(bare for ranks, bare, _ in runs if ranks == 1)
    # A run of one rank has called MPI_Allreduce, which sends nothing then.
    own = {n: [time - bare for time, bare in zip(both, of_one)] for n, both in alone.items()}

    def fit(ranks, earlier):
        """(latency, us for each byte) of the last round, from the calls of so many ranks."""
        sums = next((sums for measured, _, sums in runs if measured == ranks), None)
        if sums is None:
            return earlier
        before = [0, 0] if earlier is None else [cost(earlier, size) for size in SIZES]
        plain, exact = (statistics.median(sums[n][way] - own[n][way] - before[way] for n in sums if n <= SMALL / 8)
                        for way in (0, 1))
        per_byte = (exact - plain) / (SIZES[1] - SIZES[0])
        return plain - SIZES[0] * per_byte, per_byte

    first = fit(2, None)
    later = fit(4, first)
    for name, (latency, per_byte) in (("the first round", first), ("a later round", later)):
        print(f"{name}: {latency:.2f} us + {1000 * per_byte:.2f} us for 1000 bytes")
    worst = 0
    print("ranks  elements  way    measured  predicted  error")
    for ranks, _, sums in runs:
        for n, measured in sums.items() if ranks > 1 else ():
            for way, name in enumerate(("plain", "exact")):
                predicted = own[n][way] + cost(first, SIZES[way]) + (rounds(ranks) - 1) * cost(later, SIZES[way])
                error = predicted / measured[way] - 1
                if n <= SMALL:
                    worst = max(worst, abs(error))
                print(f"{ranks:5} {n:9}  {name}  {measured[way]:9.2f}  {predicted:9.2f}  {100 * error:+4.0f} %")
    print(f"up to {SMALL} elements: at most {100 * worst:.0f} % off")
    print(f"over a network of {given.latency} us and {given.bandwidth} GB/s:")
    print("  ranks  elements     plain     exact  exact/plain")
    for ranks in (100, 10**4, 10**5, 10**6):
        for n in (1, 1024, 65536):
            each = [own[n][way] + rounds(ranks) * (given.latency + size / given.bandwidth / 1000)
                    for way, size in enumerate(SIZES)]
            print(f"{ranks:7} {n:9} {each[0]:9.2f} {each[1]:9.2f} {each[1] / each[0]:12.2f}")
    return worst > WITHIN


if __name__ == "__main__":
    sys.exit(main())
