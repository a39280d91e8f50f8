// One reduction on one thread, for callgrind to count the instructions of. It always uses the same instruction set,
// whatever the machine has beyond it. Usage: fanin_gate_call VARIANT OPERATION TYPE METHOD COUNT
#include <cstdio>
#include <exception>

#include <hwy/targets.h>

#include "cli/bench/bench.hpp"

namespace {

using namespace fanin::cli;

constexpr int skipped = 77;

}  // namespace

/// The one function that is counted, with all that it calls.
extern "C" __attribute__((noinline)) void fanin_counted_call(const reduction& call, const fanin::array_view& x) {
  static_cast<void>(call(x));
}

int main(int argc, char** argv) try {
  if (argc != 6) return 2;
  if ((hwy::SupportedTargets() & HWY_AVX2) == 0) return skipped;
  hwy::SetSupportedTargetsForTest(HWY_AVX2);
  const bench_case one = sweep({.backends = {"serial"},
                                .variants = {argv[1]},
                                .operations = {argv[2]},
                                .types = {argv[3]},
                                .methods = {argv[4]},
                                .counts = {argv[5]}})[0];
  const fanin::oracle::random_input values(one.what, one.type, one.bytes() / size_of(one.type));
  const reduction call = reduction_of(one, 1);
  call(values.view());  // what happens only once is no part of it
  fanin_counted_call(call, values.view());
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "fanin_gate_call: %s\n", error.what());
  return 1;
}
