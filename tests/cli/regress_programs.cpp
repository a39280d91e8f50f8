// SPDX-License-Identifier: Apache-2.0
// Tests of fanin regress on programs that are no builds of fanin, and of --until-decided. The programs are scripts.
#include <doctest/doctest.h>

#include <algorithm>

#include <nlohmann/json.hpp>

#include "tests/cli/process.hpp"

namespace fanin::cli {
namespace {

using nlohmann::json;

/// A directory with programs that print given results and write their arguments to the file "runs".
struct other_programs : scratch_folder {
  /// Writes a program. `body` is in the language of the shell; $n is the number of the program's run.
  void program(const std::string& name, const std::string& body) const {
    write(name, "#!/bin/sh\necho \"${0##*/} $*\" >>runs\nn=$(grep -c \"^${0##*/} \" runs)\n" + body + "\n");
    REQUIRE(shell("chmod +x " + name).status == 0);
  }
};

/// A row as Google Benchmark prints it. The real time is text for printf of the shell.
std::string google_row(const std::string& name, const std::string& more) {
  return R"({"name": ")" + name + R"(", "run_name": ")" + name + R"(", "run_type": "iteration", "threads": 1, )" +
         more + "}";
}
std::string google_time(const std::string& name, const std::string& real_time, const std::string& unit) {
  return google_row(name, R"("real_time": )" + real_time + R"(, "time_unit": ")" + unit + '"');
}
std::string google_result(const std::string& rows) {
  return R"({"context": {"host_name": "m", "caches": []}, "benchmarks": [)" + rows + "]}";
}

TEST_SUITE_BEGIN("regress_programs");

TEST_CASE("--google-benchmark: real times, repetitions, aggregates and errors, paired by name") {
  const other_programs here;
  const std::string aggregate = R"({"name": "x_mean", "run_name": "x", "run_type": "aggregate",
      "aggregate_name": "mean", "real_time": 999, "time_unit": "ns"})";
  const std::string median = R"({"name": "z_median", "run_name": "z", "run_type": "aggregate",
      "aggregate_name": "median", "real_time": 4, "time_unit": "ms"})";
  const std::string big_o = R"({"name": "x_BigO", "run_name": "x", "run_type": "aggregate", "aggregate_name": "BigO",
      "real_coefficient": 1, "big_o": "N", "time_unit": "ns"})";
  const auto rows = [&](const std::string& times) {
    return times + "," + aggregate + "," + big_o + "," + google_time("y", "2", "us") + "," + median + "," +
           google_row("bad", R"("error_occurred": true, "error_message": "no device", "real_time": 0,
               "time_unit": "ns")") +
           "," + google_row("not here", R"("skipped": true, "skip_message": "too large")");
  };
  const std::string slow =
      google_time("x", "9", "s") + "," + google_time("x", "3", "s") + "," + google_time("x", "2", "s");
  here.write("a.json", google_result(rows(google_time("x", "2", "s"))));
  here.write("b.json", google_result(google_time("only b", "1", "ns") + "," + rows(slow)));
  here.program("old", "cat a.json");
  here.program("new", "cat b.json");
  const finished run =
      here.fanin("regress --google-benchmark './old --benchmark_min_time=1 \"two words\"' new --json");
  CHECK(run.status == 3);
  const json whole = json::parse(run.out), found = whole["cases"];
  REQUIRE(found.size() == 3);
  CHECK(found[0]["name"] == "x");
  CHECK(found[0]["verdict"] == "SLOWER");
  CHECK(found[0]["a_seconds"][0] == 2);
  CHECK(found[0]["b_seconds"][0] == 3);
  CHECK(found[1]["a_seconds"][0].get<double>() == doctest::Approx(2e-6));
  CHECK(found[2]["name"] == "z");
  CHECK(found[2]["a_seconds"][0].get<double>() == doctest::Approx(4e-3));
  CHECK(whole["left_out"][0]["detail"].get<std::string>().find("no device") != std::string::npos);
  CHECK(whole["left_out"][1]["detail"].get<std::string>().find("too large") != std::string::npos);
  CHECK(whole["left_out"][2]["detail"] == "A: no such case");
  CHECK(here.read("runs").starts_with(
      "old --benchmark_min_time=1 two words --benchmark_format=json\nnew --benchmark_format=json\nnew "));

  const finished files = here.fanin("regress --google-benchmark a.json b.json");
  CHECK(files.out.find("\nUNDECIDED z: ") != std::string::npos);
  here.write("c.json", google_result(google_time("x", "1", "min")));
  check_failure(here.fanin("regress --google-benchmark a.json c.json"), 1,
                "c.json: not a result of Google Benchmark "
                "or nvbench: 'time_unit' is 'min'");
  here.write("c.json", "{}");
  check_failure(here.fanin("regress --google-benchmark a.json c.json"), 1, "there is no list 'benchmarks'");
}

TEST_CASE("--nvbench: mean times on the GPU by benchmark and state") {
  const other_programs here;
  const auto summary = [](const std::string& tag, const std::string& value) {
    return R"({"tag": ")" + tag + R"(", "name": "Time", "hint": "duration", "data": [{"name": "value",
        "type": "float64", "value": ")" +
           value + "\"}]}";
  };
  const auto result_with = [&](const std::string& seconds) {
    return R"({"meta": {"version": {}}, "devices": [{"id": 0, "name": "GPU"}], "benchmarks": [{"name": "copy",
        "axes": null, "states": [{"name": "Device=0 N=1", "summaries": [)" +
           summary("nv/cold/sample_size", "499") + "," + summary("nv/cold/time/cpu/mean", "7") + "," +
           summary("nv/cold/time/gpu/mean", seconds) + "," + summary("nv/batch/time/gpu/mean", "9") +
           R"(], "is_skipped": false}, {"name": "Device=0 N=2", "summaries": null, "is_skipped": true,
               "skip_reason": "too short"}]}, {"name": "host", "states": [{"name": "", "summaries": [)" +
           summary("nv/cpu_only/time/cpu/mean", "0.5") + R"(], "is_skipped": false}]}]})";
  };
  here.write("a.json", result_with("0.0010034715849794225"));
  here.write("b.json", result_with("2e-3"));
  here.program("a", "cat a.json");
  here.program("b", "cat b.json");
  const json whole = json::parse(here.fanin("regress --nvbench a b --json").out);
  REQUIRE(whole["cases"].size() == 2);
  CHECK(whole["cases"][0]["name"] == "copy Device=0 N=1");
  CHECK(whole["cases"][0]["verdict"] == "SLOWER");
  CHECK(whole["cases"][0]["a_seconds"][0] == 0.0010034715849794225);
  CHECK(whole["cases"][1]["b_seconds"][0] == 0.5);
  CHECK(whole["left_out"][0]["detail"] == "A: too short");
  CHECK(here.read("runs").starts_with("a --json stdout\nb --json stdout\nb "));
  here.write("b.json", result_with("2e-3s"));
  check_failure(here.fanin("regress --nvbench a b"), 1, "'value' is '2e-3s', which is not a number");
}

TEST_CASE("--command: whole commands, by their time from start to end") {
  const other_programs here;
  here.program("wait", "yes | head -c 1000000; sleep $1");
  const finished run = here.shell(
      "mkdir bin; mv wait bin; PATH=$PWD/bin:$PATH; "
      "$fanin regress --command 'wait 0.01' 'wait 0.05' --json");
  CHECK(run.status == 3);
  const json rows = json::parse(run.out)["cases"];
  REQUIRE(rows.size() == 1);
  CHECK(rows[0]["name"] == "command");
  for (const json& seconds : rows[0]["b_seconds"]) CHECK(seconds.get<double>() >= 0.05);
  CHECK(here.read("runs").starts_with("wait 0.01\nwait 0.05\nwait 0.05\nwait 0.01\n"));
  check_failure(here.fanin("regress --command true false"), 1, "false: exit status 1");
  check_failure(here.fanin("regress --command true 'true | true'"), 2, "'true | true' needs a shell");
  check_failure(here.fanin("regress --command true 'true \"x'"), 2, "a quote that is not closed");
  check_failure(here.fanin("regress --command true '$none'"), 2, "a variable that is not set");
  check_failure(here.fanin("regress --command true ''"), 2, "B: the value is empty");
  check_failure(here.fanin("regress --command true none"), 1, "none: there is no such program");
  check_failure(here.fanin("regress --command true true --backend tbb"), 2, "are for builds of fanin");
  check_failure(here.fanin("regress --command --nvbench true true"), 2, "excludes");
}

TEST_CASE("what a command leaves running is killed with it, and SIGCHLD need not be waited for") {
  const scratch_folder here;
  here.write("left.sh", "#!/bin/sh\nsleep 60 >/dev/null 2>&1 &\necho $! >>left\n");
  CHECK(
      here.shell(
              "chmod +x left.sh && trap '' CHLD && $fanin regress --command ./left.sh ./left.sh --pairs 8 --lenient")
          .status == 0);
  CHECK(here.shell("wc -l <left").out == "16\n");
  // init takes a moment to notice.
  CHECK(here.shell("for id in $(cat left); do tries=50\n"
                   "while kill -0 $id 2>/dev/null && [ $tries -gt 0 ]; do sleep 0.1; tries=$((tries - 1)); done\n"
                   "[ $tries -gt 0 ] || echo $id; done")
            .out == "");
}

/// Interrupts fanin when the programs have run for two cases so many times. The words are in the arguments.
std::string interrupt_at(int first_runs, const std::string& first, int other_runs, const std::string& other) {
  const auto before = [](int runs, const std::string& word) {
    return "[ $(grep -c " + word + " runs) -lt " + std::to_string(runs) + " ] || ";
  };
  return before(first_runs, first) + before(other_runs, other) + "kill -INT $PPID\n";
}

/// B's time in its n-th run is 1.03, 2 and 1.03^2 / 2 in turn, around the threshold. No number of pairs decides this.
const std::string undecidable =
    "set -- $(((n + 1) % 3)) \"$*\"; [ $1 = 0 ] && t=0.53045; [ $1 = 1 ] && t=2; [ $1 = 2 ] && t=1.03\n";

TEST_CASE("pairs are added to undecided cases only, until the time is over") {
  const other_programs here;
  const auto google = [](const std::string& time) {
    const auto only = [](const std::string& row) { return "echo '" + google_result(row) + "'"; };
    const std::string q = google_time("q/1", "1", "ns"), n = google_time("n+1", "'" + time + "'", "ns");
    return "case \"$*\" in *q/1*) " + only(q) + ";; *n*1*) " + only(n) + ";; *) " + only(q + "," + n) + ";; esac";
  };
  here.program("a", google("1"));
  here.program("b", interrupt_at(50, "filter=.n", 22, "filter=.q") + undecidable + google("$t"));
  const finished run = here.fanin("regress --google-benchmark a b --at-most 1h --json");
  CHECK(run.err.starts_with("fanin: interrupted after "));
  const json whole = json::parse(run.out), rows = whole["cases"];
  CHECK(rows[0]["verdict"] == "SAME");
  CHECK(rows[0]["a_seconds"].size() == 12);
  CHECK(rows[1]["verdict"] == "UNDECIDED");
  CHECK(rows[1]["a_seconds"].size() >= 24);
  CHECK(whole["pairs"] == rows[1]["a_seconds"].size());
  const std::string runs = here.read("runs");
  CHECK(runs.starts_with("a --benchmark_format=json\n"));
  CHECK(runs.ends_with(" --benchmark_format=json --benchmark_filter=^n\\+1$\n"));
  CHECK(here.fanin("regress --google-benchmark a a --at-most 1h").out.find("\npairs of processes: 12;") !=
        std::string::npos);
}

TEST_CASE("cases of fanin are measured apart, if their inputs differ") {
  const other_programs here;
  const auto bench_row = [](const std::string& name, const std::string& seconds) {
    return R"({"name": ")" + name + R"(", "seconds": )" + seconds + "}";
  };
  const auto bench = [&](const std::string& time) {
    const std::string exact = bench_row("tbb/exact/sum/f32/exact/64", "1"),
                      sums = bench_row("serial/naive/sum/f64/fast/64", time) + "," +
                             bench_row("tbb/simd/sum/f64/fast/64", time);
    const auto only = [](const std::string& rows) { return "cat <<END\n" + google_result(rows) + "\nEND\n"; };
    return "case \"$*\" in *f32*) " + only(exact) + ";; *f64*) " + only(sums) + ";; *) " + only(exact + "," + sums) +
           ";; esac";
  };
  here.program("a", bench("1"));
  here.program("b", interrupt_at(58, "f64", 26, "f32") + undecidable + bench("$t"));
  const finished boxes = here.fanin("regress a b --at-most 1h --backend tbb,serial --threads 1");
  CHECK(boxes.out.find("\npairs of processes: 14 to ") != std::string::npos);
  const std::string asked = here.read("runs"), first = " bench --json --budget 0.1 --threads 1 --backend ";
  CHECK(asked.starts_with("a bench --json --budget 0.1 --backend tbb,serial --threads 1\n"));
  CHECK(asked.find(first + "tbb --variant exact --operation sum --type f32 --method exact --count 64\n") !=
        std::string::npos);
  CHECK(asked.ends_with(first +
                        "serial,tbb --variant naive,simd --operation sum --type f64 --method fast --count 64\n"));
}

TEST_CASE("CPU time decides where the wall time varies too much, and the report says so") {
  const other_programs here;
  // The programs take 67.5 ms and 69.6 ms of CPU time, and their wall times vary by 16 ms.
  const auto times = [](const std::string& step, const std::string& cpu) {
    return "t=$((84 + n * " + step + " % 33))\necho '" +
           google_result(google_row("x", R"("real_time": '$t', "time_unit": "ms", "cpu_time": )" + cpu)) + "'";
  };
  here.program("a", times("7", "67.5"));
  here.program("b", times("20", "69.6"));
  const finished run = here.fanin("regress --google-benchmark a b --json");
  CHECK(run.status == 3);
  const json row = json::parse(run.out)["cases"][0];
  CHECK(row["verdict"] == "SLOWER");
  CHECK(row["decided_by"] == "CPU time");
  REQUIRE(row["others"].size() == 1);
  CHECK(row["others"][0]["quantity"] == "CPU time");
  CHECK(row["others"][0]["verdict"] == "SLOWER");
  CHECK(row["others"][0]["a"].size() == 12);
  const std::string text = here.shell("rm runs; $fanin regress --google-benchmark a b").out;
  CHECK(text.find("\nSLOWER x: CPU time decides, +3.1 %") != std::string::npos);
  CHECK(text.find("; wall time does not, between -") != std::string::npos);
}

TEST_CASE("the CPU time of a command is that of its processes") {
  const other_programs here;
  here.program("work", "sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done'; sleep 0.02");
  const json row = json::parse(here.fanin("regress --command ./work 'sleep 0.02' --pairs 8 --json").out)["cases"][0];
  const json& cpu = row["others"][0];
  CHECK(cpu["quantity"] == "CPU time");
  CHECK(cpu["verdict"] == "FASTER");
  for (std::size_t i = 0; i < 8; ++i) CHECK(cpu["a"][i].get<double>() < row["a_seconds"][i].get<double>());
}

TEST_CASE("the time is over before there are enough pairs: what a verdict would take") {
  const finished run = scratch_folder().fanin("regress --command 'sleep 0.2' 'sleep 0.2' --at-most 1.3s");
  CHECK(run.status == 4);
  CHECK(run.out.find("UNDECIDED command: a verdict takes 8 pairs, not ") != std::string::npos);
  CHECK(run.out.find(" and about ") != std::string::npos);
}

TEST_CASE("the cheapest case is decided first, and a program that ignores its filter runs once for all cases") {
  const other_programs here;
  const auto slow_case = [](bool obeys) {
    const auto only = [](const std::string& row) { return "echo '" + google_result(row) + "'"; };
    const std::string fast = google_time("fast", "1", "ns"), slow = google_time("slow", "1", "ns");
    if (!obeys) return only(slow + "," + fast);
    return "case \"$*\" in *fast*) " + only(fast) + ";; *slow*) sleep 0.15; " + only(slow) + ";; *) " +
           only(slow + "," + fast) + ";; esac";
  };
  here.program("a", interrupt_at(6, "filter=.slow", 22, "filter=.fast") + slow_case(true));
  const finished run = here.fanin("regress --google-benchmark a a --json");
  CHECK(run.status == 1);
  const json rows = json::parse(run.out)["cases"];
  REQUIRE(rows.size() == 2);
  CHECK(rows[0]["name"] == "slow");
  CHECK(rows[0]["verdict"] == "UNDECIDED");
  CHECK(rows[0]["reason"].get<std::string>().starts_with("a verdict takes 8 pairs, not "));
  CHECK(rows[1]["verdict"] == "SAME");

  here.program("a", slow_case(false));
  REQUIRE(here.shell("rm runs; $fanin regress --google-benchmark a a").status == 0);
  const std::string runs = here.read("runs");
  CHECK(std::ranges::count(runs, '\n') == 24);
}

TEST_SUITE_END();

}  // namespace
}  // namespace fanin::cli
