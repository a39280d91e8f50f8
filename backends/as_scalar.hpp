// SPDX-License-Identifier: Apache-2.0
// Results whose type is known at run time only.
#pragma once

#include <cstring>

#include <fanin/request.hpp>
#include <fanin/result.hpp>

namespace fanin {

/// Calls run(view) with memory for a result of `what` whose number has type `type`. Returns the value and the report
/// that run() returns. The report is not moved, since loads of what narrower stores have just written take long.
template <class Run>
result<scalar> as_scalar(operation what, element_type type, Run run) {
  return with_result_type(what, type, [&]<class R>() {
    return result<scalar>([&](scalar& value) {
      value = scalar(R{});
      return run(result_view(*get_if<R>(&value)));
    });
  });
}

/// The value in this memory, whose form the operation of some type has.
inline scalar scalar_at(const result_view& view) {
  return detail::with_formed(view.form, view.type, [&]<class R>() {
    R value{};
    std::memcpy(static_cast<void*>(&value), view.data, sizeof value);
    return scalar(value);
  });
}

}  // namespace fanin
