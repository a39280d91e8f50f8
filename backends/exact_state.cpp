// SPDX-License-Identifier: Apache-2.0
// Exact sums that are not rounded yet. Their code is not in reduce.cpp, so the compiler can inline the code of
// verbs there.
#include <fanin/state.hpp>

#include "backends/checks.hpp"
#include "backends/choice.hpp"
#include "backends/cpu/exact.hpp"
#include "backends/prepared_requests.hpp"
#include "backends/presence_rule.hpp"
#include "backends/short_sum.hpp"

namespace fanin {

report detail::exact_state(operation what, element_type type, const input_views& x, void* state, std::size_t bytes,
                           options chosen) {
  check_data(x);
  check_state(type, x.type(), chosen);
  const prepared_requests& ready = prepared_requests::all();
  if (const request* const found = find_prepared(ready, what, x, default_result(what, x.type()), chosen)) {
    request for_state = *found;
    for_state.state_bytes = bytes;
    return compute([&] { return ready.serial.reduce_inputs(for_state, x, state); });
  }
  const auto select_backend = [&](std::span<const passed_over> failed) {
    selection s = choose(what, x, chosen, failed);
    s.what.state_bytes = bytes;
    return s;
  };
  return reduce_by(select_backend, x.place(), state, chosen);
}

bool detail::short_exact_sum(const input_views& x, const options& chosen, double (&terms)[2], report& done) {
  if (x.type() != element_type::f64 || x.count() - 1 >= cpu::longest_short_sum || is_partial(x, chosen.nan)) {
    return false;
  }
  if (chosen.method.value_or(method::exact) != method::exact || chosen.result || !chosen.variant.empty() ||
      !chosen.devices.empty() || x.place() != memory::host || !chooses_serial(x, chosen)) {
    return false;
  }
  check_data(x);
  const prepared_requests& ready = prepared_requests::all();
  const request* const found = ready.find(operation::sum, element_type::f64, method::exact);
  const auto* const elements = static_cast<const double*>(x[0].data);
  if (!compute([&] { return cpu::sum_in_two(elements, x.count(), terms); })) return false;
  // Field by field: a whole report is copied by loads that wait for its narrower stores.
  done.backend = ready.serial.name();
  done.variant = found->variant;
  done.method = method::exact;
  done.reproducibility = reproducibility::exact;
  done.bound = accumulator::rounded_bound<double>();
  return true;
}

}  // namespace fanin
