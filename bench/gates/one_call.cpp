// SPDX-License-Identifier: Apache-2.0
// Runs one reduction on one thread, whose instructions callgrind counts. The reduction uses the same instruction set
// on every machine. Usage: fanin_gate_call VARIANT OPERATION TYPE METHOD COUNT
#include <cstdio>
#include <exception>

#include <hwy/targets.h>

#include "cli/bench/bench.hpp"

namespace {

using namespace fanin::cli;

constexpr int skipped = 77;

}  // namespace

/// callgrind counts the instructions of this function and of the functions that it calls.
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
  const fanin::oracle::random_input values(one.what, one.type, one.bytes() / byte_size(one.type));
  const reduction call = reduction_of(one, 1);
  static_cast<void>(call(values.view()));  // Excludes work that only the first call does.
  fanin_counted_call(call, values.view());
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "fanin_gate_call: %s\n", error.what());
  return 1;
}
