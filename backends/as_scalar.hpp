// SPDX-License-Identifier: Apache-2.0
// Results whose type is known at run time only.
#pragma once

#include <cstring>
#include <utility>

#include <fanin/request.hpp>
#include <fanin/result.hpp>

namespace fanin {

/// Calls run(view) with memory for a result of `what` whose number has type `type`. Returns the value and the report
/// that run() returns.
template <class Run>
result<scalar> as_scalar(operation what, element_type type, Run run) {
  return with_result_type(what, type, [&]<class R>() {
    R value{};
    report how = run(result_view(value));
    return result<scalar>{value, std::move(how)};
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
