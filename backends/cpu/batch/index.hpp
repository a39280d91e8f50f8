// SPDX-License-Identifier: Apache-2.0
// Offsets and keys, whose type is known at run time only.
#pragma once

#include <concepts>
#include <string>

#include <fanin/error.hpp>
#include <fanin/request.hpp>

namespace fanin::cpu {

/// Returns f(pointer, largest) with the index's data as u32 or u64. A negative entry becomes a number above
/// `largest`.
template <class F>
auto with_index(const array_view& index, const F& f) {
  const bool is_signed = default_result(operation::sum, index.type) == element_type::i64;
  if (byte_size(index.type) == 4) {
    return f(static_cast<const std::uint32_t*>(index.data), std::uint64_t{~std::uint32_t{0} >> is_signed});
  }
  return f(static_cast<const std::uint64_t*>(index.data), ~std::uint64_t{0} >> is_signed);
}

/// Entry i, for messages.
inline std::string shown_entry(const array_view& index, std::size_t i) {
  return with_element(index.type, [&]<class T>() -> std::string {
    if constexpr (std::integral<T>) return std::to_string(static_cast<const T*>(index.data)[i]);
    return {};
  });
}

/// The error if `key`, which is the key of element i, is the number of no group.
inline invalid_argument key_of_no_group(std::size_t i, const std::string& key, std::size_t groups) {
  return invalid_argument("key " + std::to_string(i) + " is " + key + ", and " +
                          (groups == 0 ? "there are no groups" : "the last group is " + std::to_string(groups - 1)));
}

}  // namespace fanin::cpu
