// SPDX-License-Identifier: Apache-2.0
// Runs the learner's kernel and the solution through the trials of a puzzle, and prints what it finds.
#pragma once

#include <sys/time.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>

#include "cli/puzzles/report.hpp"
#include "cli/puzzles/watch.hpp"

namespace fanin::puzzle {

/// Which costs of the learner's kernel may not be above the solution's.
struct limits {
  bool transactions = false, conflicts = false, barriers = false;
};

class checker {
 public:
  /// Begins a trial: one launch with one input.
  void trial(const std::string& name) {
    trial_name = name;
    ++trials_;
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
      finish((has_kind ? text : "barrier: " + text) + in_the_trial());
    }
    if (!watching.no_value().empty()) finish(watching.no_value() + in_the_trial());
    spent_.add(watching.end_launch());
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
                           std::to_string(expected[i]) + in_the_trial() + "\n" + story_of(found.memory(), i);
      for (const array_memory* const input : inputs) {
        if (written) report += reads_of(found.memory().history[i * sizeof(T)].last_write.thread, *input);
        report += missing_and_repeated_reads(*input);
      }
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
  int number_of_trials() const { return trials_; }

 private:
  /// The elements that a thread reads, for a report: the first of them, in the order of the reads.
  static std::string reads_of(unsigned thread, const array_memory& input) {
    std::string text;
    int shown = 0;
    for (std::size_t i = 0; i < input.log.size(); ++i) {
      if (input.log[i].what != action::read || input.log[i].thread != thread) continue;
      if (++shown > 4) return text + " and more\n";
      text += shown == 1 ? "  " + name_of_thread(thread) + " reads " : ", ";
      text += input.name + "[" + std::to_string(input.log_index[i]) + "]";
    }
    return text.empty() ? "" : text + "\n";
  }

  /// The first element that is not read, and the first that two threads read.
  static std::string missing_and_repeated_reads(const array_memory& input) {
    std::vector<int> reads(input.count());
    for (std::size_t i = 0; i < input.log.size(); ++i) {
      if (input.log[i].what == action::read) ++reads[input.log_index[i]];
    }
    std::string text;
    for (const int wanted : {0, 2}) {
      const auto at = std::find_if(reads.begin(), reads.end(), [=](int n) { return wanted == 0 ? n == 0 : n > 1; });
      if (at != reads.end()) text += story_of(input, static_cast<std::size_t>(at - reads.begin()));
    }
    return text;
  }

  costs spent_;
  int trials_ = 0;
  int compared_ = 0, exact_ = 0;
};

/// `at` is the place of the instruction for a division by 0.
[[noreturn]] inline void stop_signal(int signal, siginfo_t* at, void*) {
  const bool divides = signal == SIGFPE;
  const place where = {divides ? static_cast<const char*>(at->si_addr) + 1 : nullptr, 0};
  const char* const does = divides             ? " divides by 0"
                           : signal == SIGPROF ? does_not_end
                                               : " uses memory that does not exist";
  finish(report(divides ? "crash" : signal == SIGPROF ? "endless" : "out of bounds", does, where) + in_the_trial());
}

/// After 3 s of computing the kernel is stopped at its next access or barrier, whose line the report has. A kernel
/// that has none is stopped a second later.
inline void stop_slow_kernel(int signal, siginfo_t* at, void* more) {
  if (is_late) stop_signal(signal, at, more);
  is_late = true;
}

/// Checks the kernel by `trials`, which takes a checker and a kernel, and ends the program.
template <class Trials, class Kernel>
[[noreturn]] void check(Trials trials, Kernel learner, Kernel solution, limits most) {
  const auto handle = [](int signal, void (*by)(int, siginfo_t*, void*)) {
    struct sigaction action = {};
    action.sa_sigaction = by;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    ::sigaction(signal, &action, nullptr);
  };
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) handle(signal, stop_signal);
  handle(SIGPROF, stop_slow_kernel);
  const itimerval seconds = {{1, 0}, {3, 0}};
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
  finish("right: all " + std::to_string(mine.number_of_trials()) + " trials" + table);
}

}  // namespace fanin::puzzle
