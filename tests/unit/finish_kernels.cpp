// SPDX-License-Identifier: Apache-2.0
// Tests the kernel that ends reductions, for one type of each kind. finish_kernels_in_full.cpp has the others.
#include <doctest/doctest.h>

#include "tests/unit/finish_checks.hpp"

namespace fanin::test {
namespace {

using namespace finish_checks;

TEST_SUITE("unit/finish_kernels") {
  TEST_CASE_TEMPLATE("every recipe and type of a result", T, float, f16, std::int8_t, std::uint64_t,
                     std::complex<float>) {
    check_every_recipe<T>();
  }

  TEST_CASE_TEMPLATE("what is not finite", T, float, double, f16) {
    using limits = std::numeric_limits<T>;
    for (const T special : {limits::infinity(), limits::quiet_NaN(), limits::max(), T(-0.0f)}) {
      check_single<recipe<operation::sum, method::exact, T>>({special, special, special});
      check_single<recipe<operation::mean, method::exact, T>>({special, T(1.0f), special});
      check_single<recipe<operation::norm2, method::exact, T>>({special, T(-2.0f), special});
      check_single<recipe<operation::dot, method::exact, T>>({special, T(-2.0f), special});
      check_single<recipe<operation::variance, method::exact, T>>({special, T(-2.0f), special});
    }
  }

  TEST_CASE("results that do not fit, and results of too few elements") {
    using Recipe = recipe<operation::sum, method::fast, std::int64_t>;
    const detail::int128 states[] = {detail::int128{1} << 63, -1, detail::int128{1} << 64 | 5};
    std::uint64_t present[] = {2, 1, 2};
    std::int64_t found[3];
    cuda::batch_status status{};
    cuda::batch_elements all{};
    all.kind = layout::rows;
    all.results = 3;
    all.chunks = 1;
    cuda::batch_output out{};
    out.states = const_cast<detail::int128*>(states);
    out.present = present;
    out.results = found;
    out.result = element_type::i64;
    out.status = &status;
    cuda::finish_target target = target_of<Recipe>(element_type::i64);
    const cuda::state_source from{state_form::merged, sizeof(detail::int128), nullptr};
    run<Recipe>(all, out, from, target, 1);
    CHECK(found[0] == std::numeric_limits<std::int64_t>::min());
    CHECK(found[1] == -1);
    CHECK(found[2] == 5);
    CHECK(~status.overflowed == 0);
    status = {};
    target.end.result = out.result = element_type::u64;
    run<Recipe>(all, out, from, target, 1);
    CHECK(~status.overflowed == 1);

    target.adds = true;
    target.takes_short_ends = false;
    status = {};
    target.end.result = out.result = element_type::i64;
    found[0] = -1;
    found[1] = 10;
    found[2] = 7;
    run<Recipe>(all, out, from, target, 1);
    CHECK(found[0] == std::numeric_limits<std::int64_t>::max());
    CHECK(found[1] == 9);
    CHECK(found[2] == 7);
    CHECK(~status.overflowed == 2);
    status.bad_index = 1;
    run<Recipe>(all, out, from, target, 1);
    CHECK(found[1] == 9);
  }

  TEST_CASE("places of sorted groups, and results of no elements") {
    using Recipe = recipe<operation::argmin, method::fast, float>;
    const auto x = numbers<float>({3, -2, 1});
    const auto s = state_of<Recipe>(x, 0, 3), none = state_of<Recipe>(x, 0, 0);
    auto states = std::vector({s, none});
    std::uint64_t present[] = {3, 0};
    const std::uint32_t places[] = {40, 41, 42}, offsets[] = {0, 3};
    indexed<float> found[2];
    cuda::batch_status status{};
    cuda::batch_elements all{};
    all.kind = layout::rows;
    all.results = 2;
    all.chunks = 1;
    cuda::batch_output out{};
    out.states = states.data();
    out.present = present;
    out.results = found;
    out.result = element_type::f32;
    out.status = &status;
    out.least = 1;
    out.sorted_places = places;
    out.group_offsets = offsets;
    const cuda::state_source from{state_form::merged, sizeof s, nullptr};
    run<Recipe>(all, out, from, target_of<Recipe>(element_type::f32), 1);
    CHECK(found[0] == indexed<float>{-2, 41});
    CHECK(~status.too_few == 1);
    CHECK(found[1].index == ~std::uint64_t{0});
    status = {};
    const indexed<float> empty{-5, 77};
    std::memcpy(out.empty, &empty, sizeof empty);
    out.has_empty = true;
    run<Recipe>(all, out, from, target_of<Recipe>(element_type::f32), 1);
    CHECK(found[1] == empty);
    CHECK(status.too_few == 0);
  }
}

}  // namespace
}  // namespace fanin::test
