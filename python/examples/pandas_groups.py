# SPDX-License-Identifier: Apache-2.0
# needs: pandas numpy
"""A group-by of pandas with sums that do not depend on the order of the rows."""

import numpy
import pandas

import fanin


def main():
    draw = numpy.random.default_rng(1)
    frame = pandas.DataFrame({"shop": draw.choice(["east", "north", "west"], 10000),
                              "sales": draw.standard_normal(10000) * 10.0 ** draw.integers(-8, 8, 10000)})
    sums = fanin.group_sum(frame["sales"], frame["shop"])
    print(sums)
    shuffled = frame.sample(frac=1, random_state=2)
    again = fanin.group_sum(shuffled["sales"], shuffled["shop"])
    pandas.testing.assert_series_equal(again, sums, check_exact=True)
    by_pandas = shuffled.groupby("shop")["sales"].agg(fanin.sum)  # a call for each group
    pandas.testing.assert_series_equal(by_pandas, sums, check_exact=True, check_names=False)


if __name__ == "__main__":
    main()
