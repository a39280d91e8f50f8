// SPDX-License-Identifier: Apache-2.0
// Tests of --by: groups of tables by the text of their columns.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "cli/input/npy.hpp"
#include "tests/cli/process.hpp"

namespace fanin::cli {
namespace {

TEST_SUITE_BEGIN("table_groups");

TEST_CASE("groups of a table by the text of its columns") {
  const scratch_folder here;
  here.write("t.csv",
             "region,year,amount\n"
             "north,2024,1\n"
             "south,2023,2\n"
             "\"north\",2023,3\n"
             "\"a \"\"b\"\", c\",2024,4\n"
             "\n"
             "south,2023,5.5\n");
  const std::string table = "t.csv --column amount ";
  CHECK(here.fanin("sum " + table + "--by region").out ==
        "region,amount_sum\nnorth,4\nsouth,7.5\n\"a \"\"b\"\", c\",4\n");
  CHECK(here.fanin("sum " + table + "--by region --method fast --sort-keys").out ==
        "region,amount_sum\n\"a \"\"b\"\", c\",4\nnorth,4\nsouth,7.5\n");
  CHECK(here.fanin("max " + table + "--by year,region").out ==
        "year,region,amount_max\n2024,north,1\n2023,south,5.5\n2023,north,3\n2024,\"a \"\"b\"\", c\",4\n");
  CHECK(here.shell("cat t.csv | $fanin argmax --column 3 --header --by 2").out ==
        "year,amount_argmax,amount_argmax_element,amount_argmax_line\n2024,3,4,5\n2023,4,5.5,7\n");
  CHECK(here.fanin("minmax " + table + "--by year").out ==
        "year,amount_minmax_min,amount_minmax_max\n2024,1,4\n2023,2,5.5\n");
  CHECK(
      here.fanin("reduce sum,mean,any " + table + "--by region --sort-keys").out ==
      "region,amount_sum,amount_mean,amount_any\n\"a \"\"b\"\", c\",4,4,true\nnorth,4,2,true\nsouth,7.5,3.75,true\n");
  const json sums = parsed(here.fanin("sum " + table + "--by region --json"));
  CHECK(sums["count"] == 5);
  CHECK(sums["groups"].size() == 3);
  CHECK(sums["groups"][1] == json{{"key", "south"}, {"value", 7.5}, {"value_text", "7.5"}});
  const json both = parsed(here.fanin("reduce sum,argmin " + table + "--by region,year --json"));
  CHECK(both[0]["operation"] == "sum");
  CHECK(both[1]["groups"][1]["key"] == json{"south", "2023"});
  CHECK(both[1]["groups"][1]["index"] == 1);
  const std::string said = here.fanin("sum " + table + "--by region --explain").err;
  CHECK(said.find("results: 3, one for each key in region\n") != std::string::npos);
}

TEST_CASE("keys of a table: order, separators, missing numbers, and many of them") {
  const scratch_folder here;
  here.write("t.tsv", "10\t1\tx\n9\tNA\ty\n-1e1\t3\tx\n9\tna\tx,\n010\t5\tx\n");
  const std::string table = "t.tsv --column 2 --missing skip ";
  CHECK(here.fanin("sum " + table + "--by 1").out == "10\t1\n9\t0\n-1e1\t3\n010\t5\n");
  CHECK(here.fanin("sum " + table + "--by 1 --sort-keys").out == "-1e1\t3\n9\t0\n010\t5\n10\t1\n");
  CHECK(here.fanin("mean " + table + "--by 3,1 --sort-keys").out ==
        "x\t-1e1\t3\nx\t010\t5\nx\t10\t1\nx,\t9\tnan\ny\t9\tnan\n");
  CHECK(parsed(here.fanin("sum " + table + "--by 1 --json"))["missing"] == 2);
  // Fields that make the same text when they are put together, and the empty one, are different keys.
  here.write("u.csv", "a,b,1\n,ab,2\nab,,3\na,b,4\n");
  CHECK(here.fanin("sum u.csv --column 3 --by 1,2").out == "a,b,5\n,ab,2\nab,,3\n");
  // The number comes first; quotes, blocks and long keys.
  REQUIRE(
      here.shell(
              "{ echo n,k; seq 300000 | awk '{ q = $1 % 7 ? \"\" : \"\\\"\"; print $1 \",\" q $1 % 3 q }'; } >v.csv")
          .status == 0);
  CHECK(here.fanin("sum v.csv --column n --by k --type i64 --threads 2").out ==
        "k,n_sum\n1,14999950000\n2,15000050000\n0,15000150000\n");
  const std::string key(100000, 'k');
  here.write("long.csv", key + "1,1\n" + key + "2,2\n" + key + "1,3\n");
  CHECK(here.fanin("sum long.csv --column 2 --by 1").out == key + "1,4\n" + key + "2,2\n");
}

TEST_CASE("groups of several columns and files, with names above") {
  const scratch_folder here;
  here.write("a.csv", "region;price;amount\nnorth;1;0.5\nsouth;NA;2\n\"x,y\";3;NA\nnorth;2;4\n");
  here.write("b.csv", "region;price;amount\nsouth;7;1e16\nwest;9223372036854775808;1\nsouth;5;-1e16\n");
  const std::string columns = " --delimiter ';' --column price,amount --missing skip --by region ";
  CHECK(here.fanin("reduce sum,mean a.csv" + columns).out ==
        "region;price_sum;price_mean;amount_sum;amount_mean\nnorth;3;1.5;4.5;2.25\nsouth;0;nan;2;2\nx,y;3;3;0;nan\n");
  CHECK(here.fanin("sum a.csv b.csv" + columns + "--csv").out ==
        "file,region,price_sum,amount_sum\na.csv,north,3,4.5\na.csv,south,0,2\na.csv,\"x,y\",3,0\n"
        "b.csv,south,12,0\nb.csv,west,9223372036854775808,1\n");
  const std::string both =
      "region,price_sum,price_max,amount_sum,amount_max\nnorth,3,2,4.5,4\nsouth,12,7,2,1e+16\n"
      "west,9223372036854775808,9223372036854775808,1,1\n\"x,y\",3,3,0,nan\n";
  const std::string together = "reduce sum,max a.csv b.csv --together" + columns + "--csv --sort-keys ";
  CHECK(here.fanin(together).out == both);
  CHECK(here.fanin(together + "-o both.csv").out.empty());
  CHECK(here.read("both.csv") == both);
  check_failure(here.fanin(together + "-o both.csv"), 1, "both.csv: exists; --force replaces it");
  check_failure(here.fanin(together + "-o b.csv --force"), 2,
                "b.csv: --output would replace the input; choose another name");
  CHECK(here.shell("cat a.csv | $fanin sum - b.csv --together" + columns).out ==
        "region;price_sum;amount_sum\nnorth;3;4.5\nsouth;12;2\nx,y;3;0\nwest;9223372036854775808;1\n");
  here.write("n.csv", "1,2,north\n3,4,south\n");
  CHECK(here.fanin("sum n.csv --column 1 --column 2 --by 3 --no-header").out == "north,1,2\nsouth,3,4\n");
  CHECK(here.fanin("sum n.csv --column 1 --by 3 --no-header --csv").out == "3,1_sum\nnorth,1\nsouth,3\n");
  const json all = parsed(here.fanin("reduce sum,mean a.csv b.csv" + columns + "--json"));
  REQUIRE(all.size() == 8);
  CHECK(all[3]["input"] == "a.csv");
  CHECK(all[3]["column"] == "amount");
  CHECK(all[3]["operation"] == "mean");
  CHECK(all[3]["missing"] == 1);
  CHECK(all[5]["input"] == "b.csv");
  CHECK(all[4]["groups"][1]["value_text"] == "9223372036854775808");
}

TEST_CASE("an index of a group has its element, line and file") {
  const scratch_folder here;
  here.write("a.csv", "k,n\n# none\na,1\n\"b\nc\",5\na,3\n");
  here.write("b.csv", "k,n\na,7\n");
  const std::string argmax = "argmax a.csv b.csv --column n --by k --comment '#' ";
  CHECK(here.fanin(argmax + "--csv").out ==
        "file,k,n_argmax,n_argmax_element,n_argmax_line\na.csv,a,2,3,6\na.csv,\"b\nc\",1,5,4\nb.csv,a,0,7,2\n");
  CHECK(here.fanin(argmax + "--together").out ==
        "k,n_argmax,n_argmax_element,n_argmax_line,n_argmax_file\na,3,7,2,b.csv\n\"b\nc\",1,5,4,a.csv\n");
  const json groups = parsed(here.fanin(argmax + "--together --json"))["groups"];
  CHECK(groups[0]["line"] == 2);
  CHECK(groups[0]["line_of"] == "b.csv");
}

TEST_CASE("a group whose result does not exist has a name, and the others have results") {
  const scratch_folder here;
  here.write("t.csv", "k,n\na,3\nb,NA\nc,5\nb,NA\nd,NA\na,1\n");
  const std::string by = " t.csv --column n --missing skip --by k";
  const finished least = here.fanin("min" + by);
  CHECK(least.status == 0);
  CHECK(least.out == "k,n_min\na,1\nb,nan\nc,5\nd,nan\n");
  CHECK(least.err == "fanin: warning: t.csv: group 'b' and 1 more: the min needs more numbers\n");
  const json groups = parsed(here.fanin("min" + by + " --json"))["groups"];
  CHECK(groups[1] == json{{"key", "b"}, {"value", nullptr}, {"value_text", "nan"}});
  CHECK(groups[2] == json{{"key", "c"}, {"value", 5}, {"value_text", "5"}});
  // An index is the place among all records, also where the groups are reduced one by one.
  here.write("f.csv", "k,n\na,nan\nb,2\nb,7\nb,nan\n");
  CHECK(here.fanin("argmax f.csv --column n --nan skip --by k").out ==
        "k,n_argmax,n_argmax_element,n_argmax_line\na,nan,nan,\nb,2,7,4\n");
  CHECK(here.fanin("argmax f.csv --column n --nan skip --by k --json").status == 0);
  here.write("none.csv", "k,n\na,nan\n");
  CHECK(here.fanin("argmax none.csv --column n --nan skip --by k").out ==
        "k,n_argmax,n_argmax_element,n_argmax_line\na,nan,nan,\n");
  const json none = parsed(here.fanin("reduce argmax,minmax none.csv --column n --nan skip --by k --json"));
  CHECK(none[0]["groups"][0] == json{{"key", "a"}, {"value", nullptr}, {"index", nullptr}, {"value_text", "nan"}});
  CHECK(none[0]["backend"] == "serial");
  const json extremes = parsed(here.fanin("minmax" + by + " --json"))["groups"];
  CHECK(extremes[1] == json{{"key", "b"}, {"min", nullptr}, {"max", nullptr}, {"value_text", "nan"}});
  // A column of missing numbers alone is empty, as an array without elements.
  here.write("missing.csv", "k,n\na,NA\nb,NA\n");
  const std::string all_missing = " missing.csv --column n --missing skip --by k";
  CHECK(here.fanin("reduce sum,mean,count" + all_missing).out == "k,n_sum,n_mean,n_count\na,0,nan,0\nb,0,nan,0\n");
  here.write("header.csv", "k,n\n");
  CHECK(here.fanin("reduce sum,argmin header.csv --column n --by k").out ==
        "k,n_sum,n_argmin,n_argmin_element,n_argmin_line\n");
  here.write("big.csv", "k,n\na,9223372036854775807\nb,1\na,1\n");
  const finished sums = here.fanin("reduce sum,max big.csv --column n --by k");
  CHECK(sums.status == 1);
  CHECK(sums.out == "k,n_sum,n_max\na,overflow,9223372036854775807\nb,1,1\n");
  CHECK(sums.err ==
        "fanin: big.csv: group 'a': the sum does not fit in 64 bits; --type f64 takes the numbers as f64\n");
}

TEST_CASE("groups of a table: what cannot be") {
  const scratch_folder here;
  here.write("t.csv", "region,amount\nnorth,1\n");
  here.write("u.csv", "region,price\nnorth,1\n");
  here.write("x.npy", write_npy_header(element_type::f64, 0));
  const std::string sum = "sum t.csv --column amount ";
  check_failure(here.fanin(sum + "--by regoin"), 2, "no column is called 'regoin'; did you mean 'region'");
  check_failure(here.fanin(sum + "--by 0"), 2, "--by counts from 1");
  check_failure(here.fanin(sum + "--by region,1"), 2, "--by names column 1 twice");
  check_failure(here.fanin(sum + "--by 7"), 1, "the record has only 2 fields, but --by asks for field 7");
  check_failure(here.fanin("sum t.csv --column 2 --by all --no-header"), 2,
                "--by all needs a header, and there is none");
  check_failure(here.fanin("sum t.csv --by region"), 2, "--by requires --column, which names the numbers to reduce");
  check_failure(here.fanin("sum x.npy --column 1 --by region"), 2, "--column is for csv input, and this is npy");
  check_failure(here.fanin(sum + "--by region --axis 0"), 2, "--axis excludes --by");
  check_failure(here.fanin(sum + "--by region --csv --json"), 2, "--json excludes --csv");
  check_failure(here.fanin(sum + "--csv"), 2, "--csv requires --by");
  check_failure(
      here.fanin("sum t.csv u.csv --column 2 --by 1 --together"), 2,
      "the column is called 'amount' in t.csv, but 'price' in u.csv; --skip-lines 1 --no-header skips the names");
  check_failure(here.fanin("sum t.csv u.csv --column 2 --by 1"), 2,
                "but u.csv has region,price_sum; --json prints both\n");
  CHECK(parsed(here.fanin("sum t.csv u.csv --column 2 --by 1 --json")).size() == 2);
  CHECK(here.fanin("sum t.csv u.csv --column 2 --by 1 --together --skip-lines 1 --no-header").out == "north,2\n");
  check_failure(here.fanin(sum + "--sort-keys"), 2, "--sort-keys requires --by");
  check_failure(here.fanin("argmax t.csv --column amount --by region --missing skip"), 2,
                "argmax gives the position of a record");
  check_failure(here.fanin("reduce sum,dot t.csv --column amount --by region"), 2, "dot reads two inputs");
  check_failure(here.fanin("sum t.csv --column region --by amount --header"), 1, "'north' is not a number");
  here.write("big.csv", "a,9223372036854775807\na,1\n");
  check_failure(here.fanin("sum big.csv --column 2 --by 1 --type i64"), 1,
                "big.csv: group 'a': the sum does not fit");
}

TEST_SUITE_END();

}  // namespace
}  // namespace fanin::cli
