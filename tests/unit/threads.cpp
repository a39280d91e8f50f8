// SPDX-License-Identifier: Apache-2.0
// Tests of the number of cores that a process may use, also after an OpenMP runtime has bound the main thread to one
// core. The runtime does so before main(), so a second process of this program runs a hidden test with other
// environment variables.
#include <doctest/doctest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fanin/fanin.hpp>

#include "tests/support/skip.hpp"

namespace {

/// The cores that a thread of this process may run on. 0 is the calling thread.
std::set<int> cores_of(pid_t thread) {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(thread, sizeof set, &set);
  std::set<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(static_cast<std::size_t>(core), &set)) cores.insert(core);
  }
  return cores;
}

/// The run time of each thread of this process, in nanoseconds.
std::map<pid_t, long long> run_times() {
  std::map<pid_t, long long> all;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream(task.path() / "schedstat") >> all[std::stoi(task.path().filename())];
  }
  return all;
}

/// Whether at least two threads worked for backend `name` and may run on different cores. Repeats the call for a
/// while, because on a busy machine one thread may do all the work.
bool uses_cores(const std::string& name) {
  const std::vector<double> x(1 << 22, 1.0);
  for (int round = 0; round < 200; ++round) {
    auto before = run_times();
    if (fanin::sum(x, {.backend = name}).value != double(1 << 22)) return false;
    std::set<int> cores;
    int workers = 0;
    for (const auto& [thread, nanoseconds] : run_times()) {
      if (nanoseconds == before[thread]) continue;
      ++workers;
      cores.merge(cores_of(thread));
    }
    if (workers >= 2 && cores.size() >= 2) return true;
  }
  return false;
}

std::string this_program() { return std::filesystem::read_symlink("/proc/self/exe"); }

/// Runs a hidden test of this program with the environment variables. Returns whether the test passed.
bool passes(const std::string& test, const std::string& variables, const char* output = "&2") {
  const std::string command = variables + " '" + this_program() + "' --no-skip --test-case='" + test + "' >" + output;
  const int status = std::system(command.c_str());
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

TEST_SUITE("unit/threads") {
  TEST_CASE("a bound main thread costs nobody a core") {
    if (cores_of(0).size() < 2) {
      fanin::test::skip("this machine has one core");
      return;
    }
    const std::string count = "FANIN_TEST_CORES=" + std::to_string(cores_of(0).size());
    CHECK(passes("hidden: all cores are counted and used", count));
    CHECK(passes("hidden: all cores are counted and used", count + " OMP_PROC_BIND=true OMP_PLACES=cores"));
    CHECK(passes("hidden: all cores are counted and used", count + " OMP_PROC_BIND=close OMP_NUM_THREADS=1"));
    CHECK_FALSE(passes("hidden: all cores are counted and used", "FANIN_TEST_CORES=1", "/dev/null"));
  }

  TEST_CASE("the process's own limit counts") {
    CHECK(passes("hidden: all cores are counted", "FANIN_TEST_CORES=1 taskset -c " + std::to_string(sched_getcpu())));
    CHECK(fanin::default_threads() >= 1);
  }

  TEST_CASE("hidden: all cores are counted" * doctest::skip()) {
    CHECK(std::to_string(fanin::default_threads()) == std::getenv("FANIN_TEST_CORES"));
  }

  TEST_CASE("hidden: all cores are counted and used" * doctest::skip()) {
    CHECK(std::to_string(fanin::default_threads()) == std::getenv("FANIN_TEST_CORES"));
    for (const std::string name : {"tbb", "openmp"}) {
      CAPTURE(name);
      const std::set<int> own = cores_of(0);
      if (fanin::find_backend(name).probe().usable()) CHECK(uses_cores(name));
      CHECK(cores_of(0) == own);
    }
  }
}
