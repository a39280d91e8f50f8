// SPDX-License-Identifier: Apache-2.0
// Lists of backends, and `auto`, try another backend if the chosen backend fails at run time.
#pragma once

#include <exception>
#include <span>
#include <string_view>
#include <vector>

#include <fanin/backend.hpp>
#include <fanin/error.hpp>

#include "backends/checks.hpp"

namespace fanin {

/// Whether another backend may do what this one could not: it ran out of memory, or its device failed.
inline bool concerns_backend(const error& failure) {
  return dynamic_cast<const out_of_memory*>(&failure) != nullptr ||
         dynamic_cast<const device_error*>(&failure) != nullptr;
}

/// Goes on where the first choice has failed with the exception that is being handled: as with_fallback().
template <class Choose, class Run>
auto run_others(const error& failure, std::string_view name, Choose choose, Run run) {
  const std::exception_ptr first = std::current_exception();
  std::vector<passed_over> failed{{name, reason::failed, failure.what()}};
  const auto next = [&] {
    try {
      return choose(std::span<const passed_over>(failed));
    } catch (const error&) {
      std::rethrow_exception(first);
    }
  };
  for (;;) {
    selection s = next();
    try {
      return run(s);
    } catch (const error& another) {
      if (!concerns_backend(another)) throw;
      failed.push_back({s.chosen->name(), reason::failed, another.what()});
    }
  }
}

/// Returns run(selection) for choose(failed), where `failed` is empty at first. If run() throws an error that
/// concerns its backend and leaves_choice() holds, the backend is added to `failed`, and what choose() then returns
/// runs. When nothing is left, the first of these errors is thrown. run() has to leave the input as it was.
template <class Choose, class Run, class LeavesChoice>
auto with_fallback(Choose choose, Run run, LeavesChoice leaves_choice) {
  return compute([&] {
    selection s = choose(std::span<const passed_over>());
    try {
      return translate_bad_alloc([&] { return run(s); });
    } catch (const error& failure) {
      if (!concerns_backend(failure) || !leaves_choice()) throw;
      return run_others(failure, s.chosen->name(), choose,
                        [&](selection& other) { return translate_bad_alloc([&] { return run(other); }); });
    }
  });
}

}  // namespace fanin
