#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a sum over many ranks costs, from what few ranks of this machine measure.

    mpi_model.py FOLDER        reads the output of mpi_sums from FOLDER/ranks-1.txt, ranks-2.txt, ...

An all-reduce of P ranks is ceil(log2 P) rounds of latency + bytes / bandwidth; a call adds what it does on its own rank,
which a run of one rank measures. The model takes latency and bandwidth from two ranks, predicts the calls of all other
runs, and what the same costs over a network, whose latency and bandwidth are assumptions (options)."""
import argparse
import math
import pathlib

PLAIN_BYTES, EXACT_BYTES = 8, 31 * 8


def read(path):
    """The ranks, the times of bare all-reduces, and (plain, exact) by number of elements, in microseconds."""
    ranks, bare, sums = 0, [], {}
    for line in path.read_text().splitlines():
        words = line.split()
        if line.startswith("ranks "):
            ranks = int(words[1])
        elif line.startswith("MPI_Allreduce of "):
            bare = [float(word) for word in words[-3:]]
        elif line.startswith("sum "):
            sums[int(words[1])] = (float(words[2]), float(words[3]))
    return ranks, bare, sums


def rounds(ranks):
    return math.ceil(math.log2(ranks))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--latency", type=float, default=1.5, help="of a round over the network, in us")
    parser.add_argument("--bandwidth", type=float, default=10, help="of the network, in GB/s")
    given = parser.parse_args()
    runs = sorted(read(path) for path in given.folder.glob("ranks-*.txt"))
    alone = next(sums for ranks, _, sums in runs if ranks == 1)
    of_one = next(bare for ranks, bare, _ in runs if ranks == 1)
    of_two = next(bare for ranks, bare, _ in runs if ranks == 2)
    per_byte = (of_two[1] - of_two[0]) / (EXACT_BYTES - PLAIN_BYTES)
    latency = of_two[0] - PLAIN_BYTES * per_byte
    # A run of one rank has called MPI_Allreduce, which sends nothing then.
    own = {n: (plain - of_one[0], exact - of_one[1]) for n, (plain, exact) in alone.items()}

    print(f"a round: {latency:.2f} us + {1000 * per_byte:.2f} us for 1000 bytes")
    print("ranks  elements  way    measured  predicted  error")
    for ranks, _, sums in runs:
        if ranks == 1:
            continue
        for n, measured in sums.items():
            for way, (name, size) in enumerate((("plain", PLAIN_BYTES), ("exact", EXACT_BYTES))):
                predicted = own[n][way] + rounds(ranks) * (latency + size * per_byte)
                error = predicted / measured[way] - 1
                print(f"{ranks:5} {n:9}  {name}  {measured[way]:9.2f}  {predicted:9.2f}  {100 * error:+4.0f} %")
    print(f"over a network of {given.latency} us and {given.bandwidth} GB/s:")
    print("  ranks  elements     plain     exact  exact/plain")
    for ranks in (100, 10**4, 10**5, 10**6):
        for n in (1, 1024, 65536):
            each = [own[n][way] + rounds(ranks) * (given.latency + size / given.bandwidth / 1000)
                    for way, size in enumerate((PLAIN_BYTES, EXACT_BYTES))]
            print(f"{ranks:7} {n:9} {each[0]:9.2f} {each[1]:9.2f} {each[1] / each[0]:12.2f}")


if __name__ == "__main__":
    main()
