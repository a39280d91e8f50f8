// SPDX-License-Identifier: Apache-2.0
// The program that checks a puzzle. The command contains the object file of this file, and `fanin check` links the
// object file with the kernel of the learner and the solution.
#include "cli/puzzles/check.hpp"
#include "cli/puzzles/kernel_types.hpp"
#include "cli/puzzles/trials.hpp"

extern "C" {
extern const int fanin_puzzle;  ///< the puzzle's number
extern void* const fanin_learner;
extern void* const fanin_solution;
}

namespace fanin::puzzle {
namespace {

template <int Puzzle>
[[noreturn]] void run(limits most = {}) {
  using kernel = typename kernel_type<Puzzle>::type;
  check([](checker& now, kernel* one) { run_trials<Puzzle>(now, one); }, reinterpret_cast<kernel*>(fanin_learner),
        reinterpret_cast<kernel*>(fanin_solution), most);
}

[[noreturn]] void run_puzzle(int number) {
  const limits transactions{true, false, false}, conflicts{false, true, false}, barriers{false, false, true};
  switch (number) {
    case 1:
      run<1>();
    case 2:
      run<2>(transactions);
    case 3:
      run<3>();
    case 4:
      run<4>(conflicts);
    case 5:
      run<5>(barriers);
    case 6:
      run<6>(barriers);
    case 7:
      run<7>(barriers);
    case 8:
      run<8>();
    case 9:
      run<9>(transactions);
    case 10:
      run<10>();
    case 11:
      run<11>();
    default:
      run<12>();
  }
}

}  // namespace
}  // namespace fanin::puzzle

int main(int, char** arguments) {
  fanin::puzzle::report_file = arguments[1];
  fanin::puzzle::run_puzzle(fanin_puzzle);
}
