// SPDX-License-Identifier: Apache-2.0
// Which elements do not take part in a reduction, and what stands for them, in bits: the same on every machine.
#pragma once

#include <cstdint>

#include <fanin/error.hpp>
#include <fanin/request.hpp>

namespace fanin {

/// The count with which a fold of `count` elements is finished. `present` of the elements take part. Zeros that
/// stand for absent elements are not counted.
constexpr std::uint64_t finished_count(stand_in absent, std::uint64_t count, std::uint64_t present) noexcept {
  return absent == stand_in::zero || present == 0 ? present : count;
}

struct presence_rule {
  presence_rule(operation what, element_type type, nan_policy nan) noexcept;

  stand_in absent;
  std::size_t element_bytes;
  std::size_t words;             ///< words in an element: 2 in a complex number, else 1
  std::uint64_t largest_number;  ///< an element is left out as NaN if the bits of a word without the sign are larger
  /// The bits that stand for the words of absent elements, unless another element stands for them. If an element
  /// has one word, its bits are there twice.
  std::uint64_t in_place[most_inputs][2];
  bool has_stand_in;

  std::size_t word_bytes() const noexcept { return element_bytes / words; }

  /// Elements may be left out only after a call of this function. @throws unsupported if the type has no infinity,
  /// and -infinity would have to stand for them
  void require_stand_in() const {
    if (!has_stand_in)
      throw unsupported(
          "log_sum_exp cannot leave out elements of a type without infinity, such as e4m3: convert them");
  }
};

/// Whether elements may be absent.
inline bool is_partial(const input_views& inputs, nan_policy nan) noexcept {
  return inputs.mask() || (nan == nan_policy::skip && !is_integer(inputs.type()));
}

}  // namespace fanin
