// SPDX-License-Identifier: Apache-2.0
// The lane_functions of an accumulator.
#pragma once

#include <algorithm>
#include <new>

#include <fanin/lanes.hpp>
#include <fanin/recipe.hpp>

#include "backends/cpu/fold.hpp"
#include "backends/recipe_functions.hpp"

namespace fanin {

inline constexpr std::size_t short_word_count = 20;

/// A number that has the short words of a sum, of which the first is of 2^lowest, and one word more. The sum of 20
/// lanes below 2^61 in magnitude does not fit into 20 words, but is below 2^670, and so fits into 21 with a sign.
template <int Lowest>
using short_number = detail::fixed_point<Lowest, Lowest + 32 * static_cast<int>(short_word_count + 1) - 64>;

/// The words in the middle of the exponent range, of sums with many words.
template <class Lanes>
constexpr lane_format format_of() {
  lane_format format{Lanes::count + 1, Lanes::how};
  if constexpr (requires { Lanes::words; }) {
    if (Lanes::words > 2 * short_word_count) {
      constexpr int middle = -Lanes::lowest_exponent / 32;
      format.words = Lanes::words;
      format.first_short_word = static_cast<std::size_t>(middle) - short_word_count / 2;
      format.short_words = short_word_count;
    }
  }
  return format;
}

template <class Recipe>
constexpr auto rounding_of_short_words() -> decltype(recipe_functions::round_short_words) {
  constexpr operation_row row = row_of(Recipe::what);
  if constexpr (row.adds != summand::none && row.value == sum_value::total) {
    using state_lanes = accumulator::lanes<typename Recipe::accumulator>;
    constexpr lane_format format = format_of<state_lanes>();
    if constexpr (format.words > 0) {
      using number = short_number<state_lanes::lowest_exponent + 32 * static_cast<int>(format.first_short_word)>;
      static_assert(number::limb_count == short_word_count + 1);
      return [](const std::int64_t* words, element_type result, void* out) {
        std::int64_t wider[number::limb_count] = {};
        std::copy_n(words, short_word_count, wider);
        with_result<Recipe>(
            result, [&]<class R>(R) { *static_cast<R*>(out) = number::read_lanes(wider).template round<R>(); });
      };
    }
  }
  return nullptr;
}

template <class A>
constexpr lane_functions lane_functions_of() {
  using state = typename A::state;
  using lanes = accumulator::lanes<A>;
  static_assert(A::order_free && sizeof(state) <= sizeof(cpu::state_buffer) && lanes::count + 1 <= most_lanes);
  return {format_of<lanes>(), sizeof(state),
          [](const void* from, std::int64_t* out) { lanes::write(*static_cast<const state*>(from), out); },
          [](const std::int64_t* in, void* to) { ::new (to) state(lanes::read(in)); }};
}

}  // namespace fanin
