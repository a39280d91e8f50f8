// SPDX-License-Identifier: Apache-2.0
// Tests of the files that the command writes. Files are replaced, written as they are, or refused.
#include <doctest/doctest.h>

#include "tests/cli/process.hpp"

namespace fanin::cli {
namespace {

TEST_SUITE_BEGIN("outputs");

TEST_CASE("what is no regular file, and standard output, are written as they are") {
  const scratch_folder here;
  const std::string generate = "$fanin generate uniform --count 100 --seed 3 --output ";
  REQUIRE(here.shell(generate + "x.npy").status == 0);
  const finished piped = here.shell(generate + "/dev/stdout | cat >piped.npy");
  CHECK(piped.err.find("fanin: exact sum, rounded to f64: ") != std::string::npos);
  CHECK(here.read("piped.npy") == here.read("x.npy"));
  CHECK(here.shell(generate + "- >redirected.npy").status == 0);
  CHECK(here.read("redirected.npy") == here.read("x.npy"));
  CHECK(here.shell(generate + "/proc/self/fd/1 >redirected.npy").status == 0);
  CHECK(here.read("redirected.npy") == here.read("x.npy"));
  CHECK(here.shell("mkfifo pipe; cat pipe >read.npy & " + generate + "pipe && wait && test -p pipe").status == 0);
  CHECK(here.read("read.npy") == here.read("x.npy"));
  CHECK(here.shell("$fanin sum x.npy --method exact --save-state /dev/null && test -c /dev/null").status == 0);
  check_failure(here.shell(generate + "."), 1, ".: Is a directory");
}

TEST_CASE("a file is replaced with its permissions, and a symbolic link keeps its target") {
  const scratch_folder here;
  const std::string generate = "$fanin generate uniform --count 100 --output ";
  const std::string save = "seq 3 | $fanin sum --method exact --force --save-state ";
  CHECK(here.shell("umask 027; " + generate + "new.npy --force >/dev/null; stat -c %a new.npy").out == "640\n");
  CHECK(here.shell("echo old >state; chmod 604 state; " + save + "state; stat -c %a state").out == "6\n604\n");
  REQUIRE(here.shell("mkdir far; echo old >far/x; ln -s x far/y; ln -s far/y z; chmod 600 far/x").status == 0);
  CHECK(here.shell(save + "z && test -h z && test -h far/y && stat -c %a far/x").out == "6\n600\n");
  CHECK(here.fanin("merge far/x").out == "6\n");
  CHECK(here.shell("ln -s far/missing dangling; " + save + "dangling && test -h dangling").status == 0);
  CHECK(here.fanin("merge far/missing").out == "6\n");
  check_failure(here.shell("ln -s circle circle; " + save + "circle"), 1,
                "circle: Too many levels of symbolic links");
  CHECK(here.shell("ls far").out == "missing\nx\ny\n");
}

TEST_CASE("a file is replaced only with --force") {
  const scratch_folder here;
  REQUIRE(here.shell("echo old >x; ln -s x y; ln -s z dangling").status == 0);
  for (const std::string name : {"x", "y"}) {
    check_failure(here.fanin("generate uniform --output " + name), 1, name + ": exists; --force replaces it");
    check_failure(here.shell("seq 3 | $fanin sum --method exact --save-state " + name), 1,
                  name + ": exists; --force");
  }
  CHECK(here.read("x") == "old\n");
  check_failure(here.fanin("merge x --force"), 2, "--force requires --save-state");
  check_failure(here.fanin("sum x --force"), 2, "--force requires --output or --save-state");
  CHECK(here.fanin("generate uniform --count 2^3 --output dangling").status == 0);
  CHECK(here.shell("$fanin sum z --json | grep -c '\"count\": 8'").out == "1\n");
  CHECK(here.fanin("generate uniform --count 2e2 --output y --force").status == 0);
  CHECK(here.shell("$fanin sum x --json | grep -c '\"count\": 200'").out == "1\n");
}

TEST_CASE("the input is not replaced by the state of its sum; merge may replace a state that it has read") {
  const scratch_folder here;
  REQUIRE(here.shell("seq 3 >x.txt; ln x.txt hard; ln -s x.txt soft").status == 0);
  for (const std::string name : {"x.txt", "./x.txt", "hard", "soft"}) {
    CAPTURE(name);
    const std::string message = name + ": --save-state would replace the input; choose another name";
    check_failure(here.fanin("sum x.txt --method exact --save-state " + name), 2, message);
    check_failure(here.fanin("sum - --method exact <x.txt --save-state " + name), 2, message);
  }
  CHECK(here.read("x.txt") == "1\n2\n3\n");
  CHECK(here.shell("$fanin sum x.txt --method exact --save-state a; $fanin merge a a --save-state a --force").out ==
        "6\n12\n");
  CHECK(here.fanin("merge a").out == "12\n");
  check_failure(here.fanin("merge a a --save-state a"), 1, "a: exists; --force replaces it");
  check_failure(here.fanin("sum x.txt --save-state -"), 2, "standard output is for the value");
  check_failure(here.fanin("merge a --save-state -"), 2, "standard output is for the value");
}

TEST_CASE("no signal that can be caught leaves a temporary file") {
  const scratch_folder here;
  // A shell starts a background process with SIGINT and SIGQUIT ignored, and nohup a shell with SIGHUP ignored.
  const std::string read = "env --default-signal $fanin sum - --format text --method exact --save-state state <>in";
  // The signals are SIGHUP, SIGINT, SIGQUIT, SIGABRT, SIGUSR1, SIGSEGV, SIGPIPE, SIGALRM, SIGTERM, SIGXCPU, SIGXFSZ
  // and a real-time signal. The sanitizers would take SIGSEGV, and the thread sanitizer calls some handlers while it
  // holds its own locks: under it, the child first sleeps in its read.
  const finished killed = here.shell(
      "asleep='^State:.*'; if grep -qa __tsan_init $fanin; then asleep='^State:.S'; fi\n"
      "ulimit -c 0; mkfifo in; export ASAN_OPTIONS=handle_segv=0 TSAN_OPTIONS=$TSAN_OPTIONS:handle_segv=0\n"
      "for signal in 1 2 3 6 10 11 13 14 15 24 25 40; do\n" +
      read +
      " & child=$!\n"
      "until ls state.* 2>/dev/null >&2; do kill -0 $child || break; done\n"
      "until grep -q \"$asleep\" /proc/$child/status; do kill -0 $child || break; done\n"
      "kill -$signal $child; wait $child; echo $(($? - 128 - signal))\n"
      "done");
  CHECK(killed.out == "0\n0\n0\n0\n0\n0\n0\n0\n0\n0\n0\n0\n");
  CHECK(here.shell("ls").out == "in\n");
}

TEST_SUITE_END();

}  // namespace
}  // namespace fanin::cli
