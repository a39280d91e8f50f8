// SPDX-License-Identifier: Apache-2.0
// The program that checks a puzzle. `fanin check` compiles this file, and links it with the learner's kernel and the
// solution.
#include "cli/puzzles/kernel_types.hpp"
#include "cli/puzzles/trials.hpp"

extern "C" {
extern const int fanin_puzzle;  ///< the puzzle's number
extern void* const fanin_learner;
extern void* const fanin_solution;
}

namespace fanin::puzzle {
namespace {

template <int Puzzle, class Trials>
[[noreturn]] void run(Trials trials, limits most = {}, const char* bits = "those of the exact sum") {
  using kernel = typename kernel_of<Puzzle>::type;
  check(trials, reinterpret_cast<kernel*>(fanin_learner), reinterpret_cast<kernel*>(fanin_solution), most, bits);
}

[[noreturn]] void run_puzzle(int number) {
  const limits transactions{true, false, false}, conflicts{false, true, false}, barriers{false, false, true};
  switch (number) {
    case 1:
      run<1>(two_each_trials);
    case 2:
      run<2>(many_each_trials, transactions);
    case 3:
      run<3>(piece_trials<64, 64>);
    case 4:
      run<4>(piece_trials<64, 64>, conflicts);
    case 5:
      run<5>(piece_trials<128, 128>, barriers);
    case 6:
      run<6>(piece_trials<64, 32>, barriers);
    case 7:
      run<7>(piece_trials<128, 128>, barriers);
    case 8:
      run<8>(one_launch_trials);
    case 9:
      run<9>(row_trials, transactions);
    case 10:
      run<10>(segment_trials);
    case 11:
      run<11>(same_bits_trials, {}, "the same in every order of the blocks, and not those of the exact sum");
    default:
      run<12>(exact_sum_trials);
  }
}

}  // namespace
}  // namespace fanin::puzzle

int main() { fanin::puzzle::run_puzzle(fanin_puzzle); }
