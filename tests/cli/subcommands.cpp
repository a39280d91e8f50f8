// SPDX-License-Identifier: Apache-2.0
// Tests of fanin compare, accuracy, generate, backends, completion and manpage.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <span>

#include <fanin/error.hpp>

#include "oracle/exact_sum.hpp"
#include "oracle/families.hpp"
#include "tests/cli/process.hpp"

namespace fanin::cli {
namespace {

double number(const json& hex) { return std::strtod(hex.get<std::string>().c_str(), nullptr); }

TEST_SUITE_BEGIN("subcommands");

TEST_CASE("backends: names in order, compiled, usable, reason") {
  const json all = parsed(scratch_folder().fanin("backends --json"));
  bool serial_seen = false;
  for (const json& one : all) {
    CHECK(one["reason"].is_string());
    CHECK(one["variants"].is_array());
    CHECK((one["compiled"].get<bool>() || !one["usable"].get<bool>()));
    CHECK(one["usable"].get<bool>() == (one["reason"] == "usable"));
    if (one["name"] != "serial") continue;
    serial_seen = true;
    CHECK(one["usable"] == true);
    for (const std::string variant : {"naive", "recursive", "pairwise", "kahan", "neumaier"}) {
      CHECK(std::ranges::find(one["variants"], json(variant)) != one["variants"].end());
    }
  }
  CHECK(serial_seen);
  CHECK(scratch_folder().fanin("backends").out.find("serial/kahan") != std::string::npos);
}

TEST_CASE("compare: every row keeps its bound, and the exact rows are the exact sum") {
  const scratch_folder here;
  for (const std::string spec : {"uniform --type f32", "condition:1e20 --type f64", "condition:1e12 --type f32",
                                 "wide --type f64", "big-eats-small --type f32"}) {
    CAPTURE(spec);
    REQUIRE(here.fanin("generate --count 5003 --force --output x.npy " + spec).status == 0);
    const json all = parsed(here.fanin("compare x.npy --json"));
    CHECK(all["input"] == "x.npy");
    CHECK(all["rows"].size() >= 8);
    bool exact_seen = false;
    for (const json& row : all["rows"]) {
      CAPTURE(row.dump());
      CHECK(row["bound_ok"] == true);
      CHECK(row["seconds"].get<double>() > 0);
      CHECK(row["gigabytes_per_second"].get<double>() > 0);
      CHECK((row["error_ulps"].get<double>() == 0) == (row["value_hex"] == all["exact"]["value_hex"]));
      if (row["method"] != "exact") continue;
      exact_seen = true;
      CHECK(row["error_ulps"] == 0);
      CHECK(row["value_text"] == all["exact"]["value_text"]);
    }
    CHECK(exact_seen);
  }
}

TEST_CASE("compare: the error is in units of the last place of the exact sum") {
  const scratch_folder here;
  // The sum of 2^53 and three ones rounds to 2^53 + 4 in f64. A plain loop returns 2^53, an error of 3/2 ulp.
  here.write("x.txt", "9007199254740992 1 1 1\n");
  const json all = parsed(here.fanin("compare x.txt --type f64 --json"));
  CHECK(number(all["exact"]["value_hex"]) == 0x1p53 + 4);
  bool naive_seen = false;
  for (const json& row : all["rows"]) {
    if (row["variant"] != "naive") continue;
    naive_seen = true;
    CHECK(number(row["value_hex"]) == 0x1p53);
    CHECK(row["error_ulps"] == 1.5);
  }
  CHECK(naive_seen);
}

TEST_CASE("compare: --method leaves out the others; integers, infinities and nothing are fine") {
  const scratch_folder here;
  here.write("x.txt", "1 2 3\n");
  const json exact = parsed(here.fanin("compare x.txt --json --method exact"));
  for (const json& row : exact["rows"]) CHECK(row["method"] == "exact");
  const json integers = parsed(here.fanin("compare - --type i64 --json <x.txt"));
  CHECK(integers["exact"]["value_text"] == "6");
  for (const json& row : integers["rows"]) {
    CHECK(row["error_ulps"] == 0);
    CHECK(row["bound_ok"] == true);
  }
  CHECK(parsed(here.shell("seq 3 | $fanin compare --json"))["exact"]["value_text"] == "6");
  CHECK(parsed(here.fanin("compare --type i64 --json <x.txt"))["input"] == "standard input");
  here.write("inf.txt", "inf 1 -inf\n");
  const json infinite = parsed(here.fanin("compare inf.txt --json"));
  for (const json& row : infinite["rows"]) {
    CAPTURE(row.dump());
    CHECK(row["bound_ok"] == true);
    CHECK(row["value_text"] == "nan");
  }
  here.write("zero.txt", "-0 -0\n");
  const json of_zeros = parsed(here.fanin("compare zero.txt --json --method exact"));
  for (const json& row : of_zeros["rows"]) {
    CHECK(row["bound_ok"] == true);
    CHECK(row["value_text"] == "-0");
  }
  here.write("empty.bin", "");
  CHECK(parsed(here.fanin("compare empty.bin --type f64 --json"))["exact"]["value_text"] == "0");
  const finished text = here.fanin("compare x.txt --type f64");
  CHECK(text.out.find(" ms ") == std::string::npos);  // Four elements would take 0.000 ms.
  CHECK((text.out.find(" us ") != std::string::npos || text.out.find(" ns ") != std::string::npos));
  CHECK(text.status == 0);
  CHECK(text.out.find("neumaier") != std::string::npos);
}

TEST_CASE("compare and bench take the backends of --backend, or else of FANIN_BACKEND") {
  const scratch_folder here;
  here.write("x.txt", "1 2 3\n");
  for (const std::string command :
       {"$fanin compare x.txt --json --backend serial", "FANIN_BACKEND=serial $fanin compare x.txt --json"}) {
    const json all = parsed(here.shell(command));
    CHECK(!all["rows"].empty());
    CHECK(all["not_usable"].empty());
    for (const json& row : all["rows"]) CHECK(row["backend"] == "serial");
  }
  const std::string list = "$fanin bench --list";
  const std::string all = here.shell(list).out, serial = here.shell(list + " --backend serial").out;
  CHECK(here.shell("FANIN_BACKEND=serial " + list).out == serial);
  CHECK(here.shell("FANIN_BACKEND=seral " + list + " --backend serial").out == serial);
  CHECK(here.shell("FANIN_BACKEND=auto " + list).out == all);
  CHECK(here.shell("FANIN_BACKEND=serial " + list + " --backend auto").out == all);
  for (const std::string command : {"bench", "compare x.txt"}) {
    check_failure(here.shell("FANIN_BACKEND=seral $fanin " + command), 2, "did you mean 'serial'?");
  }
}

TEST_CASE("compare: what is promised, and whether it is kept") {
  const scratch_folder here;
  const std::string largest = "1.7976931348623157e308 ";
  struct example {
    std::string text, rounded, exact;
  };
  const example examples[] = {
      {largest + largest + "-" + largest, "null", "true"},  // The sum is finite, but a partial sum overflows.
      {largest + largest + "-inf", "null", "true"},
      {"1e308 -1e308 1", "null", "true"},
      {"4e307 -4e307 1", "true", "true"},
      {"4e307 inf 1", "true", "true"},
      {"1 nan -inf", "true", "true"},
  };
  for (const auto& [input, rounded, exact] : examples) {
    const std::string text = input;
    CAPTURE(text);
    here.write("x.txt", text);
    const json all = parsed(here.fanin("compare x.txt --type f64 --json"));
    CHECK(all["rows"].size() >= 8);
    for (const json& row : all["rows"]) {
      CAPTURE(row.dump());
      CHECK(row["bound_ok"].dump() == (row["method"] == "exact" ? exact : rounded));
    }
  }
  here.write("x.txt", largest + largest);
  CHECK(here.fanin("compare x.txt --method fast").out.find(" none ") != std::string::npos);
}

TEST_CASE("a value beyond its bound is found broken") {
  const double x[] = {1, 2, 4};
  const oracle::exact_sum exact(array_view(std::span<const double>(x)), 1);
  report fast, rounded, hopeless;
  fast.bound.of_magnitudes = 0x1p-50;
  rounded.method = method::exact;
  hopeless.bound.of_magnitudes = HUGE_VAL;
  const double margin = 7 * 0x1p-50;
  CHECK(exact.judge(7 + margin, fast) == oracle::promise::kept);
  CHECK(exact.judge(7 - margin, fast) == oracle::promise::kept);
  CHECK(exact.judge(7 + margin + 0x1p-50, fast) == oracle::promise::broken);
  CHECK(exact.judge(std::nan(""), fast) == oracle::promise::broken);
  CHECK(exact.judge(HUGE_VAL, fast) == oracle::promise::broken);
  CHECK(exact.judge(7.0, rounded) == oracle::promise::kept);
  CHECK(exact.judge(std::nextafter(7.0, 8.0), rounded) == oracle::promise::broken);
  CHECK(exact.judge(0.0, hopeless) == oracle::promise::none);

  const double infinite[] = {1, HUGE_VAL};
  const oracle::exact_sum above(array_view(std::span<const double>(infinite)), 1);
  CHECK(above.judge(HUGE_VAL, fast) == oracle::promise::kept);
  CHECK(above.judge(-HUGE_VAL, fast) == oracle::promise::broken);
  CHECK(above.judge(1.0, fast) == oracle::promise::broken);
}

TEST_CASE("accuracy: no error beyond its bound, and the inputs are as ill-conditioned as their names say") {
  const json all = parsed(scratch_folder().fanin("accuracy --count 2000 --json"));
  CHECK(all.size() == 2 * 15);
  for (const json& one_input : all) {
    const std::string name = one_input["input"];
    CAPTURE(name);
    CAPTURE(one_input["element_type"]);
    if (name.starts_with("condition:")) {
      const double wanted = std::strtod(name.c_str() + 10, nullptr), reached = one_input["condition"];
      CHECK(reached > wanted / 4);
      CHECK(reached < wanted * 4);
    }
    CHECK(one_input["rows"].size() >= 7);
    for (const json& row : one_input["rows"]) {
      CAPTURE(row.dump());
      if (row["error_ulps"].is_null() || row["bound_ulps"].is_null()) continue;
      CHECK(row["error_ulps"].get<double>() <= row["bound_ulps"].get<double>());
      if (row["method"] == "exact") CHECK(row["error_ulps"] == 0);
    }
  }
}

template <class T>
void check_fewest_elements(const std::string& spec, double condition, std::size_t least) {
  CAPTURE(spec);
  CHECK_THROWS_AS(oracle::generate<T>(spec, least - 1, 1), invalid_argument);
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const std::vector<T> x = oracle::generate<T>(spec, least, seed);
    const double reached = oracle::exact_sum(std::span<const T>(x), 1).condition();
    CHECK(reached > condition / 4);
    CHECK(reached < condition * 4);
  }
}

TEST_CASE("generate: the fewest elements for a condition number have it, and fewer are refused") {
  check_fewest_elements<float>("condition:100", 100, 4);
  check_fewest_elements<float>("condition", 1e10, 6);
  check_fewest_elements<float>("condition:1e30", 1e30, 12);
  check_fewest_elements<double>("condition:1e15", 1e15, 4);
  check_fewest_elements<double>("condition:1e30", 1e30, 6);
  check_fewest_elements<f16>("condition:1e4", 1e4, 6);
  check_fewest_elements<bf16>("condition:1e30", 1e30, 28);
  check_fewest_elements<e5m2>("condition:100", 100, 8);
  check_fewest_elements<e4m3>("condition:100", 100, 6);
  const scratch_folder here;
  check_failure(here.fanin("generate condition:1e30 --count 5 --output x.npy"), 2,
                "the condition number 1e+30 takes at least 6 elements of f64, not 5");
  CHECK(here.shell("ls -A").out.empty());
}

// The reader has to be told the type of raw data. For some types it has to be told the type of an .npy file, too.
void check_generated(const scratch_folder& here, const std::string& spec, const std::string& type) {
  CAPTURE(spec);
  CAPTURE(type);
  const std::string arguments = "generate " + spec + " --count 1001 --seed 5 --force --type " + type;
  const finished run = here.fanin(arguments + " --output a.npy");
  REQUIRE(run.status == 0);
  REQUIRE(here.fanin(arguments + " -o b.npy").status == 0);
  CHECK(here.read("a.npy") == here.read("b.npy"));
  REQUIRE(here.fanin(arguments + " -o c.bin").status == 0);
  CHECK(here.shell("$fanin " + arguments + " --format raw -o - | cmp - c.bin").status == 0);
  CHECK(here.read("a.npy").ends_with(here.read("c.bin")));
  for (const std::string file : {"a.npy", "c.bin"}) {
    const json sum = parsed(here.fanin("mean " + file + " --json --type " + type));
    CHECK(sum["count"] == 1001);
    CHECK(sum["element_type"] == type);
  }
  if (type.starts_with("c")) {
    const std::string sum = parsed(here.fanin("sum a.npy --json"))["value_text"];
    CHECK(run.out.find("exact sum, rounded to " + type + ": " + sum + " ") != std::string::npos);
    return;
  }
  if (type.ends_with("64") && type != "f64") return;  // Sums of long integers may overflow.
  const bool integers = type.starts_with("i") || type.starts_with("u");
  const json sum = parsed(here.fanin("sum a.npy --json --type " + type + (integers ? "" : " --result f64")));
  CHECK(run.out.find("exact sum, rounded to f64: ") != std::string::npos);
  CHECK(std::stod(run.out.substr(run.out.find("f64: ") + 5)) == std::stod(sum["value_text"].get<std::string>()));
}

TEST_CASE("generate: same seed, same bytes; the sum it says is the exact sum of what it wrote") {
  const scratch_folder here;
  for (const element_type type : all_element_types) {
    for (const std::string spec : {"constant:7", "uniform", "wide"}) {
      check_generated(here, spec, std::string(to_string(type)));
    }
  }
  for (const std::string spec :
       {"constant:0.1", "normal", "telescoping", "condition:300", "big-eats-small", "alternating", "lognormal:20"}) {
    for (const std::string type : {"f32", "f64", "f16", "bf16", "e5m2", "e4m3"}) check_generated(here, spec, type);
  }
}

template <class T>
double largest_of(const std::string& spec) {
  const std::vector<T> x = oracle::generate<T>(spec, 20000, 3);
  CHECK(std::ranges::count(x, T{0}) < 20000);
  return static_cast<double>(*std::ranges::max_element(x));
}

TEST_CASE("generate: what each type holds") {
  CHECK(largest_of<e4m3>("uniform") == 1 - 0x1p-4);
  CHECK(largest_of<e5m2>("uniform") == 1 - 0x1p-3);
  CHECK(largest_of<std::int8_t>("uniform") == 127);
  CHECK(largest_of<std::uint16_t>("uniform") > 65500);
  CHECK(largest_of<std::int8_t>("wide") == 127);
  CHECK(largest_of<e4m3>("wide") == 240);
  CHECK(largest_of<f16>("wide") > 30000);
  CHECK(largest_of<bf16>("wide") > 0x1p80);
  CHECK(largest_of<f16>("lognormal:1000") > 8191);
  CHECK(largest_of<e4m3>("big-eats-small") == 16);
  CHECK(oracle::generate<std::uint64_t>("constant:9007199254740994", 1, 1)[0] == 9007199254740994);
  const auto wide = oracle::generate<std::int64_t>("wide", 1000, 1);
  CHECK(std::ranges::count_if(wide, [](std::int64_t v) { return v < 0; }) > 400);
  CHECK(std::ranges::count_if(wide, [](std::int64_t v) { return v < 256 && v > -256; }) > 50);
  const scratch_folder here;
  check_failure(here.fanin("generate normal --type i32 -o x.npy"), 2, "'normal' has no elements of i32");
  check_failure(here.fanin("generate constant --type i32 -o x.npy"), 2, "1.23 is not a number of type i32");
  check_failure(here.fanin("generate constant:256 --type u8 -o x.npy"), 2, "256 is not a number of type u8");
  check_failure(here.fanin("generate constant:-1 --type u8 -o x.npy"), 2, "-1 is not a number of type u8");
  check_failure(here.fanin("generate constant:-129 --type i8 -o x.npy"), 2, "-129 is not a number of type i8");
  check_failure(here.fanin("generate constant:465 --type e4m3 -o x.npy"), 2,
                "'constant:465': an element would be beyond the largest e4m3, 448");
  check_failure(here.fanin("generate constant:1e5 --type f16 -o x.npy"), 2, "beyond the largest f16, 65504");
  check_failure(here.fanin("generate condition:1e5 --type f16 -o x.npy"), 2,
                "the condition number 100000 takes elements beyond the largest f16, 65504");
  check_failure(here.fanin("generate uniform --format text -o x.npy"), 2,
                "unknown format 'text'; there are npy, raw");
  CHECK(here.shell("ls -A").out.empty());
}

TEST_CASE("completions are scripts, and the man page and the help name every subcommand") {
  const scratch_folder here;
  CHECK(here.shell("$fanin completion bash | bash -n").err.empty());
  const auto offered = [&](const std::string& words) {
    return here
        .shell("bash -c 'eval \"$($0 completion bash)\"; COMP_WORDS=(fanin " + words +
               " \"\"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _fanin; echo \"${COMPREPLY[@]}\"' $fanin")
        .out;
  };
  CHECK(offered("sum --method") == "fast compensated exact\n");
  CHECK(offered("sum --explain").starts_with("--help "));
  CHECK(offered("ladder --explain").starts_with("global-neighbored "));
  CHECK(offered("ladder --type") == "f32 f64 i32\n");
  CHECK(offered("lab") == "--help divergence occupancy shapes latency --device --json\n");
  for (const std::string text : {"--help", "manpage", "completion zsh", "completion fish", "completion bash"}) {
    CAPTURE(text);
    const finished run = here.fanin(text);
    CHECK(run.status == 0);
    CHECK(run.err.empty());
    for (const std::string name :
         {"sum_of_squares", "mean", "compare", "accuracy", "ladder", "lesson", "check", "lab", "bench", "regress",
          "report", "generate", "merge", "backends", "device", "manpage"}) {
      CAPTURE(name);
      CHECK(run.out.find(name) != std::string::npos);
    }
  }
  const std::string manual = here.fanin("manpage").out;
  for (const std::string part :
       {".SH EXIT STATUS\n.TP\n.B 0\ndone\n", ".SH SEE ALSO\n", "\n\\fB\\-\\-output\\fR, \\fB\\-o\\fR \\fIFILE\\fR\n",
        "\n\\fB\\-\\-skip\\fR \\fINUMBER\\fR\n", "\n\\fB\\-\\-header\\fR\n"}) {
    CAPTURE(part);
    CHECK(manual.find(part) != std::string::npos);
  }
  CHECK(here.fanin("--version").out.starts_with("fanin "));
  CHECK(here.fanin("sum --help").out.find("--threads") != std::string::npos);
  CHECK(here.fanin("help sum").out == here.fanin("sum --help").out);
  CHECK(here.fanin("help").out == here.fanin("--help").out);
  CHECK(here.fanin("help help").out == here.fanin("--help").out);
  check_failure(here.fanin("help summ"), 2, "unknown subcommand 'summ'; did you mean 'sum'?");
}

TEST_SUITE_END();

}  // namespace
}  // namespace fanin::cli
