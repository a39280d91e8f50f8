// SPDX-License-Identifier: Apache-2.0
// The CPU part of `fanin device`.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/kit/facts.hpp"

namespace fanin::cli {

/// The processor's model name, or an empty string if /proc/cpuinfo does not have it.
std::string processor_name();

/// "unknown processor" for an empty name; with `on_device`, the GPU's name after a comma. @throws device_error
std::string machine_name(bool on_device);

/// The cores, the caches, the vector width and the instruction set in use.
std::vector<fact> processor_facts();

/// Rates at which 1, 2, 4, ... threads read an array of `bytes`, which is larger than the caches but at most 1 GiB.
struct read_measurements {
  std::size_t bytes;
  struct rate {
    unsigned threads;
    double gigabytes_per_second;
  };
  std::vector<rate> rates;
};
read_measurements measure_reads(const std::vector<fact>& processor);

}  // namespace fanin::cli
