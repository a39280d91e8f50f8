// SPDX-License-Identifier: Apache-2.0
// Complex numbers: how they are read and printed.
#include <doctest/doctest.h>

#include "tests/cli/process.hpp"

using namespace fanin::cli;

namespace {

std::string value(const finished& run) {
  CHECK(run.err == "");
  REQUIRE(run.status == 0);
  return run.out.substr(0, run.out.find('\n'));
}

}  // namespace

TEST_SUITE_BEGIN("cli/complex_numbers");

TEST_CASE("text") {
  const scratch_folder here;
  const auto sum = [&](const std::string& words, const std::string& more = "") {
    return here.shell("printf -- '" + words + "' | $fanin sum --type c128 " + more);
  };
  CHECK(value(sum("1+2j 3-4j")) == "4-2j");
  CHECK(value(sum("(1.5+2j) -2j 5 1e-1-1E+2j 0.5i")) == "6.6-99.5j");
  CHECK(value(sum("+1-2.5e-3j")) == "1-0.0025j");
  CHECK(value(sum("nan+1j")) == "nan+1j");
  CHECK(value(sum("inf-infj")) == "inf-infj");
  CHECK(value(sum("-0-0j -0-0j")) == "-0-0j");
  CHECK(value(sum("1 1+nanj 2j", "--nan skip")) == "1+2j");
  for (const std::string word : {"j", "1+2", "1+2jj", "(1+2j", "1+j2", "1 +", "()", "1e+j"}) {
    CAPTURE(word);
    check_failure(sum(word), 1, "is not a number of type c128");
  }
  check_failure(sum("1e400j"), 1, "out of range");
  here.write("t.csv", "name,z\na,1+1j\nb,2-3j\n");
  CHECK(value(here.fanin("sum t.csv --column z --type c64")) == "3-2j");
}

TEST_CASE("binary input") {
  const scratch_folder here;
  here.shell("printf '\\000\\000\\200\\077\\000\\000\\000\\300' >x.raw");  // 1 - 2i as two f32
  CHECK(value(here.fanin("sum x.raw --type c64")) == "1-2j");
  CHECK(value(here.fanin("dot x.raw x.raw --type c64")) == "-3-4j");
  CHECK(value(here.fanin("vdot x.raw x.raw --type c64")) == "5+0j");
  CHECK(value(here.fanin("sum x.raw --type c64 --result c128")) == "1-2j");
  REQUIRE(here.fanin("generate uniform --count 1 --type f32 --output u.npy").status == 0);
  here.shell("head -c 128 u.npy | sed 's/<f4/<c8/' >z.npy; cat x.raw >>z.npy");
  CHECK(value(here.fanin("norm2 z.npy")) == "2.236068");
  CHECK(value(here.fanin("sum_of_magnitudes z.npy")) == "2.236068");
  CHECK(value(here.fanin("reduce sum,mean,product z.npy | tail -n 1")) == "product 1-2j");
  check_failure(here.fanin("max z.npy"), 2, "fanin: there is no max of c64; it is for f32");
  check_failure(here.fanin("product z.npy --method exact"), 2, "its methods are fast");
  check_failure(here.fanin("compare z.npy"), 2, "compare is for real numbers; these are c64");
  check_failure(here.fanin("describe z.npy"), 2, "standard_deviation of c64");
  check_failure(here.fanin("sum z.npy --save-state s"), 2, "these elements are c64");
}

TEST_CASE("json") {
  const scratch_folder here;
  here.write("x.txt", "1+2j nan-1j\n");
  const json one = parsed(here.fanin("sum x.txt --type c64 --nan skip --json"));
  CHECK(one["value"] == json::array({1.0, 2.0}));
  CHECK(one["value_text"] == "1+2j");
  CHECK(one["value_hex"] == "0x1p+0+0x1p+1j");
  CHECK(one["absent"] == 1);
  const json nan = parsed(here.fanin("sum x.txt --type c64 --json"));
  CHECK(nan["value"] == json::array({nullptr, 1.0}));
  CHECK(nan["value_text"] == "nan+1j");
}

TEST_SUITE_END();
