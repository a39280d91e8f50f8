# SPDX-License-Identifier: Apache-2.0
# needs: pandas numpy
"""A group-by of pandas with sums that do not depend on the order of the rows."""

import numpy
import pandas

import fanin


def exact_group_sum(frame, by, column):
    keys, names = pandas.factorize(frame[by], sort=True)
    return pandas.Series(fanin.group_sum(frame[column].to_numpy(), keys, len(names)), index=names, name=column)


def main():
    draw = numpy.random.default_rng(1)
    frame = pandas.DataFrame({"shop": draw.choice(["east", "north", "west"], 10000),
                              "sales": draw.standard_normal(10000) * 10.0 ** draw.integers(-8, 8, 10000)})
    sums = exact_group_sum(frame, "shop", "sales")
    print(sums)
    shuffled = frame.sample(frac=1, random_state=2)
    pandas.testing.assert_series_equal(exact_group_sum(shuffled, "shop", "sales"), sums, check_exact=True)


if __name__ == "__main__":
    main()
