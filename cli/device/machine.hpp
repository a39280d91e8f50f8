// What this machine computes with.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/kit/facts.hpp"

namespace fanin::cli {

/// Empty where the system does not tell.
std::string processor_name();

/// Cores, caches, vectors and the code path in use.
std::vector<fact> processor_facts();

/// Reads of an array that the caches do not hold, where memory allows, by 1, 2, 4, ... threads, measured now.
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
