# SPDX-License-Identifier: Apache-2.0
# needs: duckdb pyarrow
"""An exact sum of a column of DuckDB: its batches are Arrow arrays, which a state adds where they lie."""

import duckdb

import fanin


def exact_sum(query):
    state = fanin.State(dtype="f64")
    for batch in duckdb.sql(query).to_arrow_table().to_batches():
        state.add(batch.column(0))
    return state


def main():
    query = "select (hash(i) % 1000003)::double * pow(10, i % 20) as x from range(100000) t(i)"
    forward, backward = exact_sum(query + " order by i"), exact_sum(query + " order by i desc")
    print(forward.value(), forward.count)
    assert forward.save() == backward.save() and forward.count == 100000


if __name__ == "__main__":
    main()
