// SPDX-License-Identifier: Apache-2.0
// The general loop gives the bits of the kernels that replace it, for every recipe.
#include <doctest/doctest.h>

#include <bit>

#include <fanin/recipe.hpp>

#include "backends/cpu/fold.hpp"
#include "tests/support/call.hpp"
#include "tests/support/inputs.hpp"

namespace {

using namespace fanin;
using fanin::detail::operands;

template <class Recipe>
typename Recipe::result by_general_loop(const operands& data, std::size_t count) {
  using A = typename Recipe::accumulator;
  constexpr detail::arithmetic loop = detail::general_arithmetic<A>();
  cpu::state_buffer state;
  REQUIRE(loop.state_bytes <= sizeof state);
  loop.reset(state.bytes);
  loop.accumulate(data, count, state.bytes);
  return A::template finish<typename Recipe::result>(detail::general_total<A>(state.bytes), count);
}

/// Numbers and factors such that both the numbers and their products add up to zero or nearly.
template <class T>
std::pair<std::vector<T>, std::vector<T>> cancelling(std::size_t count) {
  auto x = test::mixed_values<T>(count, 8);
  for (std::size_t i = 0; i < count / 2; ++i) x[count - 1 - i] = -x[i];
  auto y = test::mixed_values<T>(count, 9);
  for (std::size_t i = 0; i < count / 2; ++i) y[count - 1 - i] = y[i];
  return {x, y};
}

/// Adds products weighted by their position.
struct places {
  using element = double;
  using state = double;
  static constexpr bool order_free = true, wants_position = true;
  static constexpr std::size_t inputs = 2;
  static state identity() { return 0; }
  static void add(state& s, element x, element y, std::uint64_t position) {
    s += x * y * static_cast<double>(position);
  }
  static void merge(state& s, const state& other) { s += other; }
};

}  // namespace

TEST_SUITE("unit/general_loop") {
  TEST_CASE("every recipe") {
    int recipes = 0;
    for (const operation what : all_operations) {
      for (const element_type type : all_element_types) {
        for (const method how : all_methods) {
          with_recipe(what, type, how, [&]<class Recipe>(Recipe) {
            using T = typename Recipe::element;
            ++recipes;
            for (const std::size_t count : {1, 2, 31, 64, 65, 4095, 4096, 4097, 12289, 40000}) {
              const auto x =
                  what == operation::product ? test::unit_factors<T>(count, 5) : test::mixed_values<T>(count, 5);
              const auto own = by_general_loop<Recipe>({x.data(), x.data()}, count);
              const scalar shipped =
                  test::call(find_backend("serial"), what, std::span<const T>(x), {.how = how}).value;
              CAPTURE(test::told(what, std::span<const T>(x), {.how = how}));
              CHECK(test::same(own, shipped));
              if constexpr (std::is_floating_point_v<T>) {
                // These sums cancel: their last bits show the order of the smallest rounding errors.
                const auto [a, b] = cancelling<T>(count);
                const bool two = row_of(what).inputs == 2;
                const input_views inputs = two ? input_views(std::span<const T>(a), std::span<const T>(b))
                                               : input_views(std::span<const T>(a));
                const backend* const serial[] = {&find_backend("serial")};
                const request asked = select(serial, "serial", what, inputs, {.how = how}).what;
                CHECK(test::same(by_general_loop<Recipe>({a.data(), b.data()}, count),
                                 test::reduced(*serial[0], asked).value));
              }
            }
            return true;
          });
        }
      }
    }
    CHECK(recipes > 60);
  }

  TEST_CASE("positions and second inputs arrive") {
    const double x[] = {1, 2, 3}, y[] = {10, 100, 1000};
    double state = 0;
    detail::general_arithmetic<places>().accumulate({x, y, 7}, 3, &state);
    CHECK(state == 10.0 * 7 + 200.0 * 8 + 3000.0 * 9);
  }

  TEST_CASE("a partial tree gives the bits of one fold") {
    const cpu::arithmetic& sum = *cpu::find_arithmetic(operation::sum, element_type::f32, method::fast);
    const auto x = test::mixed_values<float>(sum.leaf_elements * 23 + 5, 9);
    alignas(64) std::byte levels[cpu::partial_tree::most_levels * 256];
    cpu::partial_tree tree(sum, levels);
    cpu::state_buffer part, whole;
    for (std::size_t begin = 0; begin < x.size(); begin += 4 * sum.leaf_elements) {
      sum.accumulate({x.data() + begin}, std::min(4 * sum.leaf_elements, x.size() - begin), part.bytes);
      tree.push(part.bytes);
    }
    tree.finish(part.bytes);
    sum.accumulate({x.data()}, x.size(), whole.bytes);
    float of_tree = 0, of_whole = 0;
    sum.finish(part.bytes, x.size(), element_type::f32, &of_tree);
    sum.finish(whole.bytes, x.size(), element_type::f32, &of_whole);
    CHECK(std::bit_cast<std::uint32_t>(of_tree) == std::bit_cast<std::uint32_t>(of_whole));
  }
}
