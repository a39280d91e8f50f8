// SPDX-License-Identifier: Apache-2.0
// Tests of fanin regress, most of them with scripts that print given times in place of builds.
#include <doctest/doctest.h>

#include <csignal>

#include <nlohmann/json.hpp>

#include "tests/cli/process.hpp"

namespace fanin::cli {
namespace {

using nlohmann::json;

/// A directory with a script "make NAME SECONDS...". It writes a program NAME that prints the times of two cases, x
/// and y, and adds a line to the file "runs" in each run. x takes the SECONDS in turn, and y always takes 1.
class two_builds : public scratch_folder {
 public:
  two_builds() {
    write("make", R"(#!/bin/sh
name=$1
shift
cat >$name <<END
#!/bin/sh
echo "$name \$*" >>runs
[ -z "\$FAIL_AT" ] || [ \$(wc -l <runs) -ne \$FAIL_AT ] || eval "\$FAIL"
echo x >>$name.count
set -- $*
shift \$(( (\$(wc -l <$name.count) - 1) % \$# ))
printf '{"context": {"machine": "$name"}, "benchmarks": ['
printf '{"name": "x", "verified": true, "seconds": %s}, {"name": "y", "verified": null, "seconds": 1}]}' \$1
END
chmod +x $name
)");
    shell("sh make a 1.000 1.002 0.999 1.001 0.998");
  }
  void make_b(const std::string& seconds) const { REQUIRE(shell("sh make b " + seconds).status == 0); }
};

json cases_of(const finished& run) { return json::parse(run.out)["cases"]; }

TEST_SUITE_BEGIN("regress");

TEST_CASE("a slower, a faster and an unchanged build") {
  const two_builds here;
  here.make_b("1.101 1.100 1.099");
  const finished slower = here.fanin("regress a b --json");
  CHECK(slower.status == 3);
  CHECK(slower.err == "fanin: 1 of 2 cases SLOWER\n");
  const json whole = json::parse(slower.out), rows = whole["cases"];
  CHECK(whole["pairs"] == 12);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0]["name"] == "x");
  CHECK(rows[0]["verdict"] == "SLOWER");
  CHECK(rows[0]["ratio"].get<double>() == doctest::Approx(1.1).epsilon(0.005));
  CHECK(rows[0]["ratio_low"].get<double>() > 1.09);
  CHECK(rows[0]["b_seconds"].size() == 12);
  CHECK(rows[0]["floor"].is_null());
  CHECK(rows[1]["verdict"] == "SAME");

  const finished text = here.fanin("regress a b");
  CHECK(text.status == 3);
  CHECK(text.out.find("\nSLOWER x: +10.") != std::string::npos);
  CHECK(text.out.find("no floor measured") != std::string::npos);

  const finished faster = here.fanin("regress b a --json");
  CHECK(faster.status == 0);
  CHECK(cases_of(faster)[0]["verdict"] == "FASTER");
  CHECK(here.fanin("regress a b --threshold 12").status == 0);
  CHECK(cases_of(here.fanin("regress a a --json"))[0]["verdict"] == "SAME");
}

TEST_CASE("builds run in turns, with the cases that were asked for") {
  const two_builds here;
  here.make_b("1");
  REQUIRE(here.fanin("regress a b --pairs 9 --backend serial --count 1,2").status == 0);
  const std::string words = " bench --json --budget 0.1 --backend serial --count 1,2\n", a = "a" + words,
                    b = "b" + words;
  CHECK(here.read("runs") == a + b + b + a + a + b + b + a + a + b + b + a + a + b + b + a + a + b);
  REQUIRE(here.shell("rm runs; $fanin regress a b --pairs 9 --aa --budget 2 >/dev/null").status == 0);
  std::string order;
  for (int i = 0; i < 9; ++i) {
    for (const char* side : {"a", "b", "a"}) order += side + std::string(" bench --json --budget 2\n");
  }
  CHECK(here.read("runs") == order);
}

TEST_CASE("undecided: why, and what would decide it") {
  const two_builds here;
  here.make_b("0.95 1.15 1.05 1.07 0.96 1.12 1.01");
  const finished run = here.fanin("regress a b --pairs 12");
  CHECK(run.status == 4);
  CHECK(run.err == "fanin: 1 of 2 cases UNDECIDED\n");
  CHECK(run.out.find("\nUNDECIDED x: between ") != std::string::npos);
  CHECK(run.out.find(": neither surely within 3 % nor surely beyond; +") != std::string::npos);
  CHECK(run.out.find(" would have been seen; about ") != std::string::npos);
  CHECK(run.out.find(" pairs (--at-most gives them time) would decide it.\n") != std::string::npos);
  const json row = cases_of(here.fanin("regress a b --pairs 12 --json"))[0];
  CHECK(row["visible"].get<double>() > 0.03);
  const finished layouts = here.fanin("regress a b --pairs 24 --layouts 12");
  CHECK(layouts.out.find(" layouts (--layouts) would decide it.\n") != std::string::npos);
  const finished lenient = here.fanin("regress a b --pairs 12 --lenient");
  CHECK(lenient.status == 0);
  CHECK(lenient.err.empty());
}

TEST_CASE("--aa: a change that A shows against itself is not called") {
  const two_builds here;
  here.shell("sh make a 1 1.3");
  here.make_b("1.2 1.56");
  CHECK(here.fanin("regress a b").status == 3);
  const finished run = here.shell("rm -f *.count; $fanin regress a b --pairs 12 --aa --json");
  CHECK(run.status == 4);
  const json row = cases_of(run)[0];
  CHECK(row["ratio"].get<double>() == doctest::Approx(1.2));
  CHECK(row["floor"].get<double>() == doctest::Approx(0.3));
  CHECK(row["verdict"] == "UNDECIDED");
  CHECK(row["a_again_seconds"].size() == 12);
  here.make_b("3");
  CHECK(here.shell("rm -f *.count; $fanin regress a b --aa").status == 3);
}

TEST_CASE("an interrupt keeps the pairs that are done") {
  const two_builds here;
  here.make_b("1.1");
  const std::string interrupt = "rm -f runs; export FAIL='kill -INT $PPID; exit 1' FAIL_AT=";
  const finished late = here.shell(interrupt + "18; $fanin regress a b --json");
  CHECK(json::parse(late.out)["pairs"] == 8);
  CHECK(late.status == 3);
  const finished early = here.shell(interrupt + "6; $fanin regress a b");
  CHECK(early.status == 1);
  CHECK(early.err == "fanin: interrupted after 2 pairs\n");
  CHECK(early.out.find("UNDECIDED x: a verdict takes 8 pairs, not 2, and about 1 s.\n") != std::string::npos);
  check_failure(here.shell(interrupt + "2; $fanin regress a b"), 1, "interrupted before the first pair was done");
}

TEST_CASE("builds that fail") {
  const two_builds here;
  here.make_b("1");
  const auto failing = [&](const std::string& how) {
    return here.shell("rm -f runs; export FAIL_AT=4; export FAIL='" + how + "'; $fanin regress a b");
  };
  check_failure(failing("echo first >&2; echo second >&2; echo last >&2; exit 7"), 1, "a: exit status 7: last");
  check_failure(failing("kill -KILL $$"), 1, "a: Killed");
  const std::string no_result = "a: not a result of 'fanin bench --json': ";
  check_failure(failing("echo {; exit 0"), 1, no_result + "byte 3 is not JSON\n");
  check_failure(failing("echo {}; exit 0"), 1, no_result + "there is no 'context'\n");
  const std::string digits(100'000, '9');
  here.write("large.json", R"({"context": {}, "benchmarks": [{"name": "x", "seconds": )" + digits + "}]}");
  check_failure(failing("cat large.json; exit 0"), 1, no_result + "a number is too large\n");
  here.write("name.json", R"({"context": {}, "benchmarks": [{"name": ")" + digits + R"(", "seconds": 1}]})");
  check_failure(failing("cat name.json; exit 0"), 1, no_result + "a name has 100000 bytes, more than 1000\n");
  here.write("wrong.json", R"({"context": {}, "benchmarks": [], "not_timed": [{"name": "x", "verified": false,
                           "error_message": ")" +
                               digits + "\"}]}");
  check_failure(failing("cat wrong.json; exit 0"), 1, "a: x: " + digits.substr(0, 200) + "... (100000 bytes)\n");
  check_failure(failing("cat large.json >&2; exit 7"), 1, "9... (");
  here.write("deep.json", R"({"context": )" + std::string(1'000'000, '[') + std::string(1'000'000, ']') + "}");
  check_failure(failing("cat deep.json; exit 0"), 1, "a: the JSON has more than 64 levels of arrays and objects");
  here.make_b("0");
  check_failure(here.fanin("regress a b"), 1, "b: x: seconds is 0, not above 0");
  const auto limited = [&](const std::string& program, const std::string& options) {
    here.write("endless", "#!/bin/sh\nexec " + program + "\n");
    const std::string limit = memory_can_be_limited ? "ulimit -v 4000000; " : "";
    return here.shell("chmod +x endless; " + limit + "timeout 60 $fanin regress endless endless " + options);
  };
  check_failure(limited("sleep 50", "--timeout 0.5"), 1, "endless: stopped, because it took longer than 0.5 s");
  check_failure(limited("yes", ""), 1, "endless: stopped, because it wrote more than 67108864 bytes");
  check_failure(limited("yes >&2", ""), 1, "endless: stopped, because it wrote more than 67108864 bytes");
  here.write("b", "#!/no/such/shell\n");
  check_failure(here.shell("chmod +x b; $fanin regress a b"), 1, "b: No such file or directory");
}

TEST_CASE("what a build started ends with it: at the time limit, and when a signal ends fanin") {
  const scratch_folder here;
  // The sleeper has the lock for as long as it lives.
  here.write("starter", "#!/bin/sh\nexec 9>lock\nflock 9\nsleep 20 &\neval \"$END\"\nwait\n");
  const std::string lock_is_free = "flock -w 5 lock true";
  REQUIRE(here.shell("chmod +x starter").status == 0);
  check_failure(here.fanin("regress starter starter --timeout 0.5"), 1, "it took longer than 0.5 s");
  CHECK(here.shell(lock_is_free).status == 0);
  const auto after = [&](const std::string& signal) {
    const finished run = here.shell("export END='kill -" + signal + " $PPID'; $fanin regress starter starter");
    CHECK(here.shell(lock_is_free).status == 0);
    return run;
  };
  CHECK(after("TERM").status == 128 + SIGTERM);
  CHECK(after("HUP").status == 128 + SIGHUP);
  check_failure(after("INT"), 1, "interrupted before the first pair was done");
}

std::string result(const std::string& rows, const std::string& machine = "m", const std::string& not_timed = "") {
  return R"({"context": {"machine": ")" + machine + R"("}, "benchmarks": [)" + rows + R"(], "not_timed": [)" +
         not_timed + "]}";
}
std::string row(const std::string& name, const std::string& seconds) {
  return R"({"name": ")" + name + R"(", "verified": true, "seconds": )" + seconds + "}";
}

TEST_CASE("result files: only a factor of two is called, and a warning says so") {
  const scratch_folder here;
  here.write("a.json", result(row("x", "1") + "," + row("y", "1") + "," + row("z", "1") + "," + row("only", "1")));
  here.write("b.json", result(row("x", "1.9") + "," + row("y", "0.5") + "," + row("z", "2"), "other"));
  const finished run = here.fanin("regress a.json b.json --export-csv t.csv");
  CHECK(run.status == 3);
  CHECK(here.read("t.csv").find("\ny,wall time,FASTER,0.5,,,") != std::string::npos);
  CHECK(run.err.find("fanin: warning: each result is from one process") == 0);
  CHECK(run.err.find("the machines differ: 'm' and 'other'") != std::string::npos);
  CHECK(run.out.find("\nUNDECIDED x: +90.0 %, which one process of each") != std::string::npos);
  CHECK(run.out.find("\nFASTER y: -50.0 %") != std::string::npos);
  CHECK(run.out.find("\nSLOWER z: +100.0 %") != std::string::npos);
  CHECK(run.out.find("\nnot compared: only: B: no such case\n") != std::string::npos);
  CHECK(here.fanin("regress b.json b.json").status == 4);
  CHECK(here.fanin("regress b.json b.json --lenient").status == 0);
  const finished pipes = here.shell("mkfifo a b; cat a.json >a & cat b.json >b & $fanin regress a b");
  CHECK(pipes.status == 3);
  CHECK(pipes.out.find("\nSLOWER z: +100.0 %") != std::string::npos);

  here.write("deep.json", R"({"context": )" + std::string(1'000'000, '[') + std::string(1'000'000, ']') + "}");
  check_failure(here.fanin("regress a.json deep.json"), 1,
                "deep.json: the JSON has more than 64 levels of arrays and objects");
  here.write("none.json", result(row("other", "1")));
  check_failure(here.fanin("regress a.json none.json"), 1, "no case in common");
  const std::string wrong = R"({"name": "x", "verified": false, "error_message": "is 3"})";
  here.write("wrong.json", result("", "m", wrong));
  check_failure(here.fanin("regress a.json wrong.json"), 1, "wrong.json: x: is 3");
  const std::string large = R"({"name": "x", "verified": null, "error_message": "too long"})";
  here.write("large.json", result(row("y", "1"), "m", large));
  CHECK(here.fanin("regress a.json large.json").out.find("not compared: x: B: too long\n") != std::string::npos);
}

TEST_CASE("control characters in names do not reach the terminal") {
  const scratch_folder here;
  const std::string name = "x\\u001b]0;title\\u0007\\u009b2J", shown = "x?]0;title??2J";
  here.write("a.json", result(row(name, "1") + "," + row("y", "1")));
  here.write("b.json",
             result(row(name, "3"), "m", R"({"name": "y", "verified": null, "error_message": ")" + name + "\"}"));
  const finished run = here.fanin("regress a.json b.json");
  CHECK(run.out.find("\nSLOWER " + shown + ":") != std::string::npos);
  CHECK(run.out.find("\nnot compared: y: B: " + shown + "\n") != std::string::npos);
  CHECK(run.out.find_first_of("\x1b\x07\x9b") == std::string::npos);
}

TEST_CASE("what the command line cannot mean") {
  const two_builds here;
  here.make_b("1");
  here.write("a.json", result(row("x", "1")));
  here.write("text", "1 2 3\n");
  check_failure(here.fanin("regress a"), 2, "B is missing: write 'fanin regress A B'");
  check_failure(here.fanin("regress a b --threshold 0"), 2,
                "--threshold is a percentage above 0, up to 1000, not '0'");
  check_failure(here.fanin("regress a b --threshold 3x"), 2, "not '3x'");
  check_failure(here.fanin("regress a b --threshold ''"), 2, "--threshold: the value is empty");
  check_failure(here.fanin("regress a b --pairs 7"), 2, "--pairs is a whole number of at least 8");
  check_failure(here.fanin("regress a b --at-most 0"), 2,
                "--at-most is a time above 0, as in 90s, 5m or 1h, not '0'");
  check_failure(here.fanin("regress a b --at-most 5d"), 2, "not '5d'");
  check_failure(here.fanin("regress a b --quick --pairs 9"), 2, "excludes");
  check_failure(here.fanin("regress a b --budget 0"), 2, "--budget is a number of seconds above 0, not '0'");
  check_failure(here.fanin("regress a b --budget nan"), 2, "not 'nan'");
  check_failure(here.fanin("regress a b --timeout 0"), 2, "--timeout is a number of seconds above 0, not '0'");
  check_failure(here.fanin("regress a b --treshold 3"), 2, "did you mean '--threshold'?");
  check_failure(here.fanin("regress a a.json"), 2, "give two programs or two results");
  check_failure(here.fanin("regress a.json a.json --aa"), 2, "two results take no --pairs");
  check_failure(here.fanin("regress a.json a.json --budget 1"), 2, "two results take no --pairs");
  check_failure(here.fanin("regress a text"), 1,
                "text: there is no such program, here or in PATH, and no such result");
  check_failure(here.fanin("regress a ."), 1, ".: there is no such program");
  check_failure(here.fanin("regress a missing"), 1, "missing: there is no such program");
}

TEST_CASE("two real builds") {
  const finished run = scratch_folder().fanin(
      "regress $fanin $fanin --json --pairs 8 --backend serial --variant naive --type f32 --count 64 --budget 0.01");
  INFO("stderr: ", run.err);
  const json rows = cases_of(run);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0]["name"] == "serial/naive/sum/f32/fast/64");
  CHECK(rows[0]["a_seconds"].size() == 8);
}

TEST_SUITE_END();

}  // namespace
}  // namespace fanin::cli
