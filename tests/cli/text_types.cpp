// SPDX-License-Identifier: Apache-2.0
// Tests of text whose numbers decide the element type, and of the first line of CSV, by their results.
#include <doctest/doctest.h>

#include <string>

#include "tests/cli/process.hpp"

namespace fanin::cli {
namespace {

constexpr std::string_view ids = "id,region\n1382016600011617669,n\n1382016600011617667,s\n1382016600011617668,n\n";
constexpr std::string_view warning =
    "fanin: warning: x.csv: 1 integer was rounded to f64 on reading; the results are for the rounded numbers\n";

TEST_SUITE_BEGIN("text_types");

TEST_CASE("integers of 64 bits keep their digits") {
  const scratch_folder here;
  here.write("x.csv", ids);
  CHECK(here.fanin("max x.csv --column id").out == "1382016600011617669\n");
  CHECK(here.fanin("argmin x.csv --column id").out == "1 1382016600011617667 line 3\n");
  CHECK(here.fanin("sum x.csv --column id").out == "4146049800034853004\n");
  CHECK(here.fanin("standard_deviation x.csv --column id").out == "0.816496580927726\n");
  CHECK(here.shell("gzip -k x.csv; $fanin min x.csv.gz --column id").out == "1382016600011617667\n");
  CHECK(here.shell("cut -d, -f1 x.csv | tail -n 3 | $fanin max").out == "1382016600011617669\n");
  CHECK(here.fanin("max x.csv --column id --by region").out ==
        "region,id_max\nn,1382016600011617669\ns,1382016600011617667\n");
  CHECK(here.fanin("reduce max,mean x.csv --column id").out ==
        "max 1382016600011617669\nmean 1.3820166000116178e+18\n");
  CHECK(here.shell("cut -d, -f1 x.csv | tail -n 3 | $fanin max --axis 0").out == "1382016600011617669\n");
  CHECK(here.fanin("describe x.csv --column id").out.find(" 1382016600011617669  4146049800034853004 ") !=
        std::string::npos);
  CHECK(here.shell("printf '18446744073709551615\\n1\\n' | $fanin max").out == "18446744073709551615\n");
  const finished both = here.shell("printf '9007199254740993 1' | $fanin sum --json");
  CHECK(parsed(both)["element_type"] == "i64");
  CHECK(parsed(both)["value_text"] == "9007199254740994");
  CHECK(parsed(both)["value_hex"] == "0x1.0000000000001p+53");
  CHECK(parsed(here.shell("printf '9007199254740993' | $fanin max --json"))["value_hex"] == "0x1.00000000000008p+53");
  CHECK(parsed(here.shell("printf -- '-9007199254740993' | $fanin max --json"))["value_hex"] ==
        "-0x1.00000000000008p+53");
  CHECK_FALSE(parsed(both).contains("rounded_on_reading"));
  CHECK(here.shell("printf '9007199254740993,NA\\n7,5' | $fanin max --delimiter , --missing skip").out ==
        "9007199254740993\n");
}

TEST_CASE("a fraction makes the column f64, with a warning if it rounds an integer") {
  const scratch_folder here;
  here.write("x.csv", "9007199254740993\n1\n0.5\n1.5\n");
  const finished said = here.fanin("sum x.csv --no-header --explain");
  CHECK(said.out == "9007199254740996\n");
  CHECK(said.err.starts_with(warning));
  CHECK(said.err.find("if the result is that of the numbers as read: 1 integer was rounded to f64\n") !=
        std::string::npos);
  const json one = parsed(here.fanin("max x.csv --json"));
  CHECK(one["element_type"] == "f64");
  CHECK(one["rounded_on_reading"] == 1);
  CHECK(one["bound"]["of_result"] == 0.0);
  CHECK(one["bound"]["if"] == "the result is that of the numbers as read: 1 integer was rounded to f64");
  CHECK(here.fanin("reduce min,max x.csv").err == warning);
  CHECK(here.fanin("describe x.csv").err.find("1 integer was rounded") != std::string::npos);
  CHECK(parsed(here.fanin("describe x.csv --json"))[0]["rounded_on_reading"] == 1);
  CHECK(here.fanin("max x.csv --axis 0").err == warning);
  CHECK(here.fanin("max x.csv --type f64").err == warning);
  CHECK(here.fanin("compare x.csv --backend serial").err == warning);
  here.write("y.csv", "k,v\na,9007199254740993\na,0.5\n");
  CHECK(here.fanin("max y.csv --column v --by k").err.find("y.csv: 1 integer was rounded") != std::string::npos);
  CHECK(here.shell("printf '9007199254740992 0.5' | $fanin max --explain").err.find("rounded") == std::string::npos);
}

// A pipe is read once, block by block: results of integers and of f64 are kept side by side.
TEST_CASE("columns that change their type behind many blocks") {
  const scratch_folder here;
  const std::string many = "{ seq 300000 | sed 's/.*/9007199254740993,&,&,-&/'; echo 1,2.5,18446744073709551615,";
  CHECK(here.shell(many + "3; } | $fanin max --column all --no-header").out ==
        "9007199254740993  1\n300000  2\n18446744073709551615  3\n3  4\n");
  const json rows = parsed(here.shell(many + "0.5; } | $fanin reduce sum,min --column 2,4 --no-header --json"));
  REQUIRE(rows.size() == 4);
  const char* const texts[] = {"45000150002.5", "1", "-45000149999.5", "-300000"};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CAPTURE(i);
    CHECK(rows[i]["element_type"] == "f64");
    CHECK(rows[i]["value_text"] == texts[i]);
  }
}

TEST_CASE("log_sum_exp takes a file of integers as f64") {
  const scratch_folder here;
  const std::string sum = "3.40760596444438\n";  // log(e + e^2 + e^3), rounded to a double
  here.write("i.txt", "1\n2\n3\n");
  here.write("i.bin", "\1\2\3");
  CHECK(here.fanin("log_sum_exp i.txt").out == sum);
  CHECK(here.fanin("log_sum_exp i.txt --type i64").out == sum);
  CHECK(here.fanin("log_sum_exp i.bin --type u8").out == sum);
  CHECK(here.fanin("log_sum_exp i.txt --explain --backend serial").err.find("bound: |error| <= 6.8e-15\n") !=
        std::string::npos);
  here.write("large.txt", "9007199254740993\n");
  check_failure(here.fanin("log_sum_exp large.txt --type i64"), 1,
                "large.txt: log_sum_exp takes integers as f64, and 9007199254740993 would be rounded");
}

TEST_CASE("integers that were rounded to any type of floats are counted") {
  const scratch_folder here;
  const std::string warned = "fanin: warning: x.txt: 1 integer was rounded to ";
  const auto check_warned = [&](const std::string& type, const std::string& number, const std::string& read) {
    CAPTURE(type);
    here.write("x.txt", number + " 1\n");
    const finished one = here.fanin("max x.txt --json --type " + type);
    CHECK(one.err.find(warned + type + " on reading; the results are for the rounded numbers\n") == 0);
    const json said = json::parse(one.out);
    CHECK(said["value_text"] == read);
    CHECK(said["rounded_on_reading"] == 1);
    CHECK(said["bound"]["if"] == "the result is that of the numbers as read: 1 integer was rounded to " + type);
    CHECK(here.fanin("describe x.txt --type " + type).err.starts_with(warned));
    CHECK(here.fanin("max x.txt --axis 0 --type " + type).err.starts_with(warned));
    CHECK(here.fanin("compare x.txt --backend serial --type " + type).err.starts_with(warned));
  };
  check_warned("f32", "16777217", "16777216");
  check_warned("f16", "2049", "2048");
  check_warned("bf16", "257", "256");
  check_warned("f64", "9007199254740993.0", "9007199254740992");
  check_warned("f64", "18446744073709551617.", "1.8446744073709552e+19");
  CHECK(here.shell("printf '16777217+1j' | $fanin sum --type c64").err.find("1 integer was rounded to c64") !=
        std::string::npos);
  CHECK(here.shell("printf '16777216 0.5 1e10 3.0 inf nan' | $fanin max --type f32 --explain").err.find("rounded") ==
        std::string::npos);
}

TEST_CASE("decimals that were rounded are said beside the bound, without a warning") {
  const scratch_folder here;
  const auto premise = [&](const std::string& numbers, const std::string& options) {
    here.write("x.txt", numbers + "\n");
    const finished one = here.fanin("sum x.txt --json " + options);
    CHECK(one.err.empty() == (numbers.find("16777") == std::string::npos));
    return json::parse(one.out)["bound"]["if"];
  };
  const std::string as_read = "the result is that of the numbers as read: ";
  CHECK(premise("0.1 0.5", "") == as_read + "decimals were rounded to f64");
  CHECK(premise("0.1 16777217 16777219", "--type f32") == as_read + "2 integers and decimals were rounded to f32");
  CHECK(premise("1e23", "") == as_read + "decimals were rounded to f64");
  CHECK(premise("1e-400", "") == as_read + "decimals were rounded to f64");
  CHECK(premise("0.5", "--type f32").is_null());
  CHECK(here.fanin("sum x.txt --type f32 --explain").err.find("rounded to f32") == std::string::npos);
  CHECK(premise("0.5 0.25 1e22 -1.5e3 0.000 0.00000000023283064365386962890625", "").is_null());
}

TEST_CASE("totals that do not fit are errors") {
  const scratch_folder here;
  here.write("x.txt", "9223372036854775807 1\n");
  for (const char* command : {"sum x.txt", "sum x.txt --axis 0", "sum x.txt --method exact"}) {
    const finished run = here.fanin(command);
    check_failure(run, 1, "does not fit in ");
    check_failure(run, 1, "; --type f64 takes the numbers as f64");
  }
  CHECK(here.fanin("sum x.txt --type i64").err.find("--type f64") == std::string::npos);
  CHECK(here.fanin("sum x.txt --type f64").out == "9.223372036854776e+18\n");
  CHECK(here.fanin("max x.txt").out == "9223372036854775807\n");
}

TEST_CASE("what integers do not have takes the numbers as f64") {
  const scratch_folder here;
  here.write("x.txt", "3 4\n");
  CHECK(here.fanin("norm2 x.txt").out == "5\n");
  CHECK(here.fanin("dot x.txt x.txt").out == "25\n");
  CHECK(here.fanin("sum x.txt --variant naive").out == "7\n");
  CHECK(here.fanin("norm2 x.txt --axis 0").out == "5\n");
  const json rows = parsed(here.fanin("reduce sum,norm2 x.txt --json"));
  CHECK(rows[0]["element_type"] == "i64");
  CHECK(rows[1]["element_type"] == "i64");
  CHECK(here.fanin("sum x.txt --result i64").out == "7\n");
  CHECK(here.shell("$fanin sum x.txt --save-state s >/dev/null; $fanin merge s --json")
            .out.find("\"element_type\": \"f64\"") != std::string::npos);
  CHECK(here.shell("printf '9007199254740993' >y.txt; $fanin dot y.txt y.txt").err.find("2 integers were rounded") !=
        std::string::npos);
  CHECK(here.fanin("norm2 x.txt --type i64").out == "5\n");
}

TEST_CASE("files that are reduced together have one type") {
  const scratch_folder here;
  here.write("x.csv", "9007199254740993\n1\n");
  here.write("y.csv", "2\n");
  here.write("z.csv", "0.5\n1.5\n");
  CHECK(here.fanin("max x.csv y.csv --together").out == "9007199254740993\n");
  CHECK(here.fanin("max y.csv z.csv --together").out == "2\n");
  CHECK(here.fanin("max x.csv z.csv --together").out == "9007199254740992\n");
  CHECK(here.fanin("max x.csv z.csv --together").err.find("1 integer was rounded") != std::string::npos);
  REQUIRE(here.fanin("generate constant:7 --type f64 --count 3 -o w.npy").status == 0);
  CHECK(here.fanin("max y.csv w.npy --together").out == "7\n");
  CHECK(here.fanin("max w.npy y.csv --together").out == "7\n");
  check_failure(here.fanin("max x.csv z.csv --together --result i64"), 2, "but z.csv has elements of f64");
}

TEST_CASE("a header that is told by the lines below") {
  const scratch_folder here;
  here.write("years.csv", "region,2023,2024,2025\nnorth,10,11,12\nsouth,20,21,25\n");
  check_failure(here.fanin("sum years.csv --column 4"), 2, "say --header or --no-header");
  CHECK(here.fanin("sum years.csv --column 4 --header").out == "37\n");
  CHECK(here.fanin("sum years.csv --column 4 --no-header").out == "2062\n");
  CHECK(here.fanin("sum years.csv --column 2025 --header").out == "37\n");
  here.write("prices.csv", "region,price\nnorth,10\nsouth,20\n");
  CHECK(here.fanin("sum prices.csv --column 2").out == "30\n");
  CHECK(here.shell("cat prices.csv | $fanin sum --column 2").out == "30\n");
  CHECK(here.shell("gzip -c prices.csv | $fanin sum --column 2").out == "30\n");
  CHECK(here.fanin("sum prices.csv --column 2 --by 1").out == "region,price_sum\nnorth,10\nsouth,20\n");
  here.write("plain.csv", "1,2\n3,4\n");
  CHECK(here.fanin("sum plain.csv --column 2").out == "6\n");
  CHECK(here.fanin("describe plain.csv --json").status == 0);
  check_failure(here.fanin("sum plain.csv --column 2 --header --no-header"), 2, "--no-header");
  check_failure(here.fanin("sum prices.csv --column price --no-header"), 2,
                "--column price is a name, and --no-header says that there are none");
  check_failure(here.fanin("sum prices.csv --column 2 --by region --no-header"), 2, "--by region is a name");
}

TEST_CASE("a column that only a name of numbers can be is one of a header, or an error that says so") {
  const scratch_folder here;
  here.write("years.csv", "2023,2024,2025\n1,2,3\n4,5,6\n");
  const std::string advice = "there are only 3 columns; if the first line names the columns, say --header";
  check_failure(here.fanin("sum years.csv --column 2024"), 2, "years.csv: --column 2024: " + advice);
  check_failure(here.fanin("sum years.csv --column 1,2025"), 2, "--column 2025: " + advice);
  check_failure(here.fanin("sum years.csv --column 1 --by 2024"), 2, "--by 2024: " + advice);
  CHECK(here.fanin("sum years.csv --column 2024 --header").out == "7\n");
  check_failure(here.fanin("sum years.csv --column 2024 --no-header"), 1, "only 3 fields");
  here.write("quoted.csv", "\"2023\",\"2024\"\n1,2\n4,5\n");
  CHECK(here.fanin("sum quoted.csv --column 2024").out == "7\n");
}

TEST_CASE("a name that is a number wins over the number, and a warning says so") {
  const scratch_folder here;
  here.write("x.csv", "pre-k,k,01,02,03\n1,2,3,4,5\n");
  const finished named = here.fanin("sum x.csv --column 03");
  CHECK(named.out == "5\n");
  CHECK(named.err == "fanin: warning: x.csv: --column 03 means the column with the name 03, which is column 5\n");
  CHECK(here.fanin("sum x.csv --column k,03").out == "2  k\n5  03\n");
  CHECK(here.fanin("sum x.csv --column 3").out == "3\n");
  CHECK(here.fanin("sum x.csv --column 3").err.empty());
  here.write("y.csv", "a,2\n1,5\n");
  CHECK(here.fanin("sum y.csv --column 2").err.empty());
}

TEST_CASE("an empty value of an option is refused") {
  const scratch_folder here;
  here.write("x.txt", "1 2\n");
  for (const std::string option :
       {"--delimiter", "--column", "--type", "--format", "--missing", "--method", "--backend", "--nan", "--member"}) {
    CAPTURE(option);
    check_failure(here.fanin("sum x.txt " + option + " ''"), 2, option + ": the value is empty");
  }
}

TEST_CASE("keys that are not UTF-8 can be told apart in JSON") {
  const scratch_folder here;
  REQUIRE(here.shell("printf 'k,l,v\\nx\\377,a,1\\nx\\376,b,2\\nx\\357\\277\\275,c,3\\n' >x.csv").status == 0);
  const json one = parsed(here.fanin("sum x.csv --column v --by k --json"));
  REQUIRE(one["groups"].size() == 3);
  CHECK(one["groups"][0]["key"] == one["groups"][1]["key"]);
  CHECK(one["groups"][0]["key_hex"] == "78ff");
  CHECK(one["groups"][1]["key_hex"] == "78fe");
  CHECK_FALSE(one["groups"][2].contains("key_hex"));
  const json both = parsed(here.fanin("sum x.csv --column v --by k,l --json"));
  CHECK(both["groups"][1]["key_hex"] == json::parse(R"(["78fe", "62"])"));
  const json columns =
      parsed(here.shell("printf 'x\\377,x\\376\\n1,2\\n' | $fanin sum --column all --header --json"));
  CHECK(columns[0]["column_hex"] == "78ff");
  CHECK(columns[1]["column_hex"] == "78fe");
}

TEST_SUITE_END();

}  // namespace
}  // namespace fanin::cli
