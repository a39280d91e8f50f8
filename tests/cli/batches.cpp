// SPDX-License-Identifier: Apache-2.0
// Tests of many results in one call: rows along axes, segments, and groups by number.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "cli/input/npy.hpp"
#include "tests/cli/process.hpp"

namespace fanin::cli {
namespace {

/// An .npy file of these elements.
template <class T>
std::string npy_with(const std::vector<std::size_t>& shape, const std::vector<T>& elements) {
  const auto bytes = std::as_bytes(std::span(elements));
  return write_npy_header(type_of<T>, shape).append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

/// An .npy file with the elements in Fortran order, as they lie in `elements`.
template <class T>
std::string fortran_npy_with(const std::vector<std::size_t>& shape, const std::vector<T>& elements) {
  std::string file = npy_with(shape, elements);
  return file.replace(file.find("False, "), 7, "True,  ");
}

/// f64 from 0 on, in 2 x 3 x 4.
std::vector<double> cube_elements() {
  std::vector<double> x(24);
  std::iota(x.begin(), x.end(), 0);
  return x;
}

std::string text_of_results(const std::vector<double>& values) {
  std::string text;
  for (const double value : values) text += fmt::format("{}\n", value);
  return text;
}

TEST_SUITE_BEGIN("batches");

TEST_CASE("rows along each axis, from the front and the end, in C and in Fortran order") {
  const scratch_folder here;
  const std::vector<double> x = cube_elements();
  std::vector<double> transposed(24),
      sums[3] = {std::vector<double>(12), std::vector<double>(8), std::vector<double>(6)};
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      for (std::size_t k = 0; k < 4; ++k) {
        const double value = x[(i * 3 + j) * 4 + k];
        transposed[(k * 3 + j) * 2 + i] = value;
        sums[0][j * 4 + k] += value;
        sums[1][i * 4 + k] += value;
        sums[2][i * 3 + j] += value;
      }
    }
  }
  here.write("c.npy", npy_with({2, 3, 4}, x));
  here.write("f.npy", fortran_npy_with({2, 3, 4}, transposed));
  for (const std::string file : {"c.npy", "f.npy"}) {
    CAPTURE(file);
    for (int axis = 0; axis < 3; ++axis) {
      CHECK(here.fanin(fmt::format("sum {} --axis {}", file, axis)).out == text_of_results(sums[axis]));
      CHECK(here.fanin(fmt::format("sum {} --axis {} --method fast", file, axis - 3)).out ==
            text_of_results(sums[axis]));
    }
    CHECK(here.fanin("sum " + file + " --axis 0,2").out == "60\n92\n124\n");
    CHECK(here.fanin("sum " + file + " --axis 0,1,2").out == "276\n");
    CHECK(here.fanin("argmax " + file + " --axis 1").out == "2 8\n2 9\n2 10\n2 11\n2 20\n2 21\n2 22\n2 23\n");
    CHECK(here.fanin("minmax " + file + " --axis 1,0").out == "0 20\n1 21\n2 22\n3 23\n");
    CHECK(here.shell("cat " + file + " | $fanin max --axis -1").out == "3\n7\n11\n15\n19\n23\n");
  }
  CHECK(here.fanin("dot c.npy c.npy --axis 1,2").out == "506\n3818\n");
  check_failure(here.fanin("dot c.npy f.npy --axis 1"), 2, "save both in the same order");
  CHECK(here.fanin("sum c.npy --axis 1 --shape 2,3,4").out == text_of_results(sums[1]));
  check_failure(here.fanin("sum c.npy --axis 1 --shape 6,4"), 2, "has the shape (2, 3, 4), but --shape says (6, 4)");
}

TEST_CASE("rows of raw and text inputs") {
  const scratch_folder here;
  CHECK(here.shell("seq 12 | $fanin sum --axis 1 --shape 3,4").out == "10\n26\n42\n");
  CHECK(here.shell("seq 12 | $fanin mean --axis 0 --shape 3,4 --type f32").out == "5\n6\n7\n8\n");
  CHECK(here.shell("seq 12 | $fanin sum --axis 0").out == "78\n");
  CHECK(here.shell("printf '\\1\\2\\3\\4' >x.bin; $fanin sum x.bin --type u8 --axis 1 --shape 2,2").out == "3\n7\n");
  CHECK(here.shell("printf 'a,b\\n1,2\\n3,4\\n' >x.csv; $fanin product x.csv --column b --axis 0").out == "8\n");
  check_failure(here.shell("seq 12 | $fanin sum --axis 1 --shape 3,5"), 2,
                "the shape has 15 elements, but the input has 12");
  check_failure(here.shell("seq 12 | $fanin sum --axis 1 --shape 3,x"), 2,
                "--shape is a whole number of at least 0, not 'x'");
}

TEST_CASE("NaN and rows of too few elements") {
  const scratch_folder here;
  here.write("x.txt", "1 nan nan nan 3 5\n");
  CHECK(here.fanin("sum x.txt --axis 1 --shape 3,2").out == "nan\nnan\n8\n");
  CHECK(here.fanin("mean x.txt --axis 1 --shape 3,2 --nan skip").out == "1\nnan\n4\n");
  CHECK(here.fanin("sum x.txt --axis 1 --shape 3,2 --nan skip").out == "1\n0\n8\n");
  CHECK(parsed(here.fanin("sum x.txt --axis 1 --shape 3,2 --nan skip --json"))["absent"] == 3);
  here.write("e.npy", npy_with<float>({0, 2}, {}));
  CHECK(here.fanin("mean e.npy --axis 0").out == "nan\nnan\n");
  CHECK(here.fanin("sum e.npy --axis 0").out == "0\n0\n");
  const finished none = here.fanin("mean e.npy --axis 1");
  CHECK(none.status == 0);
  CHECK(none.out.empty());
  check_failure(here.fanin("argmax e.npy --axis 0"), 1, "e.npy: result 0: too few elements for argmax");
}

TEST_CASE("an .npy of the results, complete or not at all") {
  const scratch_folder here;
  here.write("x.npy", npy_with({2, 3, 4}, cube_elements()));
  const finished written = here.fanin("sum x.npy --axis 1 -o y.npy");
  CHECK(written.status == 0);
  CHECK(written.out.empty());
  CHECK(here.read("y.npy") == npy_with<double>({2, 4}, {12, 15, 18, 21, 48, 51, 54, 57}));
  CHECK(here.fanin("argmin x.npy --axis 0,2 --output z.npy").status == 0);
  CHECK(here.read("z.npy") == npy_with<std::int64_t>({3}, {0, 0, 0}));
  CHECK(here.fanin("sum x.npy --axis 0,1,2 --output - >scalar.npy").status == 0);
  CHECK(here.read("scalar.npy") == npy_with<double>({}, {276}));
  CHECK(here.fanin("any x.npy --axis 1,2 --output any.npy").status == 0);
  CHECK(here.read("any.npy") == npy_with<std::uint8_t>({2}, {1, 1}));
  check_failure(here.fanin("max x.npy --axis 1 -o y.npy"), 1, "y.npy: exists; --force replaces it");
  CHECK(here.fanin("max x.npy --axis 1,2 -o y.npy --force").status == 0);
  CHECK(here.read("y.npy") == npy_with<double>({2}, {11, 23}));
  check_failure(here.fanin("sum x.npy --axis 1 -o x.npy --force"), 2, "x.npy: --output would replace the input");
  check_failure(here.fanin("minmax x.npy --axis 1 -o new.npy"), 2, "write min and max");
  check_failure(here.fanin("sum x.npy --axis 1 -o - --json"), 2, "--json and --output both write to standard output");
  here.write("big.npy", npy_with<std::int64_t>({1, 2}, {INT64_MAX, 1}));
  check_failure(here.fanin("sum big.npy --axis 1 -o new.npy"), 1, "big.npy: result 0: ");
  CHECK(here.shell("ls new.npy* 2>/dev/null").out.empty());
  const json told = parsed(here.fanin("sum x.npy --axis 1 -o told.npy --json"));
  CHECK(told["output"] == "told.npy");
  CHECK(told["shape"] == json{2, 4});
  CHECK_FALSE(told.contains("values"));
}

TEST_CASE("results as JSON, and who computed them") {
  const scratch_folder here;
  here.write("x.txt", "1 2 3 4 inf 6\n");
  const json sums = parsed(here.fanin("sum x.txt --shape 3,2 --axis 1 --json"));
  CHECK(sums["operation"] == "sum");
  CHECK(sums["count"] == 6);
  CHECK(sums["shape"] == json{3});
  CHECK(sums["values"] == json{3.0, 7.0, nullptr});
  CHECK(sums["values_text"] == json{"3", "7", "inf"});
  CHECK(sums["method"] == "exact");
  CHECK(sums["fallback"].is_array());
  CHECK_FALSE(sums.contains("value"));
  const json places = parsed(here.fanin("argmax x.txt --shape 2,3 --axis 0 --type f32 --json"));
  CHECK(places["indices"] == json{1, 1, 1});
  CHECK(places["values"] == json{4.0, nullptr, 6.0});
  CHECK(parsed(here.fanin("minmax x.txt --shape 3,2 --axis 0 --json"))["min"] == json{1.0, 2.0});
  CHECK(parsed(here.fanin("all x.txt --shape 3,2 --axis 0 --json"))["values"] == json{true, true});
  const std::string said = here.fanin("sum x.txt --shape 3,2 --axis 1 --method fast --backend serial --explain").err;
  CHECK(said.find("input: x.txt, text, 6 elements of f64, read\n") != std::string::npos);
  CHECK(said.find("ran: sum by serial/") != std::string::npos);
  CHECK(said.find("bound: of each value, |error| <= ") != std::string::npos);
  CHECK(said.find("results: 3, in the shape (3,)\n") != std::string::npos);
}

TEST_CASE("segments between offsets") {
  const scratch_folder here;
  here.write("x.txt", "1 2 3 4 5 6\n");
  here.write("o.npy", npy_with<std::int32_t>({4}, {0, 2, 2, 6}));
  here.write("o8.npy", npy_with<std::uint64_t>({4}, {0, 2, 2, 6}));
  for (const std::string offsets : {"o.npy", "o8.npy"}) {
    CHECK(here.fanin("sum x.txt --segments " + offsets).out == "3\n0\n18\n");
    CHECK(here.fanin("mean x.txt --segments " + offsets).out == "1.5\nnan\n4.5\n");
  }
  CHECK(here.fanin("dot x.txt x.txt --segments o.npy").out == "5\n0\n86\n");
  CHECK(parsed(here.fanin("sum x.txt --segments o.npy --json"))["shape"] == json{3});
  CHECK(here.fanin("sum x.txt --type f64 --segments o.npy -o y.npy").status == 0);
  CHECK(here.read("y.npy") == npy_with<double>({3}, {3, 0, 18}));
  here.write("far.npy", npy_with<std::int32_t>({2}, {0, 7}));
  check_failure(here.fanin("sum x.txt --segments far.npy"), 1, "x.txt by far.npy: ");
  here.write("none.npy", npy_with<std::int32_t>({0}, {}));
  check_failure(here.fanin("sum x.txt --segments none.npy"), 1, "none.npy: there are no offsets");
  check_failure(here.fanin("sum x.txt --segments x.txt"), 2, "--segments takes an .npy file of i32, i64, u32 or u64");
  check_failure(here.fanin("sum x.txt --segments y.npy"), 2, "not npy of f64");
}

TEST_CASE("groups by key") {
  const scratch_folder here;
  here.write("x.txt", "1 2 3 4 5 6\n");
  here.write("k.npy", npy_with<std::int64_t>({2, 3}, {2, 0, 2, 0, 3, 0}));
  CHECK(here.fanin("sum x.txt --keys k.npy").out == "12\n0\n4\n5\n");
  CHECK(here.fanin("sum x.txt --keys k.npy --groups 5").out == "12\n0\n4\n5\n0\n");
  CHECK(here.fanin("argmax x.txt --keys k.npy --groups 4 --type i32 --json").status == 1);  // Group 1 has no element.
  check_failure(here.fanin("sum x.txt --keys k.npy --groups 2"), 1, "x.txt by k.npy: key 0 is 2");
  CHECK(here.fanin("argmax x.txt --keys k.npy --groups 1 --drop-others").out == "5 6 line 1\n");
  CHECK(parsed(here.fanin("sum x.txt --keys k.npy --groups 2 --drop-others --json"))["absent"] == 3);
  CHECK(here.fanin("sum x.txt --keys k.npy --groups 2 --drop-others --explain").err.find("left out: 3 elements\n") !=
        std::string::npos);
  here.write("negative.npy", npy_with<std::int32_t>({6}, {-1, 0, 0, 0, 0, 1}));
  check_failure(here.fanin("sum x.txt --keys negative.npy"), 1, "key 0 is -1");
  CHECK(here.fanin("sum x.txt --keys negative.npy --drop-others").out == "14\n6\n");
  here.write("short.npy", npy_with<std::int8_t>({6}, {-1, 0, 0, 0, 0, 1}));
  CHECK(here.fanin("sum x.txt --keys short.npy --groups 300 --drop-others -o y.npy").status == 0);
  check_failure(here.fanin("sum x.txt --keys short.npy --groups 300"), 1, "key 0 is -1");
  CHECK(here.fanin("sum x.txt --keys short.npy --drop-others").out == "14\n6\n");
  here.write("unsigned.npy", npy_with<std::uint16_t>({6}, {0, 0, 0, 0, 0, 40000}));
  CHECK(parsed(here.fanin("sum x.txt --keys unsigned.npy --json"))["shape"] == json{40001});
  here.write("far.npy", npy_with<std::uint64_t>({6}, {0, 0, 0, 0, 0, std::uint64_t{1} << 40}));
  check_failure(here.fanin("sum x.txt --keys far.npy"), 2, "if the keys are right, say --groups");
  here.write("most.npy", npy_with<std::uint64_t>({6}, {0, 0, 0, 0, 0, UINT64_MAX}));
  check_failure(here.fanin("sum x.txt --keys most.npy"), 2, "say --groups");
  check_failure(here.fanin("sum x.txt --keys x.txt"), 2, "--keys takes an .npy file of integers, not text of f64");
  here.write("five.npy", npy_with<std::int32_t>({5}, {0, 0, 0, 0, 0}));
  check_failure(here.fanin("sum x.txt --keys five.npy"), 1, "five.npy: there are 5 keys for 6 elements");
  here.write("f.npy", fortran_npy_with<std::int32_t>({2, 3}, {0, 0, 0, 0, 0, 0}));
  check_failure(here.fanin("sum x.txt --keys f.npy"), 2, "f.npy: the array is in Fortran order");
}

TEST_CASE("several operations of rows, segments and groups: a line for each result") {
  const scratch_folder here;
  here.write("x.npy", npy_with({2, 3, 4}, cube_elements()));
  here.write("x.txt", "1 2 3 4 5 6\n");
  here.write("o.npy", npy_with<std::int32_t>({4}, {0, 2, 2, 6}));
  here.write("k.npy", npy_with<std::int32_t>({6}, {2, 0, 2, 0, 1, 0}));
  CHECK(here.shell("seq 12 | $fanin reduce sum,mean,max --axis 1 --shape 3,4").out ==
        "10 2.5 4\n26 6.5 8\n42 10.5 12\n");
  CHECK(here.fanin("reduce argmax,minmax x.npy --axis 0,2").out == "7 15 0 15\n7 19 4 19\n7 23 8 23\n");
  const std::string lines = "seq 12 | $fanin reduce argmax,sum --shape 3,4 ";
  CHECK(here.shell(lines + "--axis 0").out == "2 9 line 9 15\n2 10 line 10 18\n2 11 line 11 21\n2 12 line 12 24\n");
  CHECK(parsed(here.shell(lines + "--axis 1 --json"))[0]["lines"] == json{4, 8, 12});
  here.write("big.txt", "9223372036854775807 5 7 9 2 3");
  const std::string rows_of_big = " big.txt --axis 1 --shape 2,3";
  const finished big = here.fanin("reduce sum,product,max" + rows_of_big);
  CHECK(big.status == 1);
  CHECK(big.out == "overflow overflow 9223372036854775807\n14 54 9\n");
  CHECK(big.err ==
        "fanin: big.txt: result 0: the sum does not fit in 64 bits; --type f64 takes the numbers as f64\n"
        "fanin: big.txt: result 0: the product does not fit in 64 bits; --type f64 takes the numbers as f64\n");
  here.write("big.npy", npy_with<std::int64_t>({2, 3}, {9223372036854775807, 5, 7, 9, 2, 3}));
  CHECK(here.fanin("reduce sum,count,max big.npy --axis 1").out == "overflow 3 9223372036854775807\n14 3 9\n");
  CHECK(here.fanin("reduce max,count,mean,argmin big.npy --axis 0").out ==
        "9223372036854775807 2 4.611686018427388e+18 1 9\n5 2 3.5 1 2\n7 2 5 1 3\n");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  here.write("n.npy", npy_with<double>({2, 3}, {1, nan, 2, nan, nan, 4}));
  for (const std::string words : {"count,sum", "count,mean,sum"}) {
    CAPTURE(words);
    const bool has_mean = words != "count,sum";
    CHECK(here.fanin("reduce " + words + " n.npy --axis 1 --nan skip").out ==
          (has_mean ? "2 1.5 3\n1 4 4\n" : "2 3\n1 4\n"));
    CHECK(here.fanin("reduce " + words + " n.npy --axis 1").out ==
          (has_mean ? "3 nan nan\n3 nan nan\n" : "3 nan\n3 nan\n"));
  }
  CHECK(here.fanin("reduce sum,count x.npy --axis 1 --nan skip").out ==
        here.fanin("reduce sum,count x.npy --axis 1").out);
  CHECK(here.fanin("reduce count,sum x.npy --axis 0,2 --nan skip").out == "8 60\n8 92\n8 124\n");
  const json counts = parsed(here.fanin("reduce count,sum n.npy --axis 0 --nan skip --json"));
  CHECK(counts[0]["absent"] == 3);
  CHECK(counts[0]["values"] == json{1, 0, 2});
  check_failure(here.fanin("reduce sum,min x.npy --axis 3"), 2, "there is no axis 3");
  check_failure(here.fanin("reduce sum,product x.npy --axis 1 --method exact"), 2, "product");
  const json nulls = json::parse(here.fanin("sum" + rows_of_big + " --json").out);
  CHECK(nulls["values"] == json{nullptr, 14});
  CHECK(nulls["values_text"] == json{"overflow", "14"});
  check_failure(here.fanin("sum" + rows_of_big + " -o sums.npy"), 1, "result 0: the sum does not fit in 64 bits");
  CHECK(here.shell("ls sums.npy").status != 0);
  here.write("p.npy", npy_with<std::int32_t>({3}, {0, 2, 6}));
  CHECK(here.fanin("argmax x.txt --segments p.npy").out == "1 2 line 1\n3 6 line 1\n");
  CHECK(here.fanin("reduce sum,mean x.txt --segments o.npy").out == "3 1.5\n0 nan\n18 4.5\n");
  CHECK(here.fanin("reduce sum,any x.txt --keys k.npy --groups 4").out == "12 true\n5 true\n4 true\n0 false\n");
  const json both = parsed(here.fanin("reduce sum,argmin x.npy --axis 2 --json"));
  CHECK(both.size() == 2);
  CHECK(both[0]["operation"] == "sum");
  CHECK(both[0]["shape"] == json{2, 3});
  CHECK(both[0]["values"] == json{6.0, 22.0, 38.0, 54.0, 70.0, 86.0});
  CHECK(both[1]["indices"] == json{0, 0, 0, 0, 0, 0});
  CHECK(parsed(here.fanin("reduce sum x.npy --axis 2 --json")).is_array());
  CHECK(here.fanin("reduce max x.npy --axis 1,2 -o y.npy").status == 0);
  CHECK(here.read("y.npy") == npy_with<double>({2}, {11, 23}));
  check_failure(here.fanin("reduce sum,max x.npy --axis 1 -o z.npy"), 2, "--output takes one operation, not 2");
  check_failure(here.fanin("reduce minmax x.npy --axis 1 -o z.npy"), 2, "write min and max");
  check_failure(here.fanin("reduce sum x.npy --axis 1 -o x.npy --force"), 2, "--output would replace the input");
  check_failure(here.fanin("reduce sum x.npy --axis 1 --force"), 2, "--force requires --output");
  check_failure(here.fanin("reduce sum x.npy -o z.npy"), 2, "--output requires --axis, --segments, --keys or --by");
  check_failure(here.fanin("reduce sum,dot x.npy --axis 1"), 2, "dot reads two inputs");
  check_failure(here.fanin("reduce sum,mean x.npy --axis 3"), 2, "there is no axis 3 of 3");
  check_failure(here.fanin("reduce sum,mean x.txt --keys k.npy --groups 2"), 1, "x.txt by k.npy: key 0 is 2");
  check_failure(here.shell("echo 1 | $fanin reduce sum - --keys -"), 2, "standard input is named twice");
  here.write("none.npy", npy_with<double>({2, 0}, {}));
  CHECK(here.fanin("reduce sum,mean none.npy --axis 1").out == "0 nan\n0 nan\n");
  CHECK(here.fanin("reduce sum,mean none.npy --axis 0").out.empty());
}

TEST_CASE("what does not go together") {
  const scratch_folder here;
  here.write("x.csv", "a,b\n1,2\n");
  here.write("x.txt", "1 2\n");
  const std::string axis = "sum x.txt --axis 0 ";
  check_failure(here.fanin(axis + "--together"), 2, "--together is for one result, but --axis asks for many");
  check_failure(here.fanin(axis + "--save-state s"), 2, "--save-state is for one result");
  check_failure(here.fanin(axis + "x.txt"), 2, "--axis takes one file");
  check_failure(here.fanin(axis + "--missing skip"), 2, "--axis does not go with --missing skip");
  check_failure(here.fanin(axis + "--keys k.npy"), 2, "--axis excludes --keys");
  check_failure(here.fanin("sum x.csv --axis 0 --column a,b"), 2, "--axis takes one column, not several");
  check_failure(here.fanin("sum x.txt --axis 1"), 2, "there is no axis 1 of 1");
  check_failure(here.fanin("sum x.txt --axis 0,-1"), 2, "axis 0 is named twice");
  check_failure(here.fanin("sum x.txt --axis zero"), 2,
                "--axis is a number such as 0 or -1, or a list such as '0,2'");
  check_failure(here.fanin("sum x.txt --shape 2"), 2, "--shape requires --axis");
  check_failure(here.fanin("sum x.txt --groups 2"), 2, "--groups requires --keys");
  check_failure(here.fanin("sum x.txt --drop-others"), 2, "--drop-others requires --keys");
  check_failure(here.fanin("sum x.txt -o y.npy"), 2, "--output requires --axis, --segments, --keys or --by");
  for (const std::string option : {"--axis", "--segments", "--keys", "--by"}) {
    check_failure(here.fanin("sum x.csv " + option + " ''"), 2, option + " is empty");
  }
  check_failure(here.fanin(axis + "--shape ''"), 2, "--shape is empty");
  check_failure(here.fanin(axis + "-o ''"), 2, "--output,-o is empty");
  check_failure(here.fanin(axis + "--backend seral"), 2, "did you mean 'serial'?");
  check_failure(here.fanin(axis + "--variant kahan"), 2, "serial/kahan computes the sum of one array only");
  check_failure(here.shell("echo 1 | $fanin sum - --keys -"), 2, "standard input is named twice");
}

TEST_SUITE_END();

}  // namespace
}  // namespace fanin::cli
