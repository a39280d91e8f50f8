// SPDX-License-Identifier: Apache-2.0
// Tests of the output and the errors of fanin count, median and quantile. quantile_values.py tests the values.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "cli/input/npy.hpp"
#include "tests/cli/process.hpp"

namespace fanin::cli {
namespace {

TEST_SUITE_BEGIN("quantiles");

TEST_CASE("count: the numbers that take part, of each column and file") {
  const scratch_folder here;
  here.write("t.csv", "name,a,b\nx,1,NA\ny,nan,2\nz,3,4.5\n");
  CHECK(here.shell("seq 70000 | $fanin count").out == "70000\n");
  CHECK(here.fanin("count t.csv --column a").out == "3\n");
  CHECK(here.fanin("count t.csv --column a --nan skip").out == "2\n");
  CHECK(here.fanin("count t.csv --column a,b --missing skip").out == "3  a\n2  b\n");
  const json both = parsed(here.fanin("count t.csv --column a,b --missing skip --nan skip --json"));
  CHECK(both[0]["value"] == 2);
  CHECK(both[0]["absent"] == 1);
  CHECK(both[0]["count"] == 3);
  CHECK(both[1]["missing"] == 1);
  CHECK(both[1]["element_type"] == "f64");
  CHECK(here.shell("seq 3 >a.txt; seq 5 >b.txt; $fanin count a.txt b.txt").out == "3  a.txt\n5  b.txt\n");
  CHECK(here.shell("printf '1+2j nan+1j' | $fanin count --type c128 --nan skip").out == "1\n");
  here.write("e.npy", write_npy_header(element_type::f32, 0));
  CHECK(here.fanin("count e.npy").out == "0\n");
}

TEST_CASE("median and quantile: a line for each share, column and file") {
  const scratch_folder here;
  here.write("t.csv", "a,b\n4,0.5\n1,nan\n3,0.25\n2,8\n");
  CHECK(here.fanin("median t.csv --column a").out == "2.5\n");
  CHECK(here.fanin("median t.csv --column all").out == "2.5  a\nnan  b\n");
  CHECK(here.fanin("median t.csv --column b --nan skip").out == "0.5\n");
  CHECK(here.fanin("quantile 1 t.csv --column a").out == "4\n");
  CHECK(here.fanin("quantile 0.1,.5,1.0 t.csv --column a").out == "0.1 1.3\n.5 2.5\n1.0 4\n");
  CHECK(here.fanin("quantile 0,1 t.csv --column a,b --nan skip").out == "0 1  a\n1 4  a\n0 0.25  b\n1 8  b\n");
  CHECK(here.shell("seq 11 | $fanin quantile 0.9 - --type f32").out == "10\n");
  CHECK(here.shell("echo 9007199254740993 9007199254740993 | $fanin median").out == "9007199254740992\n");
  const json all = parsed(here.fanin("quantile 0.25,0.75 t.csv --column a --json"));
  CHECK(all[1]["operation"] == "quantile");
  CHECK(all[1]["q"] == 0.75);
  CHECK(all[1]["value"] == 3.25);
  CHECK(all[1]["value_hex"] == "0x1.ap+1");
  CHECK(all[1]["element_type"] == "i64");
  CHECK(parsed(here.fanin("median t.csv --column a --json"))["value_text"] == "2.5");
  const std::string warning = here.shell("echo 9007199254740993 0.5 | $fanin median").err;
  CHECK(warning.find("1 integer and decimals were rounded") == std::string::npos);
  CHECK(warning.find("warning: standard input: 1 integer was rounded to f64") != std::string::npos);
}

TEST_CASE("count, median and quantile: of files together, groups, rows and segments, and next to operations") {
  const scratch_folder here;
  here.write("a.csv", "k,a,b\nx,4,0.5\ny,1,nan\nx,3,NA\nz,2,NA\n");
  here.write("b.csv", "k,a,b\ny,9,1\ny,0.5,3\n");
  const std::string columns = " --column a,b --missing skip --nan skip ";
  CHECK(here.fanin("median a.csv --by k" + columns).out == "k,a_median,b_median\nx,3.5,0.5\ny,1,nan\nz,2,nan\n");
  CHECK(here.fanin("count a.csv b.csv --together --by k" + columns).out ==
        "k,a_count,b_count\nx,2,1\ny,3,2\nz,1,0\n");
  CHECK(here.fanin("quantile 0,.75 a.csv --column a --by k --csv").out ==
        "k,a_quantile:0,a_quantile:.75\nx,3,3.75\ny,1,1\nz,2,2\n");
  CHECK(here.fanin("median a.csv b.csv --together" + columns).out == "2.5  a\n1  b\n");
  CHECK(here.fanin("reduce sum,median,count,quantile:0.25,max a.csv --column a").out ==
        "sum 10\nmedian 2.5\ncount 4\nquantile:0.25 1.75\nmax 4\n");
  CHECK(here.fanin("reduce max,median,argmin,count a.csv --column a --by k").out ==
        "k,a_max,a_median,a_argmin,a_argmin_element,a_argmin_line,a_count\nx,4,3.5,2,3,4,2\ny,1,1,1,1,3,1\n"
        "z,2,2,3,2,5,1\n");
  const json all = parsed(here.fanin("quantile 0.5,1 a.csv --column a --by k --json"));
  CHECK(all[1]["operation"] == "quantile");
  CHECK(all[1]["q"] == 1.0);
  CHECK(all[1]["variant"] == "selection");
  CHECK(all[1]["groups"][0] == json{{"key", "x"}, {"value", 4.0}, {"value_text", "4"}});
  // Two files of different types become one type, and so do integers that are followed by numbers with fractions.
  CHECK(here.shell("echo 18446744073709551615 3 >u.txt; echo 1 2 >i.txt; $fanin median u.txt i.txt --together").out ==
        "2.5\n");
  CHECK(here.shell("echo 18446744073709551615 -1 | $fanin quantile 1").out == "1.8446744073709552e+19\n");
  // Rows, also in Fortran order, segments and groups have quantiles too.
  here.shell("seq 12 >s.txt");
  CHECK(here.fanin("median s.txt --axis 0 --shape 3,4").out == "5\n6\n7\n8\n");
  CHECK(here.fanin("reduce count,quantile:0.1,sum s.txt --axis 1 --shape 3,4").out ==
        "4 1.3 10\n4 5.3 26\n4 9.3 42\n");
  const double column_order[] = {1, 4, 2, 5, 3, 6};
  std::string fortran = write_npy_header(element_type::f64, std::vector<std::size_t>{2, 3});
  fortran.replace(fortran.find("False"), 5, "True ");
  here.write("f.npy", fortran + std::string(reinterpret_cast<const char*>(column_order), sizeof column_order));
  CHECK(here.shell("FANIN_BACKEND=cuda $fanin median f.npy --axis 1").out == "2\n5\n");
  const std::int64_t keys[] = {2, 0, 2, 9, 2, 0}, offsets[] = {0, 0, 4, 6};
  here.write("k.npy",
             write_npy_header(element_type::i64, 6) + std::string(reinterpret_cast<const char*>(keys), sizeof keys));
  here.write("o.npy", write_npy_header(element_type::i64, 4) +
                          std::string(reinterpret_cast<const char*>(offsets), sizeof offsets));
  here.shell("seq 6 >x.txt");
  CHECK(here.fanin("median x.txt --keys k.npy --groups 3 --drop-others").out == "4\nnan\n3\n");
  CHECK(here.fanin("count x.txt --keys k.npy --groups 3 --drop-others").out == "2\n0\n3\n");
  check_failure(here.fanin("median x.txt --keys k.npy --groups 3"), 1, "9");
  CHECK(here.fanin("median x.txt --segments o.npy --output m.npy").status == 0);
  CHECK(here.fanin("reduce max,count m.npy --nan skip").out == "max 5.5\ncount 2\n");
  check_failure(here.fanin("reduce median,sum x.txt --backend serial"), 2, "compute it alone with 'fanin median'");
  check_failure(here.fanin("reduce quantile x.txt"), 2, "quantile needs its number, as in quantile:0.9");
  check_failure(here.fanin("reduce sum,medain x.txt"), 2, "did you mean 'median'?");
  check_failure(here.fanin("quantile 0,1 x.txt --axis 0 -o q.npy"), 2, "--output takes one operation, not 2");
}

TEST_CASE("median and quantile: what is refused") {
  const scratch_folder here;
  here.write("x.txt", "1 2 3\n");
  here.write("e.npy", write_npy_header(element_type::f64, 0));
  for (const std::string q : {"90", "1.5", "-0.1", "x", ".", "''", "0.5,", "1e-1", "0.1234567890123456789"}) {
    CAPTURE(q);
    check_failure(here.fanin("quantile " + q + " x.txt"), 2, "");
  }
  check_failure(here.fanin("quantile 90 x.txt"), 2,
                "a quantile is a number from 0 to 1 such as 0.5, with at most 18 digits");
  check_failure(here.fanin("quantile x.txt"), 2, "a quantile is a number from 0 to 1");
  check_failure(here.fanin("median e.npy"), 1, "e.npy: median of an empty array");
  check_failure(here.fanin("median x.txt --type f64 --nan ski"), 2, "did you mean 'skip'?");
  check_failure(here.shell("echo nan | $fanin median --nan skip"), 1, "median of no elements: all are left out");
  check_failure(here.shell("echo 1+2j | $fanin median --type c64"), 2, "median needs real numbers; these are c64");
  check_failure(here.fanin("median - - <x.txt"), 2, "standard input is named twice");
  for (const std::string name : {"median", "quantile"}) {
    CHECK(here.fanin("help " + name).out.find("8 bytes for each") != std::string::npos);
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace fanin::cli
