// SPDX-License-Identifier: Apache-2.0
// The inputs of a rank, or the error that their check threw.
#pragma once

#include <exception>

#include <fanin/batch.hpp>

namespace fanin::mpi::detail {

/// A rank whose arguments are refused takes part in the communication without elements, and throws after it.
struct inputs_of_rank {
  input_views views;
  std::exception_ptr failure = nullptr;
  void check() const {
    if (failure) std::rethrow_exception(failure);
  }
};

/// Makes the inputs of a rank from the arguments of a verb.
template <class X, class... Y>
inputs_of_rank inputs_of(const X& x, const Y&... y) {
  try {
    return {fanin::detail::views_of(x, y...)};
  } catch (...) {
    const array_view none(nullptr, 0, type_of<element_of<X>>);
    if constexpr (sizeof...(Y) == 0) {
      return {none, std::current_exception()};
    } else {
      return {{none, none}, std::current_exception()};
    }
  }
}

}  // namespace fanin::mpi::detail
