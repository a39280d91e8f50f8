// SPDX-License-Identifier: Apache-2.0
// The general loop gives the bits of the kernels that replace it, for every recipe.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include <fanin/fanin.hpp>
#include <fanin/recipe.hpp>

#include "backends/recipe_functions.hpp"
#include "tests/support/call.hpp"
#include "tests/support/inputs.hpp"
#include "tests/support/targets.hpp"

namespace {

using namespace fanin;
using fanin::detail::operands;

/// The state of the general loop after all elements.
void fold(const detail::arithmetic& loop, const operands& data, std::size_t count, cpu::state_buffer& state) {
  REQUIRE(loop.state_bytes <= sizeof state);
  loop.reset(state.bytes);
  loop.accumulate(data, count, state.bytes);
}

/// The value of a recipe by its general loop.
template <class Recipe>
scalar by_general_loop(const operands& data, std::size_t count) {
  using A = typename Recipe::accumulator;
  using loop_accumulator = accumulator::folds_as_t<A>;
  cpu::state_buffer state;
  fold(detail::general_arithmetic<loop_accumulator>(), data, count, state);
  return A::template finish<typename Recipe::result>(detail::general_total<loop_accumulator>(state.bytes), count);
}

/// Checks that the kernels give the bits of the general loop for x where its copy `there` lies, both at once and by
/// way of states.
template <class Recipe>
void check_shipped(const typename Recipe::element* x, const typename Recipe::element* there, std::size_t count) {
  using R = typename Recipe::result;
  constexpr element_type result = type_of<R>;
  const cpu::arithmetic& shipped =
      find_functions(Recipe::what, type_of<typename Recipe::element>, Recipe::method)->arithmetic;
  const R expected = fanin::get<R>(by_general_loop<Recipe>({x}, count));
  R by_state;
  if (shipped.reduce != nullptr) {
    R at_once;
    shipped.reduce({there}, count, result, &at_once);
    CHECK(test::same(at_once, expected));
  }
  cpu::state_buffer state;
  shipped.reset(state.bytes);
  shipped.accumulate({there}, count, state.bytes);
  shipped.finish(state.bytes, count, result, &by_state);
  CHECK(test::same(by_state, expected));
  if (!shipped.in_leaves() || count <= shipped.leaf_elements) return;
  // The two sides of the tree's root, from places that are aligned differently.
  const std::size_t left = shipped.leaf_elements * std::bit_floor((count - 1) / shipped.leaf_elements);
  cpu::state_buffer right;
  shipped.accumulate({there}, left, state.bytes);
  shipped.accumulate({x + left}, count - left, right.bytes);
  shipped.merge(state.bytes, right.bytes);
  shipped.finish(state.bytes, count, result, &by_state);
  CHECK(test::same(by_state, expected));
}

/// Numbers and factors such that both the numbers and their products add up to zero or nearly.
template <class T>
std::pair<std::vector<T>, std::vector<T>> cancelling(std::size_t count) {
  auto x = test::mixed_values<T>(count, 8);
  for (std::size_t i = 0; i < count / 2; ++i) x[count - 1 - i] = static_cast<T>(-x[i]);
  auto y = test::mixed_values<T>(count, 9);
  for (std::size_t i = 0; i < count / 2; ++i) y[count - 1 - i] = y[i];
  return {x, y};
}

using general_loop = scalar (*)(const operands& data, std::size_t count);

void check_value(operation what, method how, general_loop loop, const array_view& x) {
  const scalar shipped = test::call(find_backend("serial"), what, x, {.method = how}).value;
  CAPTURE(test::told(what, x, {.method = how}));
  CHECK(test::same(loop({x.data, x.data}, x.count), shipped));
}

/// Checks sums that cancel: their last bits show the order of the smallest rounding errors.
void check_cancelling(operation what, method how, general_loop loop, const array_view& a, const array_view& b) {
  const input_views inputs = row_of(what).inputs == 2 ? input_views(a, b) : input_views(a);
  const backend* const serial[] = {&find_backend("serial")};
  const request asked = select(serial, "serial", what, inputs, {.method = how}).what;
  CAPTURE(test::told(what, a, {.method = how}));
  CHECK(test::same(loop({a.data, b.data}, a.count), test::reduced(*serial[0], asked).value));
}

template <class T>
void check_recipe(operation what, method how, general_loop loop) {
  for (const std::size_t count : {1, 2, 31, 64, 65, 4095, 4096, 4097, 12289, 40000}) {
    if (static_cast<std::uint64_t>(count) < least_count(what)) continue;
    const auto x = what != operation::product ? test::mixed_values<T>(count, 5)
                   : complex_number<T>        ? test::near_one<T>(count, 5)
                                              : test::unit_factors<T>(count, 5);
    check_value(what, how, loop, std::span<const T>(x));
    if constexpr (!std::is_integral_v<T>) {
      const auto [a, b] = cancelling<T>(count);
      check_cancelling(what, how, loop, std::span<const T>(a), std::span<const T>(b));
    }
  }
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
          const auto loop = with_recipe(
              what, type, how, []<class Recipe>(Recipe) -> general_loop { return &by_general_loop<Recipe>; });
          if (loop == nullptr) continue;
          ++recipes;
          with_element(type, [&]<class T>() { check_recipe<T>(what, how, loop); });
        }
      }
    }
    CHECK(recipes > 60);
  }

  TEST_CASE_TEMPLATE("the array's place in memory does not change the bits", T, float, double) {
    test::on_every_target([] {
      for (const std::size_t count : {1, 3, 20, 511, 1025, 2047, 2050, 4096, 5000, 6150, 12300, 40000}) {
        const auto x = cancelling<T>(count).first;
        std::vector<T> moved(count + 40);
        for (const std::size_t place : {0, 1, 2, 3, 7, 8, 13, 15, 16, 19}) {
          std::ranges::copy(x, moved.begin() + static_cast<std::ptrdiff_t>(place));
          const T* const there = moved.data() + place;
          CAPTURE(count);
          CAPTURE(place);
          check_shipped<recipe<operation::sum, method::fast, T>>(x.data(), there, count);
          check_shipped<recipe<operation::sum, method::compensated, T>>(x.data(), there, count);
          check_shipped<recipe<operation::sum_of_squares, method::fast, T>>(x.data(), there, count);
          check_shipped<recipe<operation::max, method::fast, T>>(x.data(), there, count);
        }
      }
    });
  }

  TEST_CASE_TEMPLATE("log_sum_exp of leaves that are near, or not, on every instruction set", T, float, double) {
    using what = recipe<operation::log_sum_exp, method::fast, T>;
    constexpr T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
    test::on_every_target([] {
      for (const std::size_t count : {1, 2, 15, 16, 17, 63, 64, 65, 100, 2047, 2048, 2049, 2100, 9000}) {
        CAPTURE(count);
        for (const T other :
             {T{0}, -T{0}, T{600}, -T{600}, std::nextafter(T{600}, inf), T{-601}, T{-1e9}, inf, -inf, nan}) {
          CAPTURE(other);
          test::generator random(count);
          std::vector<T> x(count, other);
          check_shipped<what>(x.data(), x.data(), count);
          for (T& v : x) v = static_cast<T>(std::ldexp(static_cast<T>(random() >> 40), -18)) - 32;
          x[count / 2] = other;
          check_shipped<what>(x.data(), x.data(), count);
          std::vector<T> one(count, -inf);
          one[count / 2] = other;
          check_shipped<what>(one.data(), one.data(), count);
          if (other == other) CHECK(log_sum_exp(std::span<const T>(one)).value == other);
        }
      }
    });
  }

  TEST_CASE_TEMPLATE("min and max notice one element wherever it is", T, float, double) {
    constexpr T nan = std::numeric_limits<T>::quiet_NaN();
    test::on_every_target([] {
      for (const std::size_t count : {1, 5, 16, 33, 150, 300}) {
        for (std::size_t place = 0; place < count; ++place) {
          std::vector<T> x(count, T{-1});
          const auto is = [&](T one, T others, T smallest, T largest) {
            std::ranges::fill(x, others);
            x[place] = one;
            const auto view = std::span<const T>(x);
            return test::same(min(view).value, smallest) && test::same(max(view).value, largest);
          };
          CAPTURE(count);
          CAPTURE(place);
          CHECK(is(nan, 2, nan, nan));
          CHECK(is(-nan, 0, nan, nan));
          CHECK((count == 1 || is(-3, 2, -3, 2)));
          CHECK((count == 1 || is(4, 2, 2, 4)));
          CHECK((count == 1 || is(T{0}, -T{0}, -T{0}, T{0})));
          CHECK((count == 1 || is(-T{0}, T{0}, -T{0}, T{0})));
          CHECK(is(T{0}, T{0}, T{0}, T{0}));
          CHECK(is(-T{0}, -T{0}, -T{0}, -T{0}));
        }
      }
    });
  }

  TEST_CASE("positions and second inputs arrive") {
    const double x[] = {1, 2, 3}, y[] = {10, 100, 1000};
    double state = 0;
    detail::general_arithmetic<places>().accumulate({x, y, 7}, 3, &state);
    CHECK(state == 10.0 * 7 + 200.0 * 8 + 3000.0 * 9);
  }

  TEST_CASE("a partial tree gives the bits of one fold") {
    const cpu::arithmetic& sum = find_functions(operation::sum, element_type::f32, method::fast)->arithmetic;
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
