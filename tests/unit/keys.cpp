// SPDX-License-Identifier: Apache-2.0
// Comparisons by keys give the bits of the accumulators that compare numbers, for every operation and element type.
#include "backends/cuda/keys.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include "backends/cuda/recipes.hpp"
#include "tests/unit/words.hpp"

namespace fanin::test {
namespace {

template <class Recipe>
void check_recipe(generator& random) {
  using T = typename Recipe::element;
  using A = typename Recipe::accumulator;
  using K = cuda::device_accumulator_of<Recipe>;
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
        K::read_all(all, all, rule);
        for (std::size_t k = 0; k < size; ++k) CHECK(all[k] == K::read(words[i + k], rule));
        if constexpr (!accumulator::wants_position<K>()) {
          std::memcpy(all, &words[i], sizeof all);
          K::add_words(keys, all, rule);
        }
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
