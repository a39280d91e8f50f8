// SPDX-License-Identifier: Apache-2.0
// Any bytes as a result of the ladder: bad_data, or times whose figures are finite and above 0.
#include <cmath>
#include <sstream>

#include "cli/kit/errors.hpp"
#include "cli/lesson/stage_times.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace fanin::cli;
using namespace fanin::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  ladder_files files;
  try {
    files.add("fuzz", std::istringstream(text));
  } catch (const bad_data&) {
    return 0;
  }
  expect(!files.empty(), "a file that was read is there");
  const auto is_amount = [](double value) { return std::isfinite(value) && value > 0; };
  for (const stage_time& one : files.times_of("first").all) {
    expect(is_amount(one.microseconds) && is_amount(one.share_of_ceiling), "a time and a share are above 0");
    if (one.over) expect(is_amount(one.over->times), "a gain is above 0");
  }
  return 0;
}
