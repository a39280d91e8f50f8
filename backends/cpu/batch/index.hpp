// SPDX-License-Identifier: Apache-2.0
// Offsets and keys, whose type is known at run time only.
#pragma once

#include <concepts>

#include <fanin/error.hpp>
#include <fanin/request.hpp>

namespace fanin::cpu {

/// Returns f(pointer) with the index's data. @throws invalid_argument if it is of another type than i32, i64, u32,
/// u64
template <class F>
auto with_index(const array_view& index, const F& f) {
  using result = decltype(f(static_cast<const std::int64_t*>(nullptr)));
  return with_element(index.type, [&]<class T>() -> result {
    if constexpr (std::integral<T> && sizeof(T) >= 4) {
      return f(static_cast<const T*>(index.data));
    } else {
      throw invalid_argument("offsets and keys are i32, i64, u32 or u64");
    }
  });
}

}  // namespace fanin::cpu
