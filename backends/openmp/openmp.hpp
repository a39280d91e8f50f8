// SPDX-License-Identifier: Apache-2.0
// The OpenMP backend: a parallel loop distributes the tasks.
#pragma once

#include "backends/cpu/cpu_backend.hpp"

namespace fanin::openmp {

class backend final : public cpu::cpu_backend {
 public:
  std::string_view name() const noexcept override { return "openmp"; }

 protected:
  void run(unsigned threads, std::size_t count, task each) const override;
};

}  // namespace fanin::openmp
