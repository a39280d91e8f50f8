// SPDX-License-Identifier: Apache-2.0
// The oneTBB backend: a parallel_for distributes the tasks, in an arena for the requested number of threads.
#pragma once

#include "backends/cpu/cpu_backend.hpp"

namespace fanin::tbb_backend {

class backend final : public cpu::cpu_backend {
 public:
  std::string_view name() const noexcept override { return "tbb"; }

 protected:
  void run(unsigned threads, std::size_t count, task each) const override;
};

}  // namespace fanin::tbb_backend
