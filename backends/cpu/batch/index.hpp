// SPDX-License-Identifier: Apache-2.0
// Offsets and keys, whose type is known at run time only.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <string>

#include <fanin/error.hpp>
#include <fanin/request.hpp>

namespace fanin::cpu {

/// Writes entries first, ..., first + count - 1 of an index of 8 or 16 bits as u32. A negative entry becomes a number
/// of 2^31 or more.
inline void widen_entries(const array_view& index, std::size_t first, std::size_t count, std::uint32_t* to) {
  with_element(index.type, [&]<class T>() {
    if constexpr (std::integral<T> && sizeof(T) < sizeof *to) {
      const T* const from = static_cast<const T*>(index.data) + first;
      std::transform(from, from + count, to, [](T entry) { return static_cast<std::uint32_t>(entry); });
    }
  });
}

/// The entries of an index as u32 or u64. Entries of 8 and 16 bits are u32.
template <class Entry>
class index_entries {
 public:
  explicit index_entries(const array_view& index)
      : index_(index), is_widened_(byte_size(index.type) < sizeof(std::uint32_t)) {}

  /// Returns entries first, ..., first + count - 1, which are where they lie or in `space`.
  const Entry* at(std::size_t first, std::size_t count, Entry* space) const {
    if constexpr (sizeof(Entry) == sizeof(std::uint32_t)) {
      if (is_widened_) {
        widen_entries(index_, first, count, space);
        return space;
      }
    }
    return static_cast<const Entry*>(index_.data) + first;
  }

 private:
  array_view index_;
  bool is_widened_;
};

/// Returns f(entries, largest) with the index_entries of an index. A negative entry is a number above `largest`.
template <class F>
auto with_index(const array_view& index, const F& f) {
  const bool is_signed = is_signed_integer(index.type);
  if (byte_size(index.type) <= 4) {
    return f(index_entries<std::uint32_t>(index), std::uint64_t{~std::uint32_t{0} >> is_signed});
  }
  return f(index_entries<std::uint64_t>(index), ~std::uint64_t{0} >> is_signed);
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
