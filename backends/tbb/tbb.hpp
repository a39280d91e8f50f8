// The oneTBB backend: tasks are handed out by a parallel_for in an arena of the wanted width.
#pragma once

#include "backends/cpu/cpu_backend.hpp"

namespace fanin::tbb_backend {

class backend final : public cpu::cpu_backend {
 public:
  std::string_view name() const noexcept override { return "tbb"; }

 protected:
  void run(unsigned threads, std::size_t count, cpu::task each) const override;
};

}  // namespace fanin::tbb_backend
