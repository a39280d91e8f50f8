// The OpenMP backend: tasks are handed out by a parallel loop.
#pragma once

#include "backends/cpu/cpu_backend.hpp"

namespace fanin::openmp {

class backend final : public cpu::cpu_backend {
 public:
  std::string_view name() const noexcept override { return "openmp"; }

 protected:
  void run(unsigned threads, std::size_t count, cpu::task each) const override;
};

}  // namespace fanin::openmp
