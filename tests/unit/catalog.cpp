// SPDX-License-Identifier: Apache-2.0
// The catalogue's derived tables, and values that are no enumerators.
#include <doctest/doctest.h>

#include <algorithm>

#include <fanin/fanin.hpp>
#include <fanin/recipe.hpp>
#include <fanin/state.hpp>

namespace {

using namespace fanin;

constexpr auto no_operation = static_cast<operation>(operation_count);
constexpr auto no_type = static_cast<element_type>(element_count);
constexpr auto unknown_method = static_cast<method>(std::size(method_rows));

static_assert(type_of<double> == element_type::f64);
static_assert(std::same_as<element_of_type<element_type::u32>, std::uint32_t>);
static_assert(!element<bool> && !element<char>);
static_assert(is_signed_integer(element_type::i8) && is_signed_integer(element_type::i64));
static_assert(!is_signed_integer(element_type::u32) && !is_signed_integer(element_type::f32));
static_assert(default_result(operation::sum, element_type::i32) == element_type::i64);
static_assert(default_result(operation::sum, element_type::u32) == element_type::u64);
static_assert(default_result(operation::mean, element_type::u32) == element_type::f64);
static_assert(default_result(operation::max, element_type::u32) == element_type::u32);
static_assert(is_result(operation::sum, element_type::f32, method::exact, element_type::f64));
static_assert(!is_result(operation::sum, element_type::f32, method::fast, element_type::f64));
static_assert(!is_result(operation::max, element_type::f32, method::exact, element_type::f64));
static_assert(is_result(operation::variance, element_type::bf16, method::exact, element_type::bf16));
static_assert(!is_result(operation::sum, element_type::bf16, method::fast, element_type::bf16));
static_assert(!is_result(operation::sum, element_type::bf16, method::exact, element_type::f16));
static_assert(default_method(operation::sum, element_type::f32) == method::exact);
static_assert(default_method(operation::norm2, element_type::c64) == method::exact);
static_assert(default_method(operation::min, element_type::bf16) == method::exact);
static_assert(default_method(operation::product, element_type::i8) == method::exact);
static_assert(default_method(operation::product, element_type::f64) == method::fast);
static_assert(default_method(operation::sum_of_magnitudes, element_type::c128) == method::fast);

}  // namespace

TEST_SUITE("unit/catalog") {
  TEST_CASE("every row has its arithmetic, and no other combination has any") {
    for (const operation what : all_operations) {
      for (const element_type type : all_element_types) {
        for (const method how : all_methods) {
          const bool found = with_recipe(what, type, how, [&]<class Recipe>(Recipe) {
            return Recipe::what == what && type_of<typename Recipe::element> == type &&
                   (Recipe::method == how || Recipe::accumulator::order_free);
          });
          CHECK(found == is_offered(what, type, how));
        }
      }
    }
  }

  // MPI, NCCL and add_to() rely on the rows about merging.
  TEST_CASE("results of parts merge to the result of all as their rows say") {
    using numbers = std::vector<std::int32_t>;
    const std::pair<numbers, numbers> halves[] = {{{0, 0}, {2, -3, 1}}, {{2, -3, 1}, {5, 4}}};
    for (const auto& [first, second] : halves) {
      numbers all = first;
      all.insert(all.end(), second.begin(), second.end());
      for (const operation_row& row : operation_rows) {
        if (!row.of_integers || row.form != result_form::number || row.inputs != 1) continue;
        CAPTURE(row.name);
        const auto value_of = [what = row.what](const numbers& x) {
          std::int64_t found = 0;
          fanin::visit(
              [&]<class R>(const R& value) {
                if constexpr (std::integral<R>) found = static_cast<std::int64_t>(value);
              },
              reduce(what, std::span<const std::int32_t>(x)).value);
          return found;
        };
        const std::int64_t of_first = value_of(first), of_second = value_of(second), of_all = value_of(all);
        if (row.seeks == extremity::least) CHECK(of_all == std::min(of_first, of_second));
        if (row.seeks == extremity::greatest) CHECK(of_all == std::max(of_first, of_second));
        if (row.result == result_rule::count) CHECK(of_all == of_first + of_second);
        if (row.takes_results) {
          CHECK(of_all == value_of({static_cast<std::int32_t>(of_first), static_cast<std::int32_t>(of_second)}));
        }
      }
    }
  }

  TEST_CASE("exact values follow from the state of the power and the value in the row") {
    const std::vector<double> x{0.1, 1e100, 3, -1e100, 7};
    exact_accumulator<double> sum;
    exact_square_accumulator<double> squares;
    sum.add(x);
    squares.add(x);
    const auto total = [&](const operation_row& row) {
      if (row.adds == summand::squares)
        return row.value == sum_value::root ? squares.root<double>() : squares.round<double>();
      return row.value == sum_value::mean ? sum.mean<double>() : sum.round<double>();
    };
    int checked = 0;
    for (const operation_row& row : operation_rows) {
      if (row.adds != summand::elements && row.adds != summand::squares) continue;
      CAPTURE(row.name);
      CHECK(reduce(row.what, std::span<const double>(x), {.method = method::exact}).value == scalar(total(row)));
      ++checked;
    }
    CHECK(checked == 4);
  }

  TEST_CASE("values that are no enumerators are refused by every entry") {
    const std::vector<float> x(10, 1.0f);
    const array_view view{std::span<const float>(x)};
    CHECK_THROWS_AS(reduce(no_operation, view), invalid_argument);
    CHECK_THROWS_AS(reduce(operation::sum, array_view(x.data(), 10, no_type)), invalid_argument);
    CHECK_THROWS_AS(reduce(operation::sum, array_view(x.data(), 10, element_type::f32, static_cast<memory>(2))),
                    invalid_argument);
    CHECK_THROWS_AS(reduce(operation::sum, view, {.method = unknown_method}), invalid_argument);
    CHECK_THROWS_AS(reduce(operation::sum, view, {.result = no_type}), invalid_argument);
    CHECK_THROWS_AS(reduce(operation::sum, array_view(x.data(), 10, no_type),
                           {.method = method::fast, .result = element_type::f64}),
                    invalid_argument);
    CHECK_THROWS_AS(plan(no_operation, element_type::f32), invalid_argument);
    CHECK_THROWS_AS(plan(operation::sum, no_type), invalid_argument);
    CHECK_THROWS_AS(incremental(operation::sum, no_type), invalid_argument);
    CHECK_THROWS_AS(byte_size(no_type), invalid_argument);
    for (const element_type type : all_element_types) {
      CHECK(!is_offered(operation::sum, type, unknown_method));
      CHECK(!is_result(operation::sum, type, unknown_method, type));
      CHECK(!with_recipe(operation::min, type, unknown_method, [](auto) { return true; }));
    }
  }

  TEST_CASE("memory for a result of another form is refused by every entry") {
    const std::vector<float> x(10, 1.0f);
    const array_view view{std::span<const float>(x)};
    float number = 0;
    indexed<float> place{};
    extremes<float> both{};
    CHECK_THROWS_AS(reduce(operation::argmax, view, number), invalid_argument);
    CHECK_THROWS_AS(reduce(operation::argmax, view, both), invalid_argument);
    CHECK_THROWS_AS(reduce(operation::max, view, place), invalid_argument);
    CHECK_THROWS_AS(plan(operation::minmax, element_type::f32)(view, place), invalid_argument);
    incremental stream(operation::argmin, element_type::f32);
    stream.push(view);
    CHECK_THROWS_AS(stream.finish(both), invalid_argument);
    CHECK(fanin::get<indexed<float>>(stream.finish().value) == indexed<float>{1, 0});
    static_cast<void>(reduce(operation::minmax, view, both));
    CHECK(both == extremes<float>{1, 1});
    CHECK(any(x).value);
    CHECK(argmax(std::vector<float>{0, 2, 2}).value.index == 1);
  }

  TEST_CASE("counts that no memory can have, and results without memory, are refused by every entry") {
    const double x = 1;
    const std::size_t most = std::numeric_limits<std::ptrdiff_t>::max() / sizeof x;
    for (const backend* b : backends()) {
      if (!b->probe().usable()) continue;
      for (const method how : all_methods) {
        CAPTURE(b->name());
        CHECK_THROWS_AS(reduce(operation::sum, array_view(&x, most + 1, element_type::f64),
                               {.backend = b->name(), .method = how}),
                        invalid_argument);
        CHECK_THROWS_AS(reduce(operation::sum, std::span(&x, 1), result_view(nullptr, element_type::f64),
                               {.backend = b->name(), .method = how}),
                        invalid_argument);
      }
    }
    const result_view nowhere(nullptr, element_type::f64);
    CHECK_THROWS_AS(plan(operation::sum, element_type::f64)(std::span(&x, 1), nowhere), invalid_argument);
    incremental stream(operation::sum, element_type::f64);
    CHECK_THROWS_AS(stream.push(array_view(&x, most + 1, element_type::f64)), invalid_argument);
    CHECK_THROWS_AS(stream.finish(nowhere), invalid_argument);
  }

  TEST_CASE("results go to memory of the caller") {
    const std::vector<float> x{1, 2, 3};
    double wide = 0;
    const report how = reduce(operation::sum, std::span<const float>(x), wide, {.method = method::exact});
    CHECK(wide == 6.0);
    CHECK(how.variant == "exact");
    float narrow = 0;
    CHECK_THROWS_AS(reduce(operation::sum, std::span<const float>(x), narrow, {.result = element_type::f64}),
                    invalid_argument);
    std::int32_t misfit = 0;
    CHECK_THROWS_AS(reduce(operation::sum, std::span<const float>(x), misfit), unsupported);
  }
}
