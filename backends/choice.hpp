// SPDX-License-Identifier: Apache-2.0
// The choice among the backends of this library, as the caller's options or the environment ask for it.
#pragma once

#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include <fanin/backend.hpp>

#include "backends/fallback.hpp"

namespace fanin {

/// options::backend, or FANIN_BACKEND from the environment if that is empty. The environment is read once.
inline std::string_view wanted_backend(const options& chosen) {
  static const std::string from_environment = [] {
    const char* value = std::getenv("FANIN_BACKEND");
    return std::string(value != nullptr ? value : "");
  }();
  return chosen.backend.empty() ? std::string_view(from_environment) : chosen.backend;
}

/// Whether the options name more than one backend, and the data lie where each of them can read them.
inline bool leaves_choice(const options& chosen, memory place) {
  const std::string_view wanted = wanted_backend(chosen);
  const bool many = wanted.empty() || wanted == "auto" || wanted.find(',') != std::string_view::npos;
  return many && place == memory::host;
}

/// The operation's inputs without their data, which come later: for plans and streams.
inline input_views views_without_data(operation what, element_type type, std::size_t expected_count, memory place) {
  return detail::repeated(what, {nullptr, expected_count, type, place});
}

/// Integers that are taken as f64, without their data.
inline input_views views_as_f64(const input_views& integers) {
  return array_view(nullptr, integers.count(), element_type::f64, integers.place());
}

/// select() among all backends.
inline selection choose(operation what, const input_views& inputs, const options& chosen,
                        std::span<const passed_over> failed = {}, layout kind = layout::array, bool adds = false) {
  return select(backends(), wanted_backend(chosen), what, inputs, chosen, failed, kind, adds);
}

/// Writes the value by the backend that `choose` returns.
template <class Choose>
report reduce_by(Choose choose, memory place, void* value, const options& chosen) {
  const auto run = [&](selection& s) {
    return report(s.chosen->name(), s.chosen->reduce(s.what, value), std::move(s.fallback));
  };
  return with_fallback(choose, run, [&] { return leaves_choice(chosen, place); });
}

}  // namespace fanin
