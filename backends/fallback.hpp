// What a list of backends, and `auto`, do when the chosen backend fails at run time.
#pragma once

#include <exception>
#include <span>
#include <vector>

#include <fanin/backend.hpp>
#include <fanin/error.hpp>

#include "backends/checks.hpp"

namespace fanin {

/// Returns run(selection) for choose(failed), where `failed` is empty at first. If run() throws out_of_memory or
/// device_error and the caller leaves a choice, the backend is added to `failed`, and what choose() then returns
/// runs. When nothing is left, the first of these errors is thrown. run() has to leave the input as it was.
template <class Choose, class Run>
auto with_fallback(bool leaves_choice, Choose choose, Run run) {
  std::vector<passed_over> failed;
  std::exception_ptr first;
  const auto next = [&] {
    try {
      return translate_bad_alloc([&] { return choose(failed); });
    } catch (const error&) {
      if (first) std::rethrow_exception(first);
      throw;
    }
  };
  for (;;) {
    selection s = next();
    const std::string_view name = s.chosen->name();
    const auto note = [&](const error& failure) {
      if (!first) first = std::current_exception();
      failed.push_back({name, reason::failed, failure.what()});
    };
    try {
      return translate_bad_alloc([&] { return run(s); });
    } catch (const out_of_memory& failure) {
      if (!leaves_choice) throw;
      note(failure);
    } catch (const device_error& failure) {
      if (!leaves_choice) throw;
      note(failure);
    }
  }
}

}  // namespace fanin
