// SPDX-License-Identifier: Apache-2.0
// States of elements as kernels leave them in device memory, for tests of what follows. Include this header after the
// CUDA extensions.
#pragma once

#include <cstring>
#include <vector>

#include <fanin/recipe.hpp>

#include "backends/cuda/recipes.hpp"

namespace fanin::test {

/// The chunks of an exact sum.
template <class T, int Power, class Sum>
void write_chunks(const Sum& sum, unsigned seen, cuda::chunk_sums<T, Power>& out) {
  typename Sum::sum_type::words words;
  sum.total().to_words(words);
  out = {};
  constexpr int count = Sum::sum_type::limb_count;
  for (int i = 0; i < count; ++i) {
    out.chunk[2 * i] = words[i] & 0xffff;
    out.chunk[2 * i + 1] = i + 1 < count ? std::int64_t{words[i] >> 16} : static_cast<std::int32_t>(words[i]) >> 16;
  }
  out.seen = seen;
}
template <class T, int Power>
void write_state(const basic_exact_accumulator<T, Power>& sum, cuda::chunk_sums<T, Power>& out) {
  const auto bytes = sum.save();
  const bool has_numbers = bytes[6] == std::byte{2};
  write_chunks(sum, std::to_integer<unsigned>(bytes[7]) | (has_numbers ? cuda::seen_bits::not_negative_zero : 0),
               out);
}
template <class T>
void write_state(const exact_dot_accumulator<T>& sum, cuda::chunk_products<T>& out) {
  std::int64_t lanes[exact_dot_accumulator<T>::lane_count];
  sum.write_lanes(lanes);
  const std::int64_t* const seen = lanes + exact_dot_accumulator<T>::sum_type::limb_count;
  write_chunks(sum, static_cast<unsigned>(seen[2] | seen[3] << 1 | seen[4] << 2 | seen[0] << 3), out);
}
template <class T>
void write_state(const exact_moments_accumulator<T>& s, cuda::chunk_moments<T>& out) {
  write_state(s.sum, out.sum);
  write_state(s.squares, out.squares);
}
template <class T>
void write_state(const accumulator::part_states<exact_accumulator<T>>& s, cuda::chunk_parts<T>& out) {
  write_state(s.re, out.re);
  write_state(s.im, out.im);
}
template <class T>
void write_state(const accumulator::part_states<exact_square_accumulator<T>>& s, cuda::chunk_part_squares<T>& out) {
  auto both = s.re;
  both.merge(s.im);
  write_state(both, out.both);
}
template <class T>
void write_state(const accumulator::dot_states<exact_dot_accumulator<T>, 1>& s, cuda::chunk_part_products<T>& out) {
  write_state(s.re[0], out.re);
  write_state(s.im[0], out.im);
}

/// The state of the elements, as the recipe's kernel leaves it.
template <class Recipe, class T = typename Recipe::element>
auto state_of(const std::vector<T>& x, std::size_t begin, std::size_t end) {
  using K = cuda::device_accumulator_of<Recipe>;
  using A = typename Recipe::accumulator;
  const auto fold = [&]<class B>(B) {
    typename B::state s = B::identity();
    for (std::size_t i = begin; i < end; ++i) {
      if constexpr (cuda::compares<Recipe>) {
        typename K::word word;
        std::memcpy(&word, &x[i], sizeof word);
        accumulator::add_at<B>(s, i, cuda::key_of_word(word, cuda::rule_of(Recipe::what, type_of<T>)));
      } else if constexpr (accumulator::inputs_of<B>() == 2) {
        B::add(s, x[i], x[x.size() - 1 - i]);
      } else {
        B::add(s, x[i]);
      }
    }
    return s;
  };
  if constexpr (cuda::compares<Recipe>) {
    return fold(K());
  } else if constexpr (Recipe::method == method::exact) {
    typename cuda::device_recipe<Recipe>::partial s;
    write_state(fold(A()), s);
    return s;
  } else {
    return fold(typename cuda::device_recipe<Recipe>::of_elements());
  }
}

/// The state of the recipe's accumulator for a state of the kernel.
template <class Recipe>
auto total_of(const typename cuda::device_recipe<Recipe>::partial& s) {
  if constexpr (cuda::compares<Recipe>) {
    return s;
  } else {
    return static_cast<typename Recipe::accumulator::state>(s);
  }
}
template <class Recipe>
using merged_by =
    std::conditional_t<cuda::compares<Recipe>, cuda::device_accumulator_of<Recipe>, typename Recipe::accumulator>;

}  // namespace fanin::test
