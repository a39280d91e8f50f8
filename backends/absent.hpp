// SPDX-License-Identifier: Apache-2.0
// Stands in the list of backends for one that this build was configured without.
#pragma once

#include <fanin/backend.hpp>
#include <fanin/error.hpp>

namespace fanin {

class absent_backend final : public backend {
 public:
  constexpr absent_backend(std::string_view name, std::string_view why) noexcept
      : name_(name), availability_{reason::not_compiled, why} {}

  std::string_view name() const noexcept override { return name_; }
  const availability& probe() const noexcept override { return availability_; }
  std::span<const variant_info> variants() const noexcept override { return {}; }
  support prepare(request&) const override { return {availability_.why, std::string(availability_.detail)}; }
  outcome reduce(const request&, void*) const override {
    throw backend_unavailable(std::string(availability_.detail));
  }
  std::unique_ptr<stream> open(const request&) const override {
    throw backend_unavailable(std::string(availability_.detail));
  }

 private:
  std::string_view name_;
  availability availability_;
};

}  // namespace fanin
