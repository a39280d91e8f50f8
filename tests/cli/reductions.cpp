// SPDX-License-Identifier: Apache-2.0
// Tests of fanin sum, product, min, max, mean and sum_of_squares: the same result from every kind of input, and the
// JSON report.
#include <doctest/doctest.h>

#include <set>

#include <fanin/version.hpp>

#include "tests/cli/process.hpp"

namespace fanin::cli {
namespace {

std::string value(const finished& run) {
  INFO("stderr: ", run.err);
  CHECK(run.status == 0);
  CHECK(run.err.empty());
  CHECK(run.out.ends_with("\n"));
  return run.out.substr(0, run.out.size() - 1);
}

TEST_SUITE_BEGIN("reductions");

TEST_CASE("every operation") {
  const scratch_folder here;
  here.write("x.txt", "3 1 2 -4\n");
  CHECK(value(here.fanin("sum x.txt")) == "2");
  CHECK(value(here.fanin("product x.txt")) == "-24");
  CHECK(value(here.fanin("min x.txt")) == "-4");
  CHECK(value(here.fanin("max x.txt")) == "3");
  CHECK(value(here.fanin("mean x.txt")) == "0.5");
  CHECK(value(here.fanin("sum_of_squares x.txt")) == "30");
  here.write("y.txt", "3 -4\n");
  CHECK(value(here.fanin("norm2 y.txt")) == "5");
  CHECK(value(here.fanin("variance y.txt")) == "12.25");
  CHECK(value(here.fanin("standard_deviation y.txt")) == "3.5");
  CHECK(value(here.fanin("sample_variance y.txt")) == "24.5");
  check_failure(here.shell("echo 1 | $fanin sample_standard_deviation"), 1,
                "sample_standard_deviation of one element: it takes two");
  CHECK(value(here.fanin("argmin x.txt")) == "3 -4 line 1");
  CHECK(value(here.fanin("argmax x.txt")) == "0 3 line 1");
  CHECK(value(here.fanin("minmax x.txt")) == "-4 3");
  CHECK(value(here.fanin("max_magnitude x.txt")) == "4");
  CHECK(value(here.fanin("count_nonzero x.txt")) == "4");
  CHECK(value(here.shell("printf '1000 1000' | $fanin log_sum_exp")) == "1000.6931471805599");
  CHECK(value(here.fanin("any x.txt")) == "true");
  CHECK(value(here.shell("printf '1 0' | $fanin all")) == "false");
}

TEST_CASE("NaN are skipped on request, and counted") {
  const scratch_folder here;
  here.write("x.txt", "nan 3 nan 1\n");
  CHECK(value(here.fanin("sum x.txt")) == "nan");
  CHECK(value(here.fanin("sum x.txt --nan skip")) == "4");
  CHECK(value(here.fanin("mean x.txt --nan skip")) == "2");
  CHECK(value(here.fanin("argmin x.txt --nan skip")) == "3 1 line 1");
  CHECK(value(here.fanin("reduce sum,max x.txt --nan skip")) == "sum 4\nmax 3");
  CHECK(json::parse(value(here.fanin("sum x.txt --nan skip --json"))).at("absent") == 2);
  CHECK(json::parse(value(here.fanin("sum x.txt --json"))).at("absent") == 0);
  CHECK(here.fanin("sum x.txt --nan skip --explain").err.find("left out: 2 NaN\n") != std::string::npos);
  check_failure(here.shell("echo nan | $fanin min --nan skip"), 1, "min of no elements: all are left out");
  check_failure(here.fanin("sum x.txt --nan skp"), 2, "unknown NaN policy 'skp'; did you mean 'skip'?");
  check_failure(here.fanin("sum x.txt --nan skip --save-state s"), 2, "does not go with --nan skip");
  check_failure(here.fanin("sum x.txt --nan skip --variant kahan"), 2, "serial/kahan adds every element");
}

TEST_CASE("many files, one by one and together") {
  const scratch_folder here;
  here.write("a.txt", "1 2 3\n");
  here.write("b.txt", "40\n");
  REQUIRE(here.fanin("generate wide --count 3e6 --output c.npy").status == 0);
  const std::string third = value(here.fanin("max c.npy"));
  CHECK(here.fanin("max a.txt b.txt c.npy").out == "3  a.txt\n40  b.txt\n" + third + "  c.npy\n");
  CHECK(value(here.fanin("mean a.txt b.txt --together")) == "11.5");
  CHECK(value(here.fanin("argmax a.txt b.txt --together")) == "3 40 line 1 of b.txt");
  CHECK(value(here.shell("cat b.txt | $fanin sum a.txt - --together")) == "46");
  const json rows = json::parse(here.fanin("sum a.txt b.txt --json").out);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0]["input"] == "a.txt");
  CHECK(rows[1]["value"] == 40.0);
  REQUIRE(here.fanin("sum a.txt b.txt --together --save-state s").status == 0);
  CHECK(value(here.fanin("merge s")) == "46");
  check_failure(here.fanin("sum a.txt b.txt --save-state t"), 2, "needs --together");
  check_failure(here.shell("echo 1 | $fanin sum - -"), 2, "standard input is named twice");
  here.write("d.npy", "");
  REQUIRE(here.fanin("generate wide --count 30 --type f32 --force --output d.npy").status == 0);
  check_failure(here.fanin("sum c.npy d.npy --together"), 2, "f64, but d.npy has elements of f32");
  CHECK(here.fanin("sum c.npy d.npy").status == 0);
  check_failure(here.fanin("sum a.txt missing.txt"), 1, "missing.txt");
}

TEST_CASE("several operations in one pass") {
  const scratch_folder here;
  REQUIRE(here.fanin("generate wide --count 3e6 --type f32 --output x.npy").status == 0);
  const std::string names[] = {"sum", "norm2", "argmin", "minmax", "sample_variance", "product"};
  std::string expected;
  for (const std::string& name : names) expected += name + " " + value(here.fanin(name + " x.npy")) + "\n";
  const std::string list = "sum,norm2,argmin,minmax,sample_variance,product";
  CHECK(here.fanin("reduce " + list + " x.npy").out == expected);
  CHECK(here.shell("cat x.npy | $fanin reduce " + list).out == expected);
  const json rows = json::parse(here.fanin("reduce sum,any x.npy --json").out);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0]["operation"] == "sum");
  CHECK(rows[0]["count"] == 3000000);
  CHECK(rows[1]["value"] == true);
  check_failure(here.fanin("reduce sum,dot x.npy"), 2, "dot reads two inputs");
  check_failure(here.fanin("reduce sum,maen x.npy"), 2, "did you mean 'mean'?");
  check_failure(here.fanin("reduce log_sum_exp x.npy --method exact"), 2, "its methods are fast");
}

TEST_CASE("results of two numbers, and truths, as JSON") {
  const scratch_folder here;
  here.write("x.txt", "3 1 nan -4 0\n");
  const json place = json::parse(here.fanin("argmax x.txt --json").out);
  CHECK(place["value"] == nullptr);
  CHECK(place["index"] == 2);
  CHECK(place["value_text"] == "nan");
  here.write("x.txt", "3 1 -4 0\n");
  const json least = json::parse(here.fanin("argmin x.txt --type i16 --json").out);
  CHECK(least["value"] == -4);
  CHECK(least["index"] == 2);
  const json both = json::parse(here.fanin("minmax x.txt --json").out);
  CHECK(both["min"] == -4.0);
  CHECK(both["max"] == 3.0);
  CHECK(both["value_text"] == "-4 3");
  CHECK(json::parse(here.fanin("all x.txt --json").out)["value"] == false);
  CHECK(json::parse(here.fanin("any x.txt --json").out)["value_text"] == "true");
}

TEST_CASE("one set of numbers in every format, from a file and from stdin") {
  const scratch_folder here;
  REQUIRE(here.fanin("generate wide --count 30011 --type f64 --seed 3 --output x.npy").status == 0);
  REQUIRE(here.shell("tail -c 240088 x.npy >x.bin; { printf x; cat x.bin; } >odd.bin").status == 0);
  for (const std::string method : {"fast", "compensated", "exact"}) {
    CAPTURE(method);
    const std::string how = " --method " + method;
    const std::string expected = value(here.fanin("sum x.npy" + how));
    CHECK(value(here.fanin("sum - <x.npy" + how)) == expected);
    CHECK(value(here.shell("cat x.npy | $fanin sum -" + how)) == expected);
    CHECK(value(here.fanin("sum x.bin --type f64" + how)) == expected);
    CHECK(value(here.fanin("sum odd.bin --type f64 --skip 1" + how)) == expected);
    CHECK(value(here.fanin("sum - --type f64 --skip 1 <odd.bin" + how)) == expected);
    CHECK(value(here.fanin("sum x.npy --threads 3 --backend serial" + how)) == expected);
  }
}

TEST_CASE("text, CSV and raw options") {
  const scratch_folder here;
  here.write("x.csv", "day;price\r\n\"a;b\";1.5\r\nc;\"2.25\"\r\n");
  CHECK(value(here.fanin("sum x.csv --column price --delimiter ';'")) == "3.75");
  CHECK(value(here.fanin("sum - --column price --delimiter ';' <x.csv")) == "3.75");
  CHECK(value(here.fanin("sum x.csv --header --column 2 --delimiter ';'")) == "3.75");
  here.write("x.tsv", "1\t2\n3\t4\n");
  CHECK(value(here.fanin("sum x.tsv --column 2")) == "6");
  CHECK(value(here.shell("cp x.tsv X.TSV; $fanin sum X.TSV --column 2")) == "6");
  here.write("X.CSV", "1,2\r3,4\r");
  CHECK(value(here.fanin("sum X.CSV --column 2")) == "6");
  CHECK(here.fanin("sum X.CSV").out == "4  1\n6  2\n");
  CHECK(value(here.shell("printf '1,2\\n3' | $fanin sum - --delimiter ,")) == "6");
  check_failure(here.shell("printf '3,14' | $fanin sum -"), 1,
                "if ',' separates numbers, say --delimiter ',' or --format csv; if the comma is a decimal point");
  CHECK(value(here.shell("printf '1 2' >x.txt; $fanin sum <x.txt")) == "3");
  CHECK(value(here.shell("seq 4 | $fanin max --type i32")) == "4");
  CHECK(value(here.shell("seq 100000 | $fanin sum - --type u64")) == "5000050000");
  CHECK(value(here.shell("printf '1\\n2\\n' | $fanin sum - --type i32")) == "3");
  CHECK(value(here.shell("seq 4 >x.dat; $fanin sum x.dat --type f32")) == "10");
  CHECK(value(here.shell("printf 'ABCDEFGH' >x.raw; $fanin max x.raw --type u32")) == "1212630597");
  CHECK(value(here.shell("printf 'ABCDEFGHIJKL' | $fanin max - --type u32 --skip 4 --count 1")) == "1212630597");
}

TEST_CASE("numbers of 16 bits") {
  const scratch_folder here;
  here.shell("printf '\\001\\074\\000\\300\\000\\060' >x.raw");  // 1 + 2^-10, -2 and 1/8 as f16
  CHECK(value(here.fanin("sum x.raw --type f16")) == "-0.87402344");
  CHECK(value(here.fanin("minmax x.raw --type f16")) == "-2 1.0009766");
  CHECK(value(here.fanin("argmin x.raw --type f16 --json | grep -c '\"index\": 1'")) == "1");
  CHECK(value(here.fanin("sum x.raw --type f16 --result f64")) == "-0.8740234375");
  CHECK(value(here.fanin("sum x.raw --type f16 --result f16")) == "-0.87402344");
  CHECK(value(here.shell("printf '1 0.0004882813 0.0000001' | $fanin sum --type f16 --result f16")) == "1.0009766");
  CHECK(
      value(here.shell("printf '1 0.0004882813 0.0000001' | $fanin sum --type f16 --result f16 --save-state s16")) ==
      "1.0009766");
  check_failure(here.fanin("sum x.raw --type f16 --result bf16"), 2, "it gives f32, f64, f16");
  REQUIRE(here.fanin("sum x.raw --type f16 --save-state s.fanin").status == 0);
  CHECK(value(here.fanin("merge s.fanin s.fanin")) == "-1.7480469");
  here.shell("printf '\\200\\077\\000\\100' >x.bf16");
  CHECK(value(here.fanin("mean x.bf16 --format raw --type bf16")) == "1.5");
  CHECK(value(here.shell("seq 256 | $fanin max --type bf16")) == "256");
  REQUIRE(here.fanin("generate uniform --count 3 --type f32 --output x.npy").status == 0);
  here.shell("head -c 128 x.npy >header; { sed 's/<f4/<f2/' header; cat x.raw; } >half.npy");
  CHECK(value(here.fanin("sum half.npy")) == "-0.87402344");
  here.shell("{ sed 's/<f4/|V2/; s/(3,)/(2,)/' header; cat x.bf16; } >brain.npy");
  CHECK(value(here.fanin("sum brain.npy --type bf16")) == "3");
  check_failure(here.fanin("sum brain.npy"), 2, "two bytes; if the elements are bf16, say --type bf16");
  here.shell("printf '\\070\\174\\300' >x.fp8");  // 1, 384 and -2 as e4m3; 0.5, inf and -2 as e5m2
  CHECK(value(here.fanin("sum x.fp8 --format raw --type e4m3")) == "383");
  CHECK(value(here.fanin("min x.fp8 --format raw --type e5m2")) == "-2");
  here.shell("{ sed 's/<f4/|V1/' header; cat x.fp8; } >eight.npy");
  CHECK(value(here.fanin("max eight.npy --type e4m3")) == "384");
  check_failure(here.fanin("sum eight.npy"), 2, "if the elements are e5m2 or e4m3, say --type e5m2 or --type e4m3");
  check_failure(here.fanin("sum eight.npy --type bf16"), 2, "holds e5m2, and --type says bf16");
}

TEST_CASE("json: the keys, and integers in full") {
  const scratch_folder here;
  here.write("x.txt", "9007199254740993 -1\n");
  const json record = parsed(here.fanin("sum x.txt --json --format text --type i64 --backend cuda,serial"));
  const std::set<std::string> keys = {"operation",  "element_type",    "count",   "value",
                                      "value_text", "value_hex",       "backend", "variant",
                                      "method",     "reproducibility", "seconds", "fallback"};
  for (const std::string& key : keys) CHECK(record.contains(key));
  CHECK(record["operation"] == "sum");
  CHECK(record["element_type"] == "i64");
  CHECK(record["count"] == 2);
  CHECK(record["value"] == 9007199254740992);
  CHECK(record["value"].is_number_integer());
  CHECK(record["value_text"] == "9007199254740992");
  CHECK(record["value_hex"] == "0x1p+53");
  CHECK(record["reproducibility"] == "exact");
  CHECK(record["seconds"].is_number());
  if (record["backend"] == "serial") {
    REQUIRE(record["fallback"].size() == 1);
    CHECK(record["fallback"][0]["backend"] == "cuda");
    CHECK(record["fallback"][0]["reason"].is_string());
  }
}

TEST_CASE("json: numbers that JSON cannot say, and shortest round trips") {
  const scratch_folder here;
  const auto record = [&](const std::string& text, const std::string& options) {
    here.write("x.txt", text);
    return parsed(here.fanin("sum x.txt --json --format text " + options));
  };
  for (const std::string word : {"nan", "inf", "-inf"}) {
    const json one = record(word, "");
    CHECK(one["value"].is_null());
    CHECK(one["value_text"] == word);
    CHECK(one["value_hex"] == word);
  }
  CHECK(record("-0", "")["value_text"] == "-0");
  CHECK(record("0.1", "")["value_text"] == "0.1");
  CHECK(record("0.1", "")["value_hex"] == "0x1.999999999999ap-4");
  CHECK(record("0.1", "--type f32")["value_text"] == "0.1");
  CHECK(record("0.1", "--type f32")["value"] == static_cast<double>(0.1f));
  CHECK(record("16777216 1", "--type f32 --method exact --result f64")["value_text"] == "16777217");
}

TEST_CASE("without --method the command is exact, and --json says how") {
  scratch_folder here;
  REQUIRE(here.shell("printf '1 1e22 1 -1e22\\n' > x.txt").status == 0);
  CHECK(value(here.fanin("sum x.txt")) == "2");
  CHECK(value(here.fanin("sum x.txt --variant naive")) == "0");
  CHECK(json::parse(here.fanin("sum x.txt --method fast --json").out)["method"] == "fast");
  CHECK(value(here.fanin("product x.txt --method fast")) == value(here.fanin("product x.txt")));
  const json how = json::parse(here.fanin("sum x.txt --json").out);
  CHECK(how["schema"] == 1);
  CHECK(how["fanin_version"] == FANIN_VERSION);
  CHECK(how["method"] == "exact");
  CHECK(how["bound"]["of_result"] == 0x1p-53);
  CHECK(how["bound"]["of_magnitudes"] == 0);
  CHECK(here.fanin("sum x.txt --explain").err.find("bound: |error| <= 2.3e-16\n") != std::string::npos);
  CHECK(here.fanin("sum x.txt --method fast --explain")
            .err.find("-16 M, M the sum of the magnitudes, which 'fanin sum_of_magnitudes' "
                      "prints, if the sum of the magnitudes is at most half the largest finite "
                      "value\n") != std::string::npos);
  CHECK(json::parse(here.fanin("sum x.txt --method fast --json").out)["error_bound"].is_null());
  // The magnitudes add up to 2e22 + 2; each of the five additions has at most the relative error 2^-53.
  const json bounded = json::parse(here.shell("cat x.txt | $fanin sum --method fast --bound --json").out);
  const double most = bounded["error_bound"].get<double>();
  CHECK((most >= 2.0 && most <= 5 * 0x1p-53 * 2.0001e22));
  CHECK(here.fanin("sum x.txt --method fast --bound --explain").err.find("<= 1.2e+07, if ") != std::string::npos);
  check_failure(here.fanin("sum x.txt --bound --axis 0 --shape 2,2"), 2, "--bound is for one result");
  check_failure(here.fanin("sum x.txt x.txt --together --method fast --bound"), 2, "does not go with --together");
  CHECK(how["bound"]["if"].is_null());
  CHECK(json::parse(here.fanin("sum x.txt --json --method fast").out)["bound"]["if"].is_string());
  const std::string product = here.shell("echo 1e-200 1e-200 | $fanin product - --explain").err;
  CHECK(product.find("if no product of some of the elements overflows or underflows, and ") != std::string::npos);
  CHECK(here.fanin("max x.txt --explain").err.find("bound: 0: the value is exact\n") != std::string::npos);
}

TEST_CASE("every object of --json says its schema and the version") {
  scratch_folder here;
  REQUIRE(here.shell("seq 3 > x.txt && $fanin sum x.txt --save-state x.sum >x.out").status == 0);
  for (const std::string command :
       {"sum x.txt", "merge x.sum", "compare x.txt", "backends", "accuracy constant --count 100", "device"}) {
    CAPTURE(command);
    const json found = json::parse(here.fanin(command + " --json").out);
    for (const json& one : found.is_array() ? found : json::array({found})) {
      CHECK(one.value("schema", 0) == 1);
      CHECK(one.value("fanin_version", "") == FANIN_VERSION);
    }
  }
  const json bound = json::parse(here.fanin("merge x.sum --json").out)["bound"];
  CHECK(bound["of_result"] == 0x1p-53);
  CHECK(bound["if"].get<std::string>().find("numbers as read") != std::string::npos);
  CHECK(json::parse(here.fanin("regress --command true true --pairs 8 --json").out).value("schema", 0) == 1);
}

TEST_CASE("a dead end lists what there is") {
  scratch_folder here;
  REQUIRE(here.shell("seq 3 > x.txt").status == 0);
  check_failure(here.fanin("sum x.txt --method precise"), 2, "there are fast, compensated, exact");
  check_failure(here.fanin("sum x.txt --result f23"), 2, "there are f32, f64, i32");
  check_failure(here.fanin("sum x.txt --type f31"), 2, "did you mean 'f32'? there are f32, f64, i32");
  check_failure(here.fanin("generate unifrm --count 3 -o y.npy"), 2, "did you mean 'uniform'? there are ");
  check_failure(here.fanin("merge x.txt --operation men"), 2, "did you mean 'mean'? there are sum, mean");
  check_failure(here.fanin("sum x.txt --type i32 --result f64"), 2, "is not offered as f64; it gives i64");
  check_failure(here.fanin("product x.txt --type f64 --method exact"), 2,
                "there is no exact product of f64; its methods are fast");
  CHECK(value(here.fanin("norm2 x.txt --type i32")) == "3.7416573867739413");
  CHECK(value(here.fanin("variance x.txt --type i32")) == "0.6666666666666666");
}

TEST_CASE("merge: states of parts give the bits of the whole") {
  const scratch_folder here;
  for (const std::string type : {"f32", "f64"}) {
    REQUIRE(here.fanin("generate condition:1e20 --count 3e4 --force --type " + type + " --output x.npy").status == 0);
    const std::string whole = value(here.fanin("sum x.npy --method exact"));
    const std::string raw = "tail -c +129 x.npy >x.raw; ";
    const std::string part = "$fanin sum x.raw --method exact --force --type " + type;
    const finished parts = here.shell(raw + part + " --count 12345 --save-state a.fanin && " + part + " --skip " +
                                      std::to_string(12345 * (type == "f32" ? 4 : 8)) + " --save-state b.fanin && " +
                                      part + " --count 0 --save-state c.fanin");
    REQUIRE(parts.status == 0);
    CHECK(value(here.fanin("merge a.fanin b.fanin c.fanin")) == whole);
    CHECK(value(here.fanin("merge b.fanin c.fanin a.fanin --save-state all.fanin --force")) == whole);
    CHECK(parsed(here.fanin("merge all.fanin --json"))["value_text"] == whole);
    CHECK(value(here.shell(
              "cat x.raw | $fanin sum - --format raw --method exact --force --save-state s.fanin --type " + type)) ==
          whole);
    CHECK(here.read("s.fanin") == here.read("all.fanin"));
    CHECK(parsed(here.fanin("merge all.fanin --json"))["count"] == 30000);
    CHECK(value(here.fanin("merge all.fanin --operation mean")) == value(here.fanin("mean x.npy --method exact")));
    REQUIRE(here.fanin("mean x.npy --method exact --save-state mean.fanin --force").status == 0);
    CHECK(here.read("mean.fanin") == here.read("all.fanin"));
    check_failure(here.fanin("merge c.fanin --operation mean"), 2, "mean of no elements");
    here.shell("cp a.fanin " + type + ".fanin");
  }
  // Format 1 has neither the number of values, at byte 8, nor the checksum in the last four bytes.
  here.shell("s=f32.fanin; { printf 'FNX\\001'; head -c 8 $s | tail -c 4; tail -c +17 $s | head -c -4; } >old.fanin");
  const json old = parsed(here.fanin("merge old.fanin f32.fanin --json"));
  CHECK(old["count"].is_null());
  CHECK(old["value_text"] == value(here.fanin("merge f32.fanin f32.fanin")));
  check_failure(here.fanin("merge old.fanin --operation mean"), 2, "saved without the number of its elements");
  for (const std::string type : {"f32", "f64"}) {
    here.shell("{ cat " + type + ".fanin; echo; } >long.fanin");
    check_failure(here.fanin("merge long.fanin"), 1, "long.fanin: ");
  }
  check_failure(here.fanin("merge f32.fanin f64.fanin"), 1, "f64.fanin: this is a sum of f64 elements");
  check_failure(here.fanin("merge f32.fanin x.npy"), 1, "x.npy: ");
  check_failure(here.fanin("merge missing"), 1, "missing: No such file");
  check_failure(here.fanin("merge ."), 1, ".: is a directory");
  CHECK(value(here.fanin("merge - f32.fanin <f32.fanin")) == value(here.fanin("merge f32.fanin f32.fanin")));
  CHECK(value(here.shell("cat f64.fanin | $fanin merge -")) == value(here.fanin("merge f64.fanin")));
  check_failure(here.fanin("merge f32.fanin - <f64.fanin"), 1, "standard input: this is a sum of f64 elements");
  check_failure(here.fanin("merge - <x.npy"), 1, "standard input: ");
  check_failure(here.fanin("merge - - <f64.fanin"), 2, "standard input is named twice");
  check_failure(here.fanin("merge /dev/zero"), 1, "/dev/zero: ");
  check_failure(here.fanin("sum x.npy --method exact --save-state none/y"), 1, "none/y");
  check_failure(here.fanin("sum x.npy --method fast --save-state y"), 2, "--save-state needs the method exact");
  check_failure(here.shell("seq 3 | $fanin sum - --type i32 --method exact --save-state y"), 2, "are i32");
}

TEST_CASE("explain says on stderr who ran and why") {
  const scratch_folder here;
  here.write("x.txt", "1 2");
  const finished run = here.fanin("sum x.txt --explain --backend cuda,serial --variant kahan");
  CHECK(run.status == 0);
  CHECK(run.out == "3\n");
  for (const std::string part : {"2 elements of f64", "passed over: cuda", "ran: sum by serial/kahan",
                                 "same bits: fixed_order", "|error| <="}) {
    CAPTURE(part);
    CHECK(run.err.find(part) != std::string::npos);
  }
}

TEST_CASE("reduce explains each operation") {
  const scratch_folder here;
  here.write("x.csv", "k,v\na,1\nb,2\n");
  for (const std::string many : {"", " --by k", " --axis 0"}) {
    CAPTURE(many);
    const finished run = here.fanin("reduce sum,mean x.csv --column v --explain" + many);
    CHECK(run.status == 0);
    CHECK(run.err.find("ran: sum by ") != std::string::npos);
    CHECK(run.err.find("ran: mean by ") != std::string::npos);
    CHECK((run.err.find("results: ") != std::string::npos) == !many.empty());
  }
}

TEST_CASE("the environment chooses when the command line does not") {
  const scratch_folder here;
  here.write("x.txt", "1 2");
  CHECK(json::parse(here.shell("FANIN_BACKEND=serial $fanin sum x.txt --json").out)["backend"] == "serial");
}

TEST_SUITE_END();

}  // namespace
}  // namespace fanin::cli
