// SPDX-License-Identifier: Apache-2.0
// The serial backend: it runs on the calling thread, and is part of every build.
#pragma once

#include "backends/cpu/cpu_backend.hpp"

namespace fanin::serial {

class backend final : public cpu::cpu_backend {
 public:
  std::string_view name() const noexcept override { return "serial"; }
  std::span<const variant_info> variants() const noexcept override;
  support prepare(request& request) const override;
  outcome reduce_present(const request& prepared, const input_views& inputs, void* result) const override;
  std::unique_ptr<stream> open(const request& request) const override;

 protected:
  void run(unsigned threads, std::size_t count, task each) const override;
};

}  // namespace fanin::serial
