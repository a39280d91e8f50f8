// SPDX-License-Identifier: Apache-2.0
// Tests of fanin regress on commands: parameters, controls, outputs, instructions, layouts and revisions.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>

#include "tests/cli/process.hpp"

namespace fanin::cli {
namespace {

using nlohmann::json;

TEST_SUITE_BEGIN("regress_commands");

TEST_CASE("-L: a case for each combination of values; --setup, --prepare and --warmup run when they should") {
  const scratch_folder here;
  here.write("log", "#!/bin/sh\necho \"$*\" >>runs\n");
  REQUIRE(here.shell("chmod +x log").status == 0);
  const finished run = here.fanin(
      "regress --command './log a {n} {s}' './log b {n} {s}' -L n 1,2 -L s x,'y z' --pairs 11 --lenient --json "
      "--setup './log setup {n}' --prepare './log prepare {s}' --warmup 2");
  CHECK(run.status != 2);
  const json rows = json::parse(run.out)["cases"];
  REQUIRE(rows.size() == 4);
  CHECK(rows[0]["name"] == "n=1 s=x");
  CHECK(rows[3]["name"] == "n=2 s=y z");
  const std::string runs = here.read("runs");
  CHECK(runs.starts_with("setup 1\nsetup 1\nsetup 2\nsetup 2\nprepare x\na 1 x\nprepare y z\na 1 y z\n"));
  CHECK(std::ranges::count(runs, '\n') == 4 + 2 * (2 + 11) * 2 * 4);
  check_failure(here.fanin("regress --command './log {m}' ./log -L n 1"), 2, "needs a shell");
  check_failure(here.fanin("regress ./log ./log -L n 1"), 2, "-L are for --command");
}

TEST_CASE("--ignore-failure accepts commands that fail") {
  const scratch_folder here;
  check_failure(here.fanin("regress --command false false --pairs 8"), 1, "exit status 1");
  CHECK(here.fanin("regress --command false false --pairs 8 --ignore-failure --lenient").err.empty());
}

TEST_CASE("--compare-output: the outputs are compared before any time is taken") {
  const scratch_folder here;
  here.write("same.txt", "1\n2\n");
  here.write("other.txt", "1\n3\n");
  check_failure(here.fanin("regress --command 'cat same.txt' 'cat other.txt' --compare-output"), 1,
                "command: the outputs differ: line 2 is '2' of A and '3' of B");
  check_failure(here.fanin("regress --command 'cat {f}.txt' 'cat same.txt' -L f same,other --compare-output"), 1,
                "f=other: the outputs differ");
  CHECK(here.fanin("regress --command 'cat same.txt' 'cat same.txt' --compare-output --pairs 8 --lenient").status !=
        1);
}

TEST_CASE("--control: a run whose control moved is void, whatever its other cases say") {
  const scratch_folder here;
  const auto result = [](const std::string& x, const std::string& y) {
    return R"({"context": {}, "benchmarks": [{"name": "x", "seconds": )" + x +
           R"(}, {"name": "parse y", "seconds": )" + y + "}]}";
  };
  here.write("a", "#!/bin/sh\necho '" + result("1", "1") + "'\n");
  here.write("b", "#!/bin/sh\necho '" + result("1.2", "1.1") + "'\n");
  here.write("c", "#!/bin/sh\necho '" + result("1.2", "1") + "'\n");
  REQUIRE(here.shell("chmod +x a b c").status == 0);
  const finished moved = here.fanin("regress a b --control 'parse*' --lenient");
  CHECK(moved.status == 4);
  CHECK(moved.err == "fanin: the run is void: the control parse y changed, so no verdict holds\n");
  CHECK(moved.out.find("\nVOID: the control parse y moved by +10.0 %, so no verdict holds.\n") != std::string::npos);
  CHECK(json::parse(here.fanin("regress a b --control 'parse*' --json").out)["void"] == true);
  const finished still = here.fanin("regress a c --control 'parse*'");
  CHECK(still.status == 3);
  CHECK(still.out.find("\nSAME control parse y: ") != std::string::npos);
  check_failure(here.fanin("regress a c --control 'z*'"), 2, "--control: no case matches 'z*'");
  check_failure(here.fanin("regress a c --control '*'"), 2, "every case is a control");
}

TEST_CASE("--instructions: counted by perf, or by valgrind where perf cannot") {
  const scratch_folder here;
  // A perf that counts the letters of the command.
  here.write("perf", R"(#!/bin/sh
out=$3
while [ "$1" != -- ]; do [ "$1" != -o ] || out=$2; shift; done
shift
printf '# started\n\n%s,,instructions:u,1,100.00,,\n' $(echo "$*" | wc -c) >"$out"
"$@"
)");
  REQUIRE(here.shell("mkdir bin; mv perf bin; chmod +x bin/perf").status == 0);
  const auto others = [](const finished& run) { return json::parse(run.out)["cases"][0]["others"]; };
  const json by_perf = others(
      here.shell("PATH=$PWD/bin:$PATH $fanin regress --command 'echo 123456789' 'echo 123456789012' --pairs 9 --json "
                 "--instructions"));
  REQUIRE(by_perf.size() == 2);
  CHECK(by_perf[1]["quantity"] == "instructions");
  CHECK(by_perf[1]["verdict"] == "SLOWER");
  CHECK(by_perf[1]["b"][0].get<double>() == by_perf[1]["a"][0].get<double>() + 3);

  here.write("perf", "#!/bin/sh\nexit 1\n");
  here.write("valgrind",
             "#!/bin/sh\nfor o; do case $o in --log-file=*) f=${o#*=};; esac; done\n"
             "echo '==7== Collected : 500' >${f%/*}/7; echo '==8== Collected : 40' >${f%/*}/8\n");
  REQUIRE(here.shell("mv perf valgrind bin; chmod +x bin/*").status == 0);
  const json by_valgrind = others(
      here.shell("PATH=$PWD/bin:$PATH $fanin regress --command true true --pairs 9 --lenient --json --instructions"));
  REQUIRE(by_valgrind.size() == 2);
  CHECK(by_valgrind[1]["a"][0] == 540);
  CHECK(by_valgrind[1]["verdict"] == "SAME");
}

TEST_CASE("--layouts: the pairs run under different sizes of the environment, and each size counts once") {
  const scratch_folder here;
  here.write("p", "#!/bin/sh\necho ${#FANIN_LAYOUT} >>sizes\n");
  REQUIRE(here.shell("chmod +x p").status == 0);
  REQUIRE(here.fanin("regress --command ./p ./p --pairs 24 --layouts 12 --lenient").status != 2);
  const std::string sizes = here.read("sizes");
  std::vector<int> found;
  for (std::size_t at = 0; at < sizes.size(); at = sizes.find('\n', at) + 1)
    found.push_back(std::stoi(sizes.substr(at)));
  REQUIRE(found.size() == 48);
  CHECK(std::set(found.begin(), found.end()).size() == 12);
  for (std::size_t i = 0; i < 24; ++i) CHECK(found[i] == found[i + 24]);
  for (std::size_t i = 0; i < 48; i += 2) CHECK(found[i] == found[i + 1]);
  // Fewer layouts could not show any change.
  CHECK(here.fanin("regress --command true 'sleep 0.01' --layouts 12").status == 3);
  check_failure(here.fanin("regress --command true 'sleep 0.01' --layouts 11"), 2, "--layouts");
  check_failure(here.fanin("regress --command 'true {n}' true -L n 1,2,3,4,5 --layouts 12"), 2,
                "--layouts 12 is too small; 10 verdicts need at least 14 layouts");
}

TEST_CASE("--build: revisions of git are built in worktrees of their own, which are removed") {
  const scratch_folder here;
  REQUIRE(here.shell("git init -q . && git config user.email a@b && git config user.name n && echo 0.01 >time && "
                     "git add time && git commit -qm one && echo 0.05 >time && git commit -qam two && "
                     "echo 0.2 >time")
              .status == 0);
  const std::string build =
      " --build 'echo \"#!/bin/sh\nsleep $(cat time)\" >prog; chmod +x prog' --command --run ./prog";
  const finished run = here.fanin("regress HEAD~1 HEAD --json" + build);
  CHECK(run.status == 3);
  const json whole = json::parse(run.out);
  CHECK(whole["a"] == "HEAD~1");
  for (const json& seconds : whole["cases"][0]["b_seconds"]) CHECK(seconds.get<double>() >= 0.05);
  CHECK(here.shell("git worktree list | wc -l; ls").out == "1\ntime\n");
  const json changed = json::parse(here.fanin("regress HEAD . --pairs 8 --json" + build).out);
  for (const json& seconds : changed["cases"][0]["b_seconds"]) CHECK(seconds.get<double>() >= 0.2);
  check_failure(here.fanin("regress HEAD none" + build), 1, "git: exit status");
  check_failure(here.fanin("regress HEAD HEAD --build 'echo broken >&2; exit 3' --run ./prog"), 1, "broken");
  check_failure(here.fanin("regress HEAD HEAD --build true"), 2, "--build and --run need each other");
  const finished stopped = here.shell(
      "timeout --foreground --preserve-status -s INT 0.5 $fanin regress HEAD HEAD --build 'sleep 30' --run ./prog "
      "--command");
  CHECK(stopped.status == 1);
  CHECK(stopped.err == "fanin: interrupted during a build\n");
  CHECK(here.shell("git worktree list | wc -l; git stash list; cat time").out == "1\n0.2\n");
}

TEST_CASE(
    "--build with --layouts: each revision is built in three orders of functions, which the pairs take in turn") {
  const scratch_folder here;
  REQUIRE(
      here.shell("git init -q . && git config user.email a@b && git config user.name n && touch x && git add x && "
                 "git commit -qm one")
          .status == 0);
  const std::string log = here.shell("echo $PWD/log").out;
  here.write("build.sh", "echo \"#!/bin/sh\necho '$LDFLAGS|$CFLAGS|$CXXFLAGS' >>" + log.substr(0, log.size() - 1) +
                             "\" >prog; chmod +x prog\n");
  const std::string build = "--build 'sh " + here.path() + "/build.sh' --command --run ./prog --pairs 14 --lenient";
  REQUIRE(here.shell("LDFLAGS=-g $fanin regress HEAD HEAD --layouts 13 " + build).status != 2);
  const std::string own = "-g||\n";
  const std::string by_name = "-g -Wl,--sort-section=name| -ffunction-sections| -ffunction-sections\n";
  const std::string by_alignment = "-g -Wl,--sort-section=alignment| -ffunction-sections| -ffunction-sections\n";
  const std::string three_pairs = own + own + by_name + by_name + by_alignment + by_alignment;
  // The thirteenth pair has the thirteenth layout, and the next one has the first layout again.
  CHECK(here.read("log") == three_pairs + three_pairs + three_pairs + three_pairs + own + own + own + own);
  CHECK(here.shell("git worktree list | wc -l; rm log").out == "1\n");
  REQUIRE(here.shell("LDFLAGS=-g $fanin regress HEAD HEAD " + build).status != 2);
  CHECK(here.read("log").find("sort-section") == std::string::npos);
}

TEST_CASE("a program of Google Benchmark is recognised without an option") {
  const scratch_folder here;
  here.write("bench",
             "#!/bin/sh\n# has --benchmark_list_tests\necho '{\"context\": {}, \"benchmarks\": [{\"name\": "
             "\"x\", \"run_type\": \"iteration\", \"real_time\": 2, \"time_unit\": \"ms\"}]}'\n");
  const finished run = here.shell("chmod +x bench; $fanin regress './bench --benchmark_min_time=1' ./bench --json");
  CHECK(run.status == 0);
  CHECK(json::parse(run.out)["cases"][0]["a_seconds"][0].get<double>() == doctest::Approx(2e-3));
}

TEST_CASE("the table as CSV and Markdown") {
  const scratch_folder here;
  const finished run = here.fanin(
      "regress --command 'sleep {s}' 'sleep 0.05' -L s 0.001,0.05 --pairs 9 --lenient --export-csv t.csv "
      "--export-markdown t.md");
  CHECK(run.status != 1);
  const std::string csv = here.read("t.csv"), markdown = here.read("t.md");
  CHECK(
      csv.starts_with("case,measure,verdict,ratio,ratio_low,ratio_high,a_median,b_median,pairs\n"
                      "s=0.001,wall time,"));
  CHECK(std::ranges::count(csv, '\n') == 5);
  CHECK(markdown.starts_with("| case | measure | A | B | B against A | from | to | verdict |\n|---|---|---:|"));
  CHECK(markdown.find("\n| s=0.05 | wall time | ") != std::string::npos);
  CHECK(markdown.find(" s=0.001: ") != std::string::npos);
}

TEST_CASE("the action: a summary, an output and one comment, which later runs replace") {
  const scratch_folder here;
  here.write("gh",
             "#!/bin/sh\necho \"$*\" | sed 's/ --jq .*//' >>calls\ncase $* in *--jq*) cat ids 2>/dev/null;; *) "
             "cat \"${*##*@}\" >comment;; esac; true\n");
  REQUIRE(here.shell("mkdir bin; mv gh bin; chmod +x bin/gh").status == 0);
  const auto act = [&](const std::string& arguments) {
    return here.shell(
        "export PATH=$PWD/bin:$PATH FANIN=$fanin GITHUB_STEP_SUMMARY=summary GITHUB_OUTPUT=output "
        "GITHUB_REPOSITORY=o/r PULL_REQUEST=7 GH_TOKEN=t ARGUMENTS='" +
        arguments + "'; " FANIN_SOURCE "/.github/actions/regress/regress.sh");
  };
  CHECK(act("--command \"sleep 0.001\" \"sleep 0.05\"").status == 3);
  CHECK(here.read("output") == "status=3\n");
  CHECK(here.read("calls") ==
        "api repos/o/r/issues/7/comments --paginate\n"
        "api repos/o/r/issues/7/comments --field body=@" +
            here.read("calls").substr(here.read("calls").rfind('@') + 1));
  const std::string comment = here.read("comment");
  CHECK(
      comment.starts_with("<!-- fanin regress -->\n### fanin regress: A case is **slower**.\n\n| case | measure |"));
  CHECK(here.read("summary") == comment);
  here.write("bench",
             "#!/bin/sh\necho '{\"context\": {}, \"benchmarks\": [{\"name\": \"x\", \"seconds\": '$1'}, {\"name\": "
             "\"y\", \"seconds\": '$1'}]}'\n");
  REQUIRE(here.shell("chmod +x bench; for n in 1 2; do printf '#!/bin/sh\n./bench %s\n' $n >b$n; done; chmod +x b?")
              .status == 0);
  CHECK(act("./b1 ./b2 --control y").status == 4);
  CHECK(here.read("comment").find("### fanin regress: Void: a control moved, so no verdict holds.\n") !=
        std::string::npos);
  here.write("ids", "12\n13\n");
  CHECK(act("--command true none").status == 1);
  CHECK(here.read("calls").find("\napi --method PATCH repos/o/r/issues/comments/12 --field ") != std::string::npos);
  CHECK(here.read("comment").find("The comparison failed.\n\n```\nfanin: none: there is no such program") !=
        std::string::npos);
}

TEST_SUITE_END();

}  // namespace
}  // namespace fanin::cli
