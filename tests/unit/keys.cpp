// SPDX-License-Identifier: Apache-2.0
// Comparisons by keys give the bits of the accumulators that compare numbers, for every operation and element type.
#include "backends/cuda/keys.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include "backends/cuda/recipes.hpp"
#include "tests/support/adversary.hpp"

namespace fanin::test {
namespace {

/// Words that are random, or near the ends of the numbers: zeros, infinities, NaNs, the least and the largest.
template <class Word>
Word word_from(generator& random) {
  const auto any = static_cast<Word>(random());
  const Word near = static_cast<Word>((random() % 2 != 0 ? cuda::upper_bit<Word> : 0) + any % 3);
  const Word of_infinity = static_cast<Word>(~Word{0} >> (1 + random() % (4 * sizeof(Word))));
  switch (random() % 4) {
    case 0:
      return any;
    case 1:
      return near;
    case 2:
      return static_cast<Word>(near - 1);
    default:
      return static_cast<Word>((random() % 2 != 0 ? cuda::upper_bit<Word> : 0) ^ of_infinity ^ any % 2);
  }
}

template <class T>
std::string bytes_of(const T& x) {
  if constexpr (fanin::form_of<T>::form == result_form::indexed) return bytes_of(x.value) + std::to_string(x.index);
  if constexpr (fanin::form_of<T>::form == result_form::extremes) return bytes_of(x.min) + bytes_of(x.max);
  return std::string(reinterpret_cast<const char*>(&x), sizeof x);
}

template <class Recipe>
void check_recipe(generator& random) {
  using T = typename Recipe::element;
  using A = typename Recipe::accumulator;
  using K = cuda::kernel_of<Recipe>;
  using word = typename K::word;
  constexpr std::size_t size = 16 / sizeof(word);
  const cuda::element_rule rule = cuda::rule_of(Recipe::what, type_of<T>);
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{3}, size, 2 * size + 5}) {
    std::vector<word> words(count);
    for (word& one : words) one = word_from<word>(random);
    auto expected = A::identity();
    auto keys = K::identity();
    for (std::size_t i = 0; i < count; ++i) {
      T x;
      std::memcpy(&x, &words[i], sizeof x);
      accumulator::add_at<A>(expected, i, x);
      if (i % size == 0 && count - i >= size) {
        word all[size];
        std::memcpy(all, &words[i], sizeof all);
        K::read_all(all, rule);
        for (std::size_t k = 0; k < size; ++k) CHECK(all[k] == K::read(words[i + k], rule));
        if constexpr (!accumulator::wants_position<K>()) K::add_all(keys, all);
      }
      const bool is_added = !accumulator::wants_position<K>() && i / size * size + size <= count;
      if (!is_added) accumulator::add_at<K>(keys, i, K::read(words[i], rule));
    }
    INFO(row_of(Recipe::what).name, " of element type ", static_cast<int>(type_of<T>), ", ", count);
    cuda::with_value_of_keys<K>(keys, count, rule, [&](const auto& value) {
      CHECK(bytes_of(value) == bytes_of(A::template finish<typename Recipe::result>(expected, count)));
    });
    if (count == 0) continue;
    const auto state = cuda::state_of_keys<Recipe, K>(keys);
    CHECK(bytes_of(A::template finish<typename Recipe::result>(state, count)) ==
          bytes_of(A::template finish<typename Recipe::result>(expected, count)));
  }
}

}  // namespace

TEST_SUITE("unit/keys") {
  TEST_CASE("comparisons by keys have the bits of comparisons of numbers") {
    generator random(1);
    for (int turn = 0; turn < 300; ++turn) {
      for (const element_type type : all_element_types) {
        for (const operation what : all_operations) {
          with_recipe(what, type, method::fast, [&]<class Recipe>(Recipe) {
            if constexpr (cuda::compares<Recipe>) check_recipe<Recipe>(random);
            return true;
          });
        }
      }
    }
  }
}

}  // namespace fanin::test
