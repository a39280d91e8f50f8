// SPDX-License-Identifier: Apache-2.0
// The results of single processes, as benchmark programs print them in JSON.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace fanin::cli {

/// The quantities that are measured of a case: the time from start to end, the user and system time of all
/// threads, the instructions.
enum class quantity : std::uint8_t { wall_time, cpu_time, instructions };
using amounts = std::map<quantity, double>;  ///< seconds, or a number of instructions

/// The result of one process. A name has either amounts, wall_time among them, or the reason why it has none.
struct measured {
  std::vector<std::string> names;
  std::map<std::string, amounts> values;
  std::map<std::string, std::string> problems;
  std::string machine;
};

/// The names of the cases that a process measures. Nothing: all cases.
using case_names = std::optional<std::vector<std::string>>;

/// Reads what `fanin bench --json` prints. `from` names the program or the file in messages.
/// @throws bad_data (not such a result, a case twice, a time that is not above 0, a wrong value)
measured read_fanin_result(const std::string& from, const std::string& text);

/// Reads the JSON of Google Benchmark or of nvbench.
/// Google Benchmark: a case is a "run_name". Its times are the medians of the real time and the CPU time of its
/// repetitions. If only aggregates are reported, its times are the aggregates that are called median.
/// nvbench: a case is a benchmark with a state. Its time is the mean time on the GPU of isolated calls (tag
/// nv/cold/time/gpu/mean), or on the CPU for a benchmark without a GPU (nv/cpu_only/time/cpu/mean).
/// A case that is skipped or fails is a problem.
/// @throws bad_data (not such a result, a case twice, a time that is not above 0)
measured read_benchmark_result(const std::string& from, const std::string& text);

}  // namespace fanin::cli
