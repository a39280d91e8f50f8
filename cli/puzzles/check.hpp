// SPDX-License-Identifier: Apache-2.0
// Runs the learner's kernel and the solution through the trials of a puzzle, and prints what it finds.
#pragma once

#include <sys/time.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "cli/puzzles/watch.hpp"

namespace fanin::puzzle {

/// The end of a check: a first word that says what kind of fault there is, and the report.
[[noreturn]] inline void finish(const std::string& report) {
  std::fputs((report + "\n").c_str(), stdout);
  std::fflush(stdout);
  ::_exit(0);
}

/// Which costs of the learner's kernel may not be above the solution's.
struct limits {
  bool transactions = false, conflicts = false, barriers = false;
};

class checker {
 public:
  /// Begins a trial: its name in reports, as in "n = 33".
  void trial(const std::string& name) {
    name_ = name;
    all_arrays.clear();
  }

  /// The sizes of inputs. On a GPU there is a long one too.
  std::vector<int> and_long(std::vector<int> sizes, int = 1) const { return sizes; }

  /// Launches the kernel with blocks and threads in the order of `seed`.
  template <class Kernel>
  void launch(unsigned blocks, unsigned threads, Kernel kernel, unsigned seed = 0) {
    watching.begin_launch(blocks, threads);
    try {
      emulate::launch(blocks, threads, kernel, seed);
    } catch (const emulate::fault& found) {
      const std::string text = found.what();
      const bool has_kind = text.find(": ") < 15;
      finish((has_kind ? text : "barrier: " + text) + "\n  in the trial " + name_);
    }
    if (!watching.no_value().empty()) finish(watching.no_value() + "\n  in the trial " + name_);
    spent_.add(watching.end_launch());
    ++launches_;
  }

  /// Checks every element. `inputs` are the arrays whose use explains a wrong element.
  template <class T>
  void expect(const array<T>& found, const std::vector<T>& expected,
              const std::vector<const array_memory*>& inputs = {}) {
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (std::memcmp(&found.data()[i], &expected[i], sizeof(T)) == 0) continue;
      const bool written = found.memory().history[i * sizeof(T)].has_value;
      std::string report = "wrong: " + found.memory().name + "[" + std::to_string(i) + "] " +
                           (written ? "is " + std::to_string(found[i]) : "has no value") + ", and should be " +
                           std::to_string(expected[i]) + "\n  in the trial " + name_ + "\n" +
                           story_of(found.memory(), i);
      for (const array_memory* const input : inputs) report += unusual_reads(*input);
      report.pop_back();
      finish(report);
    }
  }

  /// An input whose sum may round has the bits of the exact sum, or has not.
  void compare_with_exact(bool same) {
    ++compared_;
    exact_ += same ? 1 : 0;
  }
  /// Says how the bits of the sums compare with the exact sums. Where no sum may round, expect() has compared them.
  std::string bits() const {
    if (compared_ == 0) return "those of the exact sum";
    return "the same in every order of the blocks, and those of the exact sum for " + std::to_string(exact_) +
           " of " + std::to_string(compared_) + " inputs";
  }
  costs spent() const { return spent_; }
  int launches() const { return launches_; }

 private:
  /// The first element that is not read, and the first that two threads read.
  static std::string unusual_reads(const array_memory& input) {
    std::vector<int> reads(input.count());
    for (std::size_t i = 0; i < input.log.size(); ++i) {
      if (input.log[i].what == action::read) ++reads[input.log_index[i]];
    }
    std::string text;
    for (const int unusual : {0, 2}) {
      const auto at = std::find_if(reads.begin(), reads.end(), [=](int n) { return unusual == 0 ? n == 0 : n > 1; });
      if (at != reads.end()) text += story_of(input, static_cast<std::size_t>(at - reads.begin()));
    }
    return text;
  }

  std::string name_;
  costs spent_;
  int launches_ = 0;
  int compared_ = 0, exact_ = 0;
};

[[noreturn]] inline void stop_signal(int signal) {
  const std::string kind = signal == SIGPROF ? "endless: the kernel does not end within 3 s of computing"
                                             : "out of bounds: the kernel has crashed";
  finish(kind + ", in thread " + std::to_string(threadIdx.x) + " of block " + std::to_string(blockIdx.x));
}

/// Checks the kernel by `trials`, which takes a checker and a kernel, and ends the program.
template <class Trials, class Kernel>
[[noreturn]] void check(Trials trials, Kernel learner, Kernel solution, limits most) {
  for (const int signal : {SIGPROF, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) std::signal(signal, stop_signal);
  const itimerval seconds = {{}, {3, 0}};
  ::setitimer(ITIMER_PROF, &seconds, nullptr);
  checker mine, model;
  trials(mine, learner);
  trials(model, solution);
  const costs found = mine.spent(), best = model.spent();
  std::string table, above;
  const auto row = [&](const char* name, std::size_t here, std::size_t there, bool limited) {
    table += "\n  " + std::string(name) + ": " + std::to_string(here) + ", the solution: " + std::to_string(there);
    if (limited && here > there && above.empty()) above = name;
  };
  row("memory transactions", found.transactions, best.transactions, most.transactions);
  row("bank conflicts", found.conflicts, best.conflicts, most.conflicts);
  row("barriers of blocks", found.barriers, best.barriers, most.barriers);
  table += "\n  bits: " + mine.bits();
  if (!above.empty()) finish("slow: the values are right, and this puzzle asks for fewer " + above + table);
  finish("right: " + std::to_string(mine.launches()) + " launches" + table);
}

}  // namespace fanin::puzzle
