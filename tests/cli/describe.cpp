// SPDX-License-Identifier: Apache-2.0
// Tests of fanin describe: a line for each column, and the same as JSON.
#include <doctest/doctest.h>

#include "tests/cli/process.hpp"

namespace fanin::cli {
namespace {

TEST_SUITE_BEGIN("describe");

TEST_CASE("columns of csv, with NaN and missing numbers") {
  const scratch_folder here;
  here.write("x.csv", "id,price\n1,0.5\n2,nan\n3,1.5\n4,NA\n");
  CHECK(here.fanin("describe x.csv --header --missing skip").out ==
        "column  count  nan  missing  min  max  sum  mean  standard_deviation\n"
        "id          4    0        0    1    4   10   2.5   1.118033988749895\n"
        "price       2    1        1  0.5  1.5    2     1                 0.5\n");
  CHECK(here.fanin("describe x.csv --column id").out ==
        "count  nan  min  max  sum  mean  standard_deviation\n"
        "    4    0    1    4   10   2.5   1.118033988749895\n");
  check_failure(here.fanin("describe x.csv --header"), 1,
                "column 'price': 'NA' is not a number of type f64; --missing skip leaves it out");
  here.write("all.csv", "all,b\n1,2\n");
  CHECK(here.fanin("describe all.csv --header").out.find("\nb ") != std::string::npos);
  here.write("y.csv", "a,b\n1,nan\n");
  CHECK(here.fanin("describe y.csv").out ==
        "column  count  nan   min   max   sum  mean  standard_deviation\n"
        "a           1    0     1     1     1     1                   0\n"
        "b           0    1  none  none  none  none                none\n");
  CHECK(parsed(here.fanin("describe y.csv --json"))[1]["max"].is_null());
  check_failure(here.shell(": >e.bin; $fanin describe e.bin --type f64"), 1, "e.bin: there is no number to describe");
  here.write("empty.csv", "");
  check_failure(here.fanin("describe empty.csv"), 1, "empty.csv: the input has no records");
}

TEST_CASE("the columns of numbers of a table as it is, from a file and a pipe") {
  const scratch_folder here;
  here.write("x.csv", "day,price,ticket\nmonday,2.5,A 7\ntuesday,3,9\n");
  const std::string table =
      "column  count  nan  min  max  sum  mean  standard_deviation\n"
      "price       2    0  2.5    3  5.5  2.75                0.25\n";
  const std::string note = "left out the columns that are not all numbers: day 'monday', ticket 'A 7'\n";
  for (const std::string command :
       {"$fanin describe x.csv --header", "$fanin describe <x.csv", "tr , ';' <x.csv | $fanin describe --column all",
        "cat x.csv | tr , '\t' | $fanin describe", "{ echo title; cat x.csv; } | $fanin describe --skip-lines 1"}) {
    CAPTURE(command);
    const finished said = here.shell(command);
    CHECK(said.out == table);
    CHECK(said.err.find(note) != std::string::npos);
    CHECK(said.err.find('\n') + 1 == said.err.size());
  }
  CHECK(here.fanin("sum x.csv").out == "5.5  price\n");
  CHECK(here.fanin("reduce min,max x.csv --column all").out == "min 2.5  price\nmax 3  price\n");
  here.write("sparse.csv", "a,b\n1,\n2,\n");
  CHECK(here.fanin("sum sparse.csv --missing skip").out == "3  a\n");
  CHECK(here.fanin("count sparse.csv --missing skip").out == "2  a\n");
  CHECK(here.fanin("median sparse.csv --missing skip").out == "1.5  a\n");
  CHECK(here.fanin("median x.csv").out == "2.75  price\n");
  CHECK(here.fanin("reduce sum,max sparse.csv --missing skip").out == "sum 3  a\nmax 2  a\n");
  CHECK(here.fanin("describe sparse.csv --missing skip").err ==
        "fanin: note: sparse.csv: left out column 'b', which has no numbers\n");
}

TEST_CASE("other inputs, and JSON") {
  const scratch_folder here;
  CHECK(here.shell("printf '3 nan 1' | $fanin describe").out ==
        "count  nan  min  max  sum  mean  standard_deviation\n"
        "    2    1    1    3    4     2                   1\n");
  const json one = parsed(here.shell("printf '\\1\\0\\2\\0' >x.bin; $fanin describe x.bin --type i16 --json"));
  CHECK(one["element_type"] == "i16");
  CHECK(one["count"] == 2);
  CHECK(one["nan"] == 0);
  CHECK(one["min"] == 1);
  CHECK(one["max"] == 2);
  CHECK(one["sum"] == 3);
  CHECK(one["mean"] == 1.5);
  CHECK(one["standard_deviation"] == 0.5);
  CHECK_FALSE(one.contains("column"));
  CHECK(parsed(here.shell("printf '1 inf' | $fanin describe --json"))["text"]["max"] == "inf");
  here.write("x.csv", "1,2\n3,4\n");
  const json both = parsed(here.fanin("describe x.csv --json"));
  REQUIRE(both.size() == 2);
  CHECK(both[1]["column"] == "2");
  CHECK(both[1]["sum"] == 6);
  here.write("large.txt", "9223372036854775807 1\n");
  CHECK(here.fanin("describe large.txt --type i64").err ==
        "fanin: warning: large.txt: the sum does not fit in 64 bits\n");
  check_failure(here.fanin("describe x.csv --backend serail"), 2, "did you mean 'serial'?");
}

TEST_CASE("a sum that does not fit leaves the other numbers of its column, and the other columns") {
  const scratch_folder here;
  here.write("x.csv", "id,price\n9223372036854775807,1\n9223372036854775805,2\n");
  const finished table = here.fanin("describe x.csv");
  CHECK(table.status == 0);
  CHECK(table.out ==
        "column  count  nan                  min                  max       sum                   mean  "
        "standard_deviation\n"
        "id          2    0  9223372036854775805  9223372036854775807  overflow  9.223372036854776e+18               "
        "    1\n"
        "price       2    0                    1                    2         3                    1.5               "
        "  0.5\n");
  CHECK(table.err ==
        "fanin: warning: x.csv: column 'id': the sum does not fit in 64 bits; --type f64 takes the numbers as f64\n");
  const json ids = parsed(here.fanin("describe x.csv --json"))[0];
  CHECK(ids["sum"].is_null());
  CHECK(ids["text"]["sum"] == "overflow");
  CHECK(ids["min"] == 9223372036854775805);
}

TEST_SUITE_END();

}  // namespace
}  // namespace fanin::cli
