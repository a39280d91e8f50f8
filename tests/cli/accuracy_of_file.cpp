// SPDX-License-Identifier: Apache-2.0
// Tests of fanin accuracy FILE.
#include <doctest/doctest.h>

#include "tests/cli/process.hpp"

namespace fanin::cli {
namespace {

TEST_SUITE_BEGIN("accuracy_of_file");

TEST_CASE("accuracy of a file: whether float would do, in ten lines") {
  const scratch_folder here;
  // The sum is 2^24 + 8 + 2^-28, which f64 holds. f32 loses the last term, and a plain loop of f32 the eight ones.
  here.write("x.csv", "n\n16777216\n1.0000000037252902984619140625\n1\n1\n1\n1\n1\n1\n1\n");
  CHECK(here.fanin("accuracy x.csv --column n").out ==
        "x.csv: 9 elements of f64, sum 16777224.000000004, condition 1\n"
        "as f32: 1 of them change, 0 become infinite, and 0 become 0\n"
        "\n"
        "method            f32    error  digits                 f64  error  digits\n"
        "plain loop   16777216  4.8e-07       6  16777224.000000004      0     all\n"
        "fast         16777222  1.2e-07       6  16777224.000000004      0     all\n"
        "compensated  16777224  2.2e-16      15  16777224.000000004      0     all\n"
        "exact        16777224  2.2e-16      15  16777224.000000004      0     all\n"
        "\n"
        "float will do for 15 digits of the sum with --method exact, and for 6 in a plain loop\n");
  const json all = parsed(here.fanin("accuracy x.csv --column n --json"));
  CHECK(all["f32"]["changed"] == 1);
  CHECK(all["f64"]["changed"] == 0);
  CHECK(all["f32"]["sums"][0]["value_text"] == "16777216");
  CHECK(all["f32"]["sums"][3]["value_text"] == "16777224");
  CHECK(all["f64"]["sums"][0]["relative_error"] == 0);
  const json far = parsed(here.shell("echo 1e300 1e-300 3 -1e300 | $fanin accuracy - --json"));
  CHECK(far["f32"]["changed"] == 3);
  CHECK(far["f32"]["infinite"] == 2);
  CHECK(far["f32"]["vanished"] == 1);
  CHECK(here.shell("echo 1e300 3 | $fanin accuracy -")
            .out.ends_with("\nfloat will not do: no digit of the sum is left\n"));
  CHECK(here.shell("echo 1 2 | $fanin accuracy -")
            .out.ends_with("\nfloat will do for all digits of the sum with every method\n"));
  check_failure(here.fanin("accuracy x.csv uniform"), 2, "accuracy takes one FILE, or any number of SPECs");
  check_failure(here.fanin("accuracy x.csv --column n --seed 3"), 2, "--seed is for random numbers");
  check_failure(here.fanin("accuracy uniform --column n"), 2, "options about the input, such as --column, need FILE");
  check_failure(here.fanin("accuracy y.csv"), 1, "y.csv: No such file");
  check_failure(here.shell("echo nan | $fanin accuracy -"), 1, "standard input: the sum is nan");
}

TEST_SUITE_END();

}  // namespace
}  // namespace fanin::cli
