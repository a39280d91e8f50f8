// SPDX-License-Identifier: Apache-2.0
// Elements as the terms that are added to the states of groups. Few loops then serve all element types.
#pragma once

#include <cstddef>
#include <cstdint>

#include <fanin/elements.hpp>

namespace fanin::cpu {

/// Terms are the elements, narrow floats as floats; or integers as doubles; or integers of 64 bits: integers; or
/// keys; or integers that are 0 for elements that are 0 or -0. Keys compare as elements do, inverted keys the other
/// way around, and both of NaN are the largest integer. Integers that become doubles are at most 2^53 in magnitude.
enum class term_kind : std::uint8_t { elements, doubles, integers, keys, inverted_keys, nonzero };

/// How a state of terms leads to a state of an accumulator of elements: it is that state, unless it has keys, which
/// an index may follow, or sums of 64 bits, which words of 64 bits of a further sum may follow.
struct term_rule {
  term_kind kind = term_kind::elements;
  std::uint8_t keys = 0, sums = 0;
  bool has_index = false;
  std::uint8_t words = 0;
};

/// Sums of 64 bits are enough for fewer elements of up to 32 bits, and for their squares if they have up to 16 bits.
inline constexpr std::size_t too_many_for_short_sums = std::size_t{1} << 31;

/// Blocks of so many elements become terms together. The terms stay in the L1 cache.
inline constexpr std::size_t term_block = 128;

/// How elements of a type, floats as their bits, become terms: integers of 64 bits with a sign, which may then become
/// doubles.
class term_form {
 public:
  term_form(term_kind kind, element_type type);
  /// Returns the terms of up to term_block elements, which are in `terms`, aligned memory for term_block integers of
  /// 64 bits, or are x itself.
  const void* terms_of(const void* x, std::size_t count, std::byte* terms) const;
  /// Returns whether a key stands for NaN.
  bool is_nan(std::int64_t key) const;
  /// Returns the bits of the element that a key stands for.
  std::int64_t bits_of(std::int64_t key) const;

  element_type type;
  bool is_narrow_float = false;
  bool copies = false;         ///< whether terms are not elements as they lie
  bool as_doubles = false;     ///< whether integers become doubles
  std::size_t bytes = 0;       ///< of an element, narrow floats as floats
  std::int64_t kept = -1;      ///< bits of the element that are not cleared
  std::int64_t reversed = 0;   ///< bits that are flipped in negative elements
  std::int64_t flipped = 0;    ///< bits that are flipped in all elements
  std::int64_t magnitude = 0;  ///< the bits without the sign of a float that becomes a key
  std::int64_t largest = 0;    ///< the largest magnitude that is no NaN
};

/// Writes the smaller of keys[i] - first and `outside` to group[i], for each i below `count`. No key is below
/// `first`. `count` is at most term_block. `group` has room for term_block numbers, of which those from `count` on
/// may be overwritten.
void find_groups(const std::uint32_t* keys, std::size_t count, std::uint64_t first, std::uint32_t outside,
                 std::uint32_t* group);
void find_groups(const std::uint64_t* keys, std::size_t count, std::uint64_t first, std::uint32_t outside,
                 std::uint32_t* group);

/// Writes the state of an accumulator of elements, narrow floats as floats, from a state with keys or short sums.
/// `state` has room for three words of 128 bits.
void write_state(const term_rule& rule, const term_form& form, const std::byte* from, std::byte* state);

}  // namespace fanin::cpu
