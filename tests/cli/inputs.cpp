// SPDX-License-Identifier: Apache-2.0
// Tests of inputs with several columns, with missing numbers, and of compressed ones.
#include <doctest/doctest.h>

#include <string>

#include "tests/cli/process.hpp"

namespace fanin::cli {
namespace {

TEST_SUITE_BEGIN("inputs");

TEST_CASE("several columns: a line for each, in one pass") {
  const scratch_folder here;
  here.write("x.csv", "id,price,qty\n1,0.1,10\n2,0.2,20\n");
  here.write("y.csv", "id,price,qty\n3,0.5,30\n");
  CHECK(here.fanin("sum x.csv --column price,qty").out == "0.30000000000000004  price\n30  qty\n");
  CHECK(here.shell("cat x.csv | $fanin max --column all --header").out == "2  id\n0.2  price\n20  qty\n");
  CHECK(here.fanin("sum x.csv --column qty").out == "30\n");
  CHECK(here.fanin("argmax x.csv --column qty,id").out == "1 20 line 3  qty\n1 2 line 3  id\n");
  CHECK(here.fanin("max x.csv y.csv --column qty,id").out ==
        "20  x.csv  qty\n2  x.csv  id\n30  y.csv  qty\n3  y.csv  id\n");
  CHECK(here.fanin("sum x.csv y.csv --column qty,id --together").out == "60  qty\n6  id\n");
  CHECK(here.fanin("reduce min,mean x.csv --column qty,id").out ==
        "min 10  qty\nmean 15  qty\nmin 1  id\nmean 1.5  id\n");
  // A variant that needs all elements at once.
  CHECK(here.fanin("sum x.csv --column qty,id --variant pairwise --backend serial").out == "30  qty\n3  id\n");
  CHECK(here.fanin("sum x.csv --column 3,1 --header --type i32").out == "30  qty\n3  id\n");
  here.write("z.csv", "1,2\n3,4\n");
  CHECK(here.fanin("sum z.csv --column all").out == "4  1\n6  2\n");
}

TEST_CASE("several columns longer than a block") {
  const scratch_folder here;
  REQUIRE(here.shell("{ echo a,b,c; seq 300000 | sed 's/.*/&,x&,-&/'; } >x.csv").status == 0);
  CHECK(here.fanin("sum x.csv --column c,a --type i64").out == "-45000150000  c\n45000150000  a\n");
  CHECK(here.fanin("reduce max,sum x.csv --column a,c").out ==
        "max 300000  a\nsum 45000150000  a\nmax -1  c\nsum -45000150000  c\n");
}

TEST_CASE("several columns as JSON: an array that names file and column") {
  const scratch_folder here;
  here.write("x.csv", "id,price\n1,2\n3,4\n");
  const json rows = parsed(here.fanin("sum x.csv x.csv --column all --header --json"));
  REQUIRE(rows.size() == 4);
  CHECK(rows[1]["input"] == "x.csv");
  CHECK(rows[1]["column"] == "price");
  CHECK(rows[1]["value"] == 6.0);
  CHECK(rows[1]["count"] == 2);
  CHECK_FALSE(rows[1].contains("missing"));
  CHECK(here.fanin("sum x.csv --column id --explain").err.find(", 2 elements of i64") != std::string::npos);
  CHECK(here.shell("echo 1 | $fanin sum --explain").err.find(", 1 element of i64") != std::string::npos);
  const json one = parsed(here.fanin("sum x.csv --column price --json"));
  CHECK(one.is_object());
  CHECK_FALSE(one.contains("column"));
  CHECK(parsed(here.fanin("reduce sum,max x.csv --column id,price --json"))[2]["column"] == "price");
  const std::string said = here.fanin("sum x.csv --column id,price --explain").err;
  CHECK(said.find("input: x.csv, column price, csv, 2 elements of i64, read\n") != std::string::npos);
}

TEST_CASE("several operations on several files: a line for each, or one result together") {
  const scratch_folder here;
  here.write("a.csv", "k,n\nx,1\nx,2\n");
  here.write("b.csv", "k,n\nx,4.5\n");
  CHECK(here.fanin("reduce sum,max a.csv b.csv --column n").out ==
        "sum 3  a.csv\nmax 2  a.csv\nsum 4.5  b.csv\nmax 4.5  b.csv\n");
  CHECK(here.fanin("reduce sum,max a.csv b.csv --column n --together").out == "sum 7.5\nmax 4.5\n");
  CHECK(here.shell("echo 1 2 | $fanin reduce sum,mean - --threads 1").out == "sum 3\nmean 1.5\n");
  const json all = parsed(here.fanin("reduce sum,max a.csv b.csv --column n --json"));
  CHECK(all.size() == 4);
  CHECK(all[2]["input"] == "b.csv");
  check_failure(here.fanin("reduce sum a.csv b.csv --column n --axis 0"), 2, "--axis takes one file");
  check_failure(here.fanin("reduce sum a.csv --column n --axis 0 --together"), 2, "--together is for one result");
  check_failure(here.fanin("reduce sum - - --column n"), 2, "standard input is named twice");
}

TEST_CASE("dot of two columns of one table") {
  const scratch_folder here;
  here.write("t.csv", "item,price,quantity\nx,1e16,3\ny,0.1,1\nz,-1e16,3\n");
  CHECK(here.fanin("dot t.csv --column price,quantity").out == "0.1\n");
  CHECK(here.fanin("dot t.csv --column 3,2").out == "0.1\n");
  CHECK(here.shell("cat t.csv | $fanin dot").out == "0.1\n");
  CHECK(here.shell("printf '1+2j,2j\\n' | $fanin vdot - --column 1,2 --type c64 --no-header").out == "4+2j\n");
  const json one = parsed(here.fanin("dot t.csv --column price,quantity --json"));
  CHECK(one["count"] == 3);
  CHECK(one["input"] == "t.csv");
  here.write("big.csv", "a,b\n9007199254740993,1\n1,9007199254740993\n");
  CHECK(here.fanin("dot big.csv --column a,b").err.find("2 integers were rounded") != std::string::npos);
  check_failure(here.fanin("dot t.csv --column price,quantity --missing skip"), 2, "dot needs pairs");
  check_failure(here.fanin("dot t.csv --column price,quantity,2"), 2, "--column names column 2 twice");
}

TEST_CASE("several columns: what cannot be") {
  const scratch_folder here;
  here.write("x.csv", "day,price\nmonday,2\n");
  here.write("y.csv", "price,qty\n1,2\n");
  here.write("z.csv", "day,price\n1,2\n");
  here.write("empty.csv", "price,qty\n");
  check_failure(here.fanin("sum x.csv --column day,price"), 1,
                "x.csv: line 2, byte 1: column 'day': 'monday' is not a number of type f64");
  check_failure(here.fanin("sum x.csv --column all --no-header"), 1, "if line 1 names the columns, say --header");
  check_failure(here.fanin("sum y.csv --column all --header --save-state s"), 2, "--save-state takes one column");
  check_failure(here.fanin("dot y.csv y.csv --column price,qty"), 2, "dot takes one column, not several");
  check_failure(here.fanin("dot y.csv --column price"), 2, "two columns of FILE as in --column price,quantity");
  check_failure(here.fanin("compare y.csv --column price,qty"), 2, "compare takes one column, not several");
  check_failure(here.fanin("sum y.csv z.csv --column all --together --header"), 2,
                "column 1 of y.csv is 'price', but in z.csv it is 'day'");
  check_failure(
      here.fanin("sum y.csv z.csv --column 2 --together"), 2,
      "the column of y.csv is 'qty', but in z.csv it is 'price'; --skip-lines 1 --no-header skips the names");
  CHECK(here.shell("printf '1,5\\n' >w.csv; $fanin sum y.csv w.csv --column 2 --together").out == "7\n");
  CHECK(here.fanin("sum empty.csv --column qty,price").out == "0  qty\n0  price\n");
  check_failure(here.shell("$fanin sum - --column a,b </dev/null"), 1, "standard input: the input has no records");
  here.write("big.csv", "a,b\n1,9223372036854775807\n1,1\n");
  CHECK(here.shell("ls").out == "big.csv\nempty.csv\nw.csv\nx.csv\ny.csv\nz.csv\n");
}

TEST_CASE("a total that does not fit leaves the other results") {
  const scratch_folder here;
  here.write("x.csv", "a,b\n1,9223372036854775807\n1,1\n");
  const finished some = here.fanin("reduce sum,min x.csv");
  CHECK(some.status == 1);
  CHECK(some.out == "sum 2  a\nmin 1  a\nsum overflow  b\nmin 1  b\n");
  CHECK(some.err ==
        "fanin: x.csv: column 'b': the sum does not fit in 64 bits; --type f64 takes the numbers as f64\n");
  CHECK(here.fanin("sum x.csv").out == "2  a\noverflow  b\n");
  CHECK(here.shell("printf '9 9223372036854775807' >y.txt; $fanin sum y.txt x.csv").out ==
        "overflow  y.txt\n2  x.csv  a\noverflow  x.csv  b\n");
  CHECK(here.fanin("sum y.txt x.csv").err.starts_with("fanin: y.txt: the sum does not fit in 64 bits"));
  const json rows = json::parse(here.fanin("reduce sum,max x.csv --json").out);
  CHECK(rows[2]["value"].is_null());
  CHECK(rows[2]["value_text"] == "overflow");
  CHECK(rows[3]["value"] == 9223372036854775807);
  CHECK(here.fanin("reduce sum,product y.txt").err ==
        "fanin: y.txt: the sum does not fit in 64 bits; --type f64 takes the numbers as f64\n"
        "fanin: y.txt: the product does not fit in 64 bits; --type f64 takes the numbers as f64\n");
}

TEST_CASE("argmin and argmax give the element, and in text its line") {
  const scratch_folder here;
  here.write("x.csv", "day,price\n# x\nmonday,2\n\ntuesday,7.5\n");
  CHECK(here.fanin("argmax x.csv --comment '#'").out == "1 7.5 line 5  price\n");
  CHECK(here.shell("printf '3 1\\n\\n2 -4' >x.txt; $fanin argmin <x.txt").out == "3 -4 line 3\n");
  CHECK(here.shell("seq 300000 | $fanin reduce argmin,argmax").out ==
        "argmin 0 1 line 1\nargmax 299999 300000 line 300000\n");
  const json one = parsed(here.fanin("argmin x.txt --json"));
  CHECK(one["index"] == 3);
  CHECK(one["value"] == -4);
  CHECK(one["line"] == 3);
  CHECK_FALSE(one.contains("line_of"));
  CHECK(here.fanin("argmin x.txt x.txt").out == "3 -4 line 3  x.txt\n3 -4 line 3  x.txt\n");
  CHECK(here.shell("echo -9 >y.txt; $fanin argmin x.txt y.txt --together").out == "4 -9 line 1 of y.txt\n");
  CHECK(parsed(here.fanin("argmin x.txt y.txt --together --json"))["line_of"] == "y.txt");
  CHECK(here.shell("printf '\\1\\5\\2' >x.bin; $fanin argmax x.bin --type u8").out == "1 5\n");
  CHECK_FALSE(parsed(here.fanin("argmax x.bin --type u8 --json")).contains("line"));
}

TEST_CASE("options say how numbers are written, and which lines are data") {
  const scratch_folder here;
  here.write("de.csv", "Bericht\n# von Hand\nname;wert\na;1.234,5\nb;-\n");
  here.write("thousands.csv", "1,234\n2,345\n");
  CHECK(here.fanin("sum thousands.csv --thousands ,").out == "3579\n");
  here.write("both.csv", "a,b\n\"1,234\",5\n7,8\n");
  CHECK(here.fanin("sum both.csv --thousands ,").out == "1241  a\n13  b\n");
  const std::string options = " de.csv --skip-lines 1 --comment '#' --decimal , --thousands . --missing-words -";
  CHECK(here.fanin("sum" + options).out == "1234.5  wert\n");
  CHECK(parsed(here.fanin("describe" + options + " --json"))[0]["missing"] == 1);
  CHECK(here.shell("printf '1.5D+03\\n-999\\n' | $fanin sum --missing-words -999").out == "1500\n");
}

TEST_CASE("missing numbers") {
  const scratch_folder here;
  here.write("x.csv", "a,b\n1,NA\n,5\nnull,7\nnan,9\n");
  check_failure(here.fanin("sum x.csv --column a"), 1,
                "x.csv: line 3, byte 1: column 'a': the field is empty; --missing skip leaves it out");
  check_failure(here.fanin("sum x.csv --column b --missing error"), 1,
                "line 2, byte 3: column 'b': 'NA' is not a number");
  CHECK(here.fanin("mean x.csv --column b --missing skip").out == "7\n");
  const json one = parsed(here.fanin("sum x.csv --column b --missing skip --json"));
  CHECK(one["missing"] == 1);
  CHECK(one["count"] == 3);
  const json rows = parsed(here.fanin("reduce count_nonzero x.csv --column all --header --missing skip --json"));
  CHECK(rows[0]["missing"] == 2);
  CHECK(rows[0]["count"] == 2);
  CHECK(here.fanin("sum x.csv --column a --missing skip").out == "nan\n");
  CHECK(here.fanin("sum x.csv --column a --missing skip --explain").err.find("missing: 2 left out\n") !=
        std::string::npos);
  CHECK(here.shell("printf '1,,NA\\n2,' | $fanin sum --delimiter , --missing skip").out == "3\n");
  CHECK(here.shell("printf 'NA\\n' | $fanin reduce sum,count --missing skip").out == "sum 0\ncount 0\n");
  // Advice on a missing number is for what can leave it out.
  for (const char* refuses : {"argmin x.csv --column b", "dot x.csv --column a,b", "sum x.csv --column b --axis 0",
                              "reduce sum,argmax x.csv --column b", "compare x.csv --column b --axis 0"}) {
    check_failure(here.fanin(refuses), 1, "is not a number of type f64\n");
  }
  check_failure(here.shell("printf 'a,b\\n1,2\\n-,3\\n' | $fanin argmin --column a"), 1, "of type f64\n");
  check_failure(here.shell("printf 'x,y\\n\"1,2\",3\\n' | $fanin sum --column x"), 1,
                "say --decimal , --delimiter ,");
  CHECK(here.shell("printf 'x,y\\n\"1,2\",3\\n' | $fanin sum --column x --decimal , --delimiter ,").out == "1.2\n");
  check_failure(here.shell("printf '1,2\\n3,x\\n' | $fanin sum --column 2 --no-header"), 1,
                "line 2, byte 3: column 2: 'x'");
  check_failure(here.fanin("argmin x.csv --column b --missing skip"), 2, "argmin gives the position of a record");
  check_failure(here.fanin("reduce sum,argmax x.csv --column b --missing skip"), 2,
                "argmax gives the position of a record");
  check_failure(here.fanin("dot x.csv x.csv --column b --missing skip"), 2, "dot needs pairs");
  check_failure(here.fanin("sum x.csv --column b --missing drop"), 2, "--missing is skip or error, not 'drop'");
  check_failure(here.shell("printf 12345678 >x.bin; $fanin sum x.bin --type f64 --missing skip"), 2,
                "--missing is for text or csv input");
}

TEST_CASE("compressed input, whatever the format inside") {
  const scratch_folder here;
  REQUIRE(here.shell("seq 100000 >x.txt && sed 's/.*/&\\t&/' x.txt >x.tsv && gzip -k x.txt x.tsv").status == 0);
  CHECK(here.fanin("sum x.txt.gz").out == "5000050000\n");
  CHECK(here.fanin("sum x.tsv.gz --column 2").out == "5000050000\n");
  CHECK(here.shell("cat x.txt.gz | $fanin sum").out == "5000050000\n");
  CHECK(here.shell("cat x.tsv.gz | $fanin sum --column 2 --delimiter tab --format csv").out == "5000050000\n");
  CHECK(here.shell("mv x.txt.gz odd; $fanin sum x.txt odd --together --type i64").out == "10000100000\n");
  CHECK(here.shell("{ cat odd; printf '7 8' | gzip; } | $fanin sum").out == "5000050015\n");
  REQUIRE(here.fanin("generate wide --count 300011 --type f32 --output x.npy").status == 0);
  const std::string sum = here.fanin("sum x.npy").out;
  REQUIRE(here.shell("gzip -k x.npy && tail -c +129 x.npy | gzip >X.BIN.GZ && cp X.BIN.GZ odd.bin").status == 0);
  CHECK(here.fanin("sum x.npy.gz").out == sum);
  CHECK(here.fanin("sum X.BIN.GZ --type f32").out == sum);
  CHECK(here.fanin("sum X.BIN.GZ --type f32 --format raw").out == sum);
  CHECK(here.fanin("sum odd.bin --type f32").out == sum);
  CHECK(here.fanin("sum odd.bin --type u8 --format raw").out != here.fanin("sum odd.bin --type u8").out);
  CHECK(here.fanin("compare x.npy.gz --json").status == 0);
  CHECK(here.shell("{ cat odd; head -c 999 /dev/zero; } | $fanin sum").out == "5000050000\n");
  check_failure(here.shell("head -c 1000 x.npy.gz >cut.gz; $fanin sum cut.gz"), 1, "cut.gz: truncated gzip data");
  check_failure(here.shell("{ head -c 1000 x.npy.gz; echo; tail -c +1002 x.npy.gz; } | $fanin sum"), 1,
                "standard input: corrupt gzip data: ");
  check_failure(here.shell("{ cat x.npy.gz; echo more; } | $fanin sum"), 1,
                "corrupt gzip data: incorrect header check");
}

TEST_SUITE_END();

}  // namespace
}  // namespace fanin::cli
