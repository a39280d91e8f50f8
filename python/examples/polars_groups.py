# SPDX-License-Identifier: Apache-2.0
# needs: polars numpy
"""A group-by of polars with sums that do not depend on the order of the rows."""

import numpy
import polars

import fanin


def exact_group_sum(frame, by, column):
    names, sums = fanin.group_sum(frame[column], frame[by])
    return polars.DataFrame({by: names, column: sums})


def main():
    draw = numpy.random.default_rng(1)
    frame = polars.DataFrame({"shop": draw.choice(["east", "north", "west"], 10000),
                              "sales": draw.standard_normal(10000) * 10.0 ** draw.integers(-8, 8, 10000)})
    sums = exact_group_sum(frame, "shop", "sales")
    print(sums)
    assert exact_group_sum(frame.sample(fraction=1, shuffle=True, seed=2), "shop", "sales").equals(sums)


if __name__ == "__main__":
    main()
