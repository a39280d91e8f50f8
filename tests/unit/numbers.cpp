// SPDX-License-Identifier: Apache-2.0
// Words that become numbers by a rule give the bits of the accumulators that add elements, for every operation that
// does not compare, every method and element type.
#include "backends/cuda/numbers.hpp"
#include "backends/cuda/word_integers.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "backends/cuda/recipes.hpp"
#include "tests/unit/words.hpp"

namespace fanin::test {
namespace {

/// The accumulator of numbers with the arithmetic of kernels: the recipe's, unless kernels have their own.
template <class Recipe>
struct form_of_elements {
  using type = accumulator::folds_as_t<typename Recipe::accumulator>;
};
template <class Recipe>
requires(cuda::device_accumulator_of<Recipe>::has_own_bound) struct form_of_elements<Recipe> {
  using type = typename cuda::device_recipe<Recipe>::of_elements;
};
template <class Recipe>
using elements_form = typename form_of_elements<Recipe>::type;
/// The accumulator of words that kernels fold for a recipe, of arrays or of batches.
template <class Recipe>
using words_form = std::conditional_t < requires {
  cuda::device_accumulator_of<Recipe>::identity();
}
, cuda::device_accumulator_of<Recipe>,
    typename cuda::shared_form<typename Recipe::element, elements_form<Recipe>>::type > ;

template <class T>
T number_from(generator& random) {
  const auto word = word_from<cuda::word_for<T>>(random);
  T x;
  std::memcpy(&x, &word, sizeof x);
  return x;
}
template <class T>
cuda::word_for<T> word_of(T x) {
  cuda::word_for<T> word;
  std::memcpy(&word, &x, sizeof x);
  return word;
}

/// How many vectors of words were added at once.
int vectors = 0;
template <class K, class Word, std::size_t N>
auto add_vector(typename K::state& s, const std::array<Word, N>& v, const cuda::element_rule& rule)
    -> decltype(K::add_words(s, std::declval<const Word (&)[N]>(), rule)) {
  Word all[N];
  std::copy(v.begin(), v.end(), all);
  K::add_words(s, all, rule);
}

/// Adds the first `count` words of a vector.
template <class K, class Word, std::size_t N>
auto add_first(typename K::state& s, const std::array<Word, N>& v, const cuda::element_rule& rule, std::size_t count)
    -> decltype(K::add_words(s, std::declval<const Word (&)[N]>(), rule, 1)) {
  Word all[N];
  std::copy(v.begin(), v.end(), all);
  K::add_words(s, all, rule, static_cast<int>(count));
}

template <class Recipe>
void check_numbers(generator& random) {
  using T = typename Recipe::element;
  using A = elements_form<Recipe>;
  using K = words_form<Recipe>;
  const cuda::element_rule rule = cuda::rule_of(Recipe::what, type_of<T>);
  for (const std::size_t count : {2, 3, 16, 40}) {
    auto expected = A::identity();
    auto found = K::identity();
    std::size_t i = 0;
    using vector = std::array<cuda::word_for<T>, 16>;
    if constexpr (requires(const vector& v) { add_vector<K>(found, v, rule); }) {
      for (; i + 16 <= count; i += 16) {
        vector all;
        for (auto& word : all) {
          const T x = number_from<T>(random);
          A::add(expected, x);
          word = word_of(x);
        }
        add_vector<K>(found, all, rule);
        ++vectors;
      }
    } else if constexpr (requires(const vector& v) { add_first<K>(found, v, rule, i); }) {
      for (; i < count; i += 16) {
        vector all;
        for (std::size_t k = 0; k < 16; ++k) {
          const T x = number_from<T>(random);
          if (i + k < count) A::add(expected, x);
          all[k] = word_of(x);
        }
        add_first<K>(found, all, rule, std::min<std::size_t>(count - i, 16));
        ++vectors;
      }
    }
    for (; i < count; ++i) {
      const T x = number_from<T>(random), y = number_from<T>(random);
      if constexpr (accumulator::inputs_of<A>() == 2) {
        A::add(expected, x, y);
        K::add(found, K::read(word_of(x), rule), K::read(word_of(y), rule));
      } else {
        A::add(expected, x);
        K::add(found, K::read(word_of(x), rule));
      }
    }
    typename Recipe::accumulator::state total;
    if constexpr (requires { cuda::device_accumulator_of<Recipe>::identity(); }) {
      total = cuda::device_recipe<Recipe>::total(found);
    } else {
      total = found;
    }
    INFO(row_of(Recipe::what).name, " of element type ", static_cast<int>(type_of<T>), ", ", count);
    using R = typename Recipe::result;
    using whole = typename Recipe::accumulator;
    const auto value = [&](const auto& state) {
      try {
        return bytes_of(whole::template finish<R>(state, count));
      } catch (const overflow&) {
        return std::string("overflow");
      }
    };
    CHECK(value(total) == value(static_cast<typename whole::state>(expected)));
  }
}

}  // namespace

TEST_SUITE("unit/numbers") {
  TEST_CASE("sums by words have the bits of sums of numbers") {
    generator random(1);
    for (int turn = 0; turn < 40; ++turn) {
      for (const element_type type : all_element_types) {
        for (const operation what : all_operations) {
          for (const method how : all_methods) {
            with_recipe(what, type, how, [&]<class Recipe>(Recipe) {
              if constexpr (!complex_number<typename Recipe::element> && !cuda::compares<Recipe>) {
                if constexpr (requires { typename words_form<Recipe>::rule; }) check_numbers<Recipe>(random);
              }
              return true;
            });
          }
        }
      }
    }
    CHECK(vectors > 0);
  }
}

}  // namespace fanin::test
