// SPDX-License-Identifier: Apache-2.0
// Results whose type is known at run time only.
#include <doctest/doctest.h>

#include <limits>

#include <fanin/fanin.hpp>

namespace {

using namespace fanin;

static_assert(sizeof(scalar) == 24 && std::is_trivially_copyable_v<scalar>);
static_assert(!std::constructible_from<scalar, bool> && !std::constructible_from<scalar, const char*>);

/// Calls f(R()) for every type that a scalar can hold.
template <class F>
void for_each_alternative(F f) {
  for (const element_type type : all_element_types) {
    for (const result_form form : {result_form::number, result_form::indexed, result_form::extremes}) {
      if (is_complex(type) && form != result_form::number) continue;
      detail::with_formed(form, type, [&]<class R>() { f(R()); });
    }
  }
}

}  // namespace

TEST_SUITE("unit/scalar") {
  TEST_CASE("a scalar holds a value of each type, and of no other type") {
    int alternatives = 0;
    for_each_alternative([&]<class R>(R none) {
      const scalar held(none);
      ++alternatives;
      CHECK(held.type() == type_of<typename result_traits<R>::number>);
      CHECK(held.form() == result_traits<R>::form);
      int found = 0;
      for_each_alternative([&]<class Other>(Other) {
        if (!holds_alternative<Other>(held)) {
          CHECK_THROWS_AS(fanin::get<Other>(held), invalid_argument);
          return;
        }
        ++found;
        CHECK(std::same_as<R, Other>);
      });
      CHECK(found == 1);
      CHECK(fanin::visit([]<class Held>(const Held&) { return std::same_as<Held, R>; }, held));
      CHECK(held == scalar(none));
    });
    CHECK(alternatives == 44);
  }

  TEST_CASE("scalars are equal if they hold equal values of one type") {
    CHECK(scalar(2.5) == scalar(2.5));
    CHECK(scalar(2.5) != scalar(2.0));
    CHECK(scalar(2.5) != scalar(2.5f));
    CHECK(scalar(0.0) == scalar(-0.0));
    const scalar nan(std::numeric_limits<double>::quiet_NaN());
    CHECK(nan != nan);
    CHECK(scalar(indexed<float>{1, 3}) == scalar(indexed<float>{1, 3}));
    CHECK(scalar(indexed<float>{1, 3}) != scalar(indexed<float>{1, 4}));
    CHECK(scalar(extremes<std::int64_t>{-1, 7}) != scalar(extremes<std::int64_t>{-1, 8}));
    CHECK(scalar() == scalar(0.0f));
  }

  TEST_CASE("a visitor changes the value where it lies") {
    scalar value(extremes<double>{1, 2});
    fanin::visit(
        []<class R>(R& held) {
          if constexpr (std::same_as<R, extremes<double>>) held.max = 9;
        },
        value);
    CHECK(fanin::get<extremes<double>>(value) == extremes<double>{1, 9});
    fanin::get_if<extremes<double>>(&value)->min = -1;
    CHECK(fanin::get<extremes<double>>(value) == extremes<double>{-1, 9});
    CHECK(fanin::get_if<double>(&value) == nullptr);
  }
}
