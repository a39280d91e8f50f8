# SPDX-License-Identifier: Apache-2.0
# needs: pyspark numpy java
"""An exact sum of the numbers of a Spark job on this machine: partitions become integers, which Spark adds in a tree.

Spark 4 needs Java 17."""

import os
import sys

import numpy
from pyspark.sql import SparkSession

import fanin


def lanes_of(partition):
    """The state of a partition's rows as int64 lanes."""
    yield fanin.State(numpy.fromiter((row.amount for row in partition), float)).lanes()


def exact_sum(frame):
    """The sum of the column `amount` with the bits of one sum over all rows, whatever the partitions."""
    lanes = frame.select("amount").rdd.mapPartitions(lanes_of).treeReduce(numpy.add)
    return fanin.State.from_lanes(lanes).value()


def main():
    os.environ["PYSPARK_PYTHON"] = sys.executable
    numbers = numpy.random.default_rng(1).standard_normal(10000) * 1e10
    spark = (SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
             .config("spark.driver.host", "localhost").getOrCreate())
    try:
        frame = spark.createDataFrame([(float(x),) for x in numbers], "amount double")
        totals = {parts: exact_sum(frame.repartition(parts)) for parts in (1, 3, 8)}
    finally:
        spark.stop()
    print(totals)
    assert set(totals.values()) == {float(fanin.sum(numbers))}


if __name__ == "__main__":
    main()
