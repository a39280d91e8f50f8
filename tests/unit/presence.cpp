// SPDX-License-Identifier: Apache-2.0
// Masks and skipped NaN as callers ask for them; conformance/presence.cpp has the values.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include <fanin/backend.hpp>
#include <fanin/fanin.hpp>
#include <fanin/fold.hpp>

#include "tests/support/own_accumulators.hpp"
#include "tests/support/strided_array.hpp"

namespace {

using namespace fanin;

constexpr double missing = std::numeric_limits<double>::quiet_NaN();
constexpr options skip_nan{.nan = nan_policy::skip};

}  // namespace

TEST_SUITE("unit/presence") {
  TEST_CASE("verbs with a mask of bool, of bytes and of bits") {
    const std::vector<double> x{4, -1, missing, 8};
    const std::array<bool, 4> mask{true, false, false, true};
    const std::vector<std::uint8_t> bytes{2, 0, 0, 255};
    const std::uint8_t bits = 0b10010;  // behind one more bit
    CHECK(sum(where(x, mask)).value == 12);
    CHECK(sum(where(x, mask)).report.absent == 2);
    CHECK(fanin::min(where(x, bytes)).value == 4);
    CHECK(mean(where(x, bit_mask{&bits, 4, 1})).value == 6);
    CHECK(argmax(where(x, mask)).value == indexed<double>{8, 3});
    CHECK(count_nonzero(where(x, mask)).value == 2);
    CHECK(sum(x).report.absent == 0);
    CHECK_THROWS_AS(where(x, std::vector<std::uint8_t>(3)), invalid_argument);
    CHECK_THROWS_AS(where(x, bit_mask{&bits, 3, 0}), invalid_argument);
  }

  TEST_CASE("NaN are skipped on request") {
    const std::vector<double> x{missing, 3, missing, -0.0, missing};
    CHECK(sum(x, skip_nan).value == 3);
    CHECK(mean(x, skip_nan).value == 1.5);
    CHECK(argmin(x, skip_nan).value == indexed<double>{-0.0, 3});
    CHECK(variance(x, skip_nan).value == 2.25);
    CHECK(sample_variance(x, skip_nan).value == 4.5);
    CHECK(sum(x, skip_nan).report.absent == 3);
    CHECK(all(std::vector<double>{missing, 1, 2}, skip_nan).value);
    CHECK(!all(std::vector<double>{missing, 0, 2}, skip_nan).value);
    CHECK(product(x, skip_nan).value == 0);
    CHECK(std::signbit(sum(std::vector<double>{missing, -0.0}, skip_nan).value));
    CHECK(!std::signbit(sum(std::vector<double>{missing, missing}, skip_nan).value));
    CHECK(sum(std::vector<int>{1, 2}, skip_nan).value == 3);
    CHECK(sum(std::vector<f16>{f16(2.0f), std::numeric_limits<f16>::quiet_NaN()}, skip_nan).value == 2);
    const std::vector<e4m3> eight{e4m3(2.0f), std::numeric_limits<e4m3>::quiet_NaN(), e4m3(448.0f)};
    CHECK(sum(eight, skip_nan).value == 450);
    CHECK(std::isnan(sum(eight).value));
    CHECK_THROWS_AS(log_sum_exp(eight, skip_nan), unsupported);
    CHECK_THROWS_AS(log_sum_exp(where(eight, std::array{true, false, true})), unsupported);
    incremental blocks(operation::log_sum_exp, element_type::e4m3);
    blocks.push(array_view(std::span(eight).last(1)));
    CHECK(fanin::get<float>(blocks.finish().value) == 448);
  }

  TEST_CASE("log_sum_exp of a type without infinity leaves out no elements, not even of none") {
    const std::vector<e4m3> none(0), one{e4m3(2.0f)};
    const array_view x{std::span(none)}, y{std::span(one)};
    const input_views masked = input_views(x).where({one.data(), 0, mask_form::bytes});
    constexpr operation what = operation::log_sum_exp;
    CHECK_THROWS_AS(log_sum_exp(none, skip_nan), unsupported);
    CHECK_THROWS_AS(reduce(what, masked), unsupported);
    CHECK_THROWS_AS(incremental(what, element_type::e4m3, skip_nan), unsupported);
    CHECK_THROWS_AS(plan(what, element_type::e4m3, skip_nan), unsupported);
    CHECK_THROWS_AS(plan(what, element_type::e4m3, skip_nan, 1, memory::host, fanin::layout::rows), unsupported);
    CHECK_THROWS_AS(plan(what, element_type::e4m3)(masked), unsupported);
    incremental blocks(what, element_type::e4m3);
    CHECK_THROWS_AS(blocks.push(masked), unsupported);
    std::vector<float> results(1);
    const std::size_t shape[] = {1, 0};
    const int along[] = {1};
    CHECK_THROWS_AS(reduce(what, rows(x, shape, along), results, skip_nan), unsupported);
    CHECK_THROWS_AS(reduce(what, rows(masked, shape, along), results), unsupported);
    for (const std::string_view backend : {"serial", "openmp", "tbb"}) {
      if (!find_backend(backend).probe().usable()) continue;
      options chosen = skip_nan;
      chosen.backend = backend;
      CHECK_THROWS_AS(incremental(what, element_type::e4m3, chosen), unsupported);
      CHECK_THROWS_AS(reduce(what, y, chosen), unsupported);
    }
    CHECK(std::isinf(fanin::get<float>(reduce(what, x).value)));
    CHECK(std::isinf(log_sum_exp(std::vector<e5m2>(), skip_nan).value));
  }

  TEST_CASE("too few elements that take part") {
    const std::vector<double> x{missing, 3, missing};
    CHECK_THROWS_AS(fanin::min(std::vector<double>(5, missing), skip_nan), invalid_argument);
    CHECK_THROWS_AS(mean(std::vector<double>(5, missing), skip_nan), invalid_argument);
    CHECK_THROWS_AS(sample_variance(x, skip_nan), invalid_argument);
    CHECK(variance(x, skip_nan).value == 0);
    CHECK(product(std::vector<double>(5, missing), skip_nan).value == 1);
    CHECK(all(std::vector<double>(5, missing), skip_nan).value);
    CHECK(!any(std::vector<double>(5, missing), skip_nan).value);
  }

  TEST_CASE("pairs of which one number is NaN, or the mask leaves out") {
    const std::vector<double> x{1, missing, 3, 4}, y{10, 20, missing, 40};
    const std::vector<std::uint8_t> mask{0, 1, 1, 1};
    for (const method how : all_methods) {
      const options skipping{.method = how, .nan = nan_policy::skip};
      CHECK(dot(x, y, skipping).value == 170);
      CHECK(dot(where(x, mask), y, skipping).value == 160);
      CHECK(dot(where(x, mask), y, skipping).report.absent == 3);
    }
    const std::vector<double> zero{-0.0, missing}, one{1, 1};
    CHECK(std::signbit(dot(zero, one, skip_nan).value) ==
          std::signbit(dot(std::vector{-0.0}, std::vector{1.0}).value));
  }

  TEST_CASE("plans and streams take a mask with each call") {
    const std::vector<float> x{5, 6, 7, 8};
    const std::uint8_t mask[] = {0, 1, 0, 1};
    const input_views masked = input_views(std::span<const float>(x)).where({mask});
    const plan planned(operation::argmin, element_type::f32);
    CHECK(fanin::get<indexed<float>>(planned(masked).value) == indexed<float>{6, 1});
    CHECK(fanin::get<indexed<float>>(planned(std::span<const float>(x)).value) == indexed<float>{5, 0});
    incremental blocks(operation::argmin, element_type::f32);
    blocks.push(masked.part(0, 1));
    blocks.push(masked.part(1, 3));
    blocks.push(std::span<const float>(x));
    const auto answer = blocks.finish();
    CHECK(fanin::get<indexed<float>>(answer.value) == indexed<float>{5, 4});
    CHECK(answer.report.absent == 2);
    incremental later(operation::argmin, element_type::f32);
    later.push(std::span<const float>(x));
    later.push(masked);
    const auto first_of_all = later.finish();
    CHECK(fanin::get<indexed<float>>(first_of_all.value) == indexed<float>{5, 0});
    CHECK(first_of_all.report.absent == 2);
  }

  TEST_CASE("long blocks, which are folded where they lie, between short ones, which are collected") {
    constexpr std::size_t count = 1'500'000, long_block = 600'000;  // long blocks have more than 2 MiB
    std::vector<float> x(count);
    std::vector<std::uint8_t> mask(count);
    for (std::size_t i = 0; i < count; ++i) {
      x[i] = i % 7 == 0 ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>((i * 37 + 5) % 1'000'003);
      mask[i] = i > 20 && i % 5 != 0;
    }
    const input_views all = input_views(std::span<const float>(x)).where({mask.data()});
    for (const char* backend : {"serial", "auto"}) {
      for (const operation what : {operation::argmin, operation::argmax, operation::minmax, operation::mean}) {
        const options chosen{.backend = backend, .method = method::exact, .nan = nan_policy::skip};
        for (const std::size_t first : {std::size_t{0}, std::size_t{3}, std::size_t{100}}) {
          incremental blocks(what, element_type::f32, chosen);
          blocks.push(all.part(0, first));
          blocks.push(all.part(first, long_block));
          blocks.push(all.part(first + long_block, 50));
          blocks.push(all.part(first + long_block + 50, long_block));
          blocks.push(all.part(first + 2 * long_block + 50, count - first - 2 * long_block - 50));
          const auto answer = blocks.finish(), whole = reduce(what, all, chosen);
          CHECK(answer.value == whole.value);
          CHECK(answer.report.absent == whole.report.absent);
        }
      }
    }
  }

  TEST_CASE("what where() takes, and refuses") {
    const double x[] = {1, 2, 3};
    const std::vector<std::uint8_t> mask{1, 0, 1};
    CHECK(sum(where(x, mask)).value == 4);
    CHECK_THROWS_AS(where(x, bit_mask{nullptr, 3, 0}), invalid_argument);
    CHECK_THROWS_AS(where(test::strided_array{x, 3, 1, 2}, mask), invalid_argument);
    CHECK(sum(where(std::vector<double>(), std::vector<std::uint8_t>())).value == 0);
  }

  TEST_CASE("who cannot leave out elements says so") {
    const std::vector<double> x{1, 2};
    const std::uint8_t mask[] = {0, 1};
    const input_views masked = input_views(std::span<const double>(x)).where({mask});
    CHECK_THROWS_AS(sum(x, {.variant = "kahan", .nan = nan_policy::skip}), unsupported);
    CHECK_THROWS_AS(reduce(operation::sum, masked, {.variant = "kahan"}), unsupported);
    CHECK_THROWS_AS(plan(operation::sum, element_type::f64, {.variant = "kahan"})(masked), unsupported);
    CHECK_THROWS_AS(fold<test::ordered_sum>(std::vector<float>{1}, skip_nan), invalid_argument);
    mask_view unknown{mask};
    unknown.form = static_cast<mask_form>(7);
    CHECK_THROWS_AS(reduce(operation::sum, masked.where(unknown)), invalid_argument);
  }
}
