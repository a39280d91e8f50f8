// SPDX-License-Identifier: Apache-2.0
// The CUDA kernels that write exact sums as lanes and read summed lanes, run on the CPU.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "tests/unit/exact_warp.hpp"
// These headers have to come after exact_warp.hpp.
#include "backends/cuda/fold/lanes.cuh"
#include "tests/support/adversary.hpp"

namespace fanin::test {
namespace {

template <class T, int Power>
using lanes_of = std::array<std::int64_t, basic_exact_accumulator<T, Power>::lane_count>;

/// States as kernels leave them in device memory.
template <class T, int Power>
class states_in_memory {
 public:
  void add(std::span<const T> x) {
    static_assert(sizeof(cuda::chunk_sums<T, Power>) <= cuda::most_state_bytes);
    static aligned<T> copy;
    std::ranges::copy(x, copy.x);
    const auto sums = warp_sum(cuda::powers<T, Power>(), std::span<const T>(copy.x, x.size()));
    memory_.resize((count_ + 1) * cuda::most_state_bytes);
    std::memcpy(memory_.data() + count_++ * cuda::most_state_bytes, &sums, sizeof sums);
  }
  cuda::lane_source from(std::size_t first, std::size_t count, std::uint64_t elements) const {
    return {memory_.data() + first * cuda::most_state_bytes, count, elements, nullptr, first > 0};
  }

 private:
  std::vector<std::byte> memory_;
  std::size_t count_ = 0;
};

template <class T, int Power>
void write_lanes(const cuda::lane_source& run, lanes_of<T, Power>& lanes) {
  launch(1, cuda::lane_threads, [&] { cuda::lanes_kernel<T, Power>(run, lanes.data()); });
}

template <class R, class T, int Power>
R value(const lanes_of<T, Power>& lanes, sum_value what) {
  device_result<R> result{R{-77}, 0};
  launch(1, 32, [&] {
    cuda::value_of_lanes_kernel<T, Power>(lanes.data(), what, {&result, detail::number_format::of<R>()});
  });
  return result.value;
}

/// Checks the values of lanes whose sum is `expected`.
template <class T, int Power, class R>
void check_values(const lanes_of<T, Power>& lanes, const basic_exact_accumulator<T, Power>& expected) {
  CHECK(bits_of(value<R, T, Power>(lanes, sum_value::total)) == bits_of(expected.template round<R>()));
  if constexpr (Power == 1) {
    constexpr R nan = std::numeric_limits<R>::quiet_NaN();
    const bool has_mean = expected.count() > 0 && expected.count() != expected.unknown_count;
    CHECK(bits_of(value<R, T, Power>(lanes, sum_value::mean)) ==
          bits_of(has_mean ? expected.template mean<R>() : nan));
  } else {
    CHECK(bits_of(value<R, T, Power>(lanes, sum_value::root)) == bits_of(expected.template root<R>()));
  }
}

/// Checks the lanes of each of two ranks, and the lanes of both ranks together. One rank has two states that are
/// written one after the other.
template <class T, int Power>
void check_lanes(const std::vector<T>& x) {
  using accumulator = basic_exact_accumulator<T, Power>;
  const std::span<const T> all(x);
  const std::size_t third = x.size() / 3;
  accumulator total;
  lanes_of<T, Power> sums{};
  for (int rank = 0; rank < 2; ++rank) {
    const auto mine = rank == 0 ? all.first(third) : all.subspan(third);
    states_in_memory<T, Power> states;
    accumulator sum;
    sum.add(mine);
    lanes_of<T, Power> lanes, expected;
    lanes.fill(-99);
    if (rank == 0) {
      if (!mine.empty()) states.add(mine);
      write_lanes<T, Power>(states.from(0, mine.empty() ? 0 : 1, mine.size()), lanes);
    } else {
      const std::size_t part = mine.size() / 4;
      for (const auto& one : {mine.first(part), mine.subspan(part, part), mine.subspan(2 * part)}) states.add(one);
      write_lanes<T, Power>(states.from(0, 1, mine.size()), lanes);
      write_lanes<T, Power>(states.from(1, 2, mine.size()), lanes);
    }
    sum.to_lanes(expected);
    CHECK(lanes == expected);
    for (std::size_t i = 0; i < lanes.size(); ++i) sums[i] += lanes[i];
    total.merge(sum);
  }
  check_values<T, Power, double>(sums, total);
  if constexpr (sizeof(T) == 4) check_values<T, Power, float>(sums, total);
}

TEST_SUITE("unit/lane_kernels") {
  TEST_CASE_TEMPLATE("adversarial data", T, float, double) {
    adversary<T> random(21);
    for (const auto& kind : adversary<T>::kinds()) {
      CAPTURE(kind.name);
      const std::vector<T> x = random.make(kind, 4 + random.below(600));
      check_lanes<T, 1>(x);
      check_lanes<T, 2>(x);
    }
  }

  TEST_CASE_TEMPLATE("no elements, and zeros of both signs", T, float, double) {
    lanes_of<T, 1> lanes;
    lanes.fill(-99);
    write_lanes<T, 1>({nullptr, 0, 0, nullptr, false}, lanes);
    CHECK(lanes == lanes_of<T, 1>{});
    check_values<T, 1, double>(lanes, {});
    check_lanes<T, 1>(std::vector<T>(9, -T{0}));
    check_lanes<T, 1>({-T{0}, -T{0}, -T{0}, -T{0}, -T{0}, T{0}, -T{0}});
    check_lanes<T, 2>(std::vector<T>(9, -T{0}));
  }

  TEST_CASE("elements that do not take part leave no trace, and a number that is not known gives no mean") {
    states_in_memory<double, 1> states;
    states.add(std::vector<double>(5, -0.0));
    cuda::presence_counts found{0, 0};
    cuda::lane_source run = states.from(0, 1, 5);
    run.present = &found;
    lanes_of<double, 1> lanes;
    write_lanes<double, 1>(run, lanes);
    CHECK(lanes == lanes_of<double, 1>{});
    found.present = 2;
    write_lanes<double, 1>(run, lanes);
    exact_accumulator<double> expected;
    for (int i = 0; i < 2; ++i) expected.add(-0.0);
    check_values<double, 1, double>(lanes, expected);

    lanes[lanes.size() - 6] = 1;  // as of a state that was saved without its number
    CHECK(std::isnan(value<double, double, 1>(lanes, sum_value::mean)));
  }

  TEST_CASE_TEMPLATE("numbers of every fifth exponent, on seven ranks", T, float, double) {
    using limits = std::numeric_limits<T>;
    generator random(22);
    for (int exponent = limits::min_exponent - limits::digits; exponent < limits::max_exponent; exponent += 5) {
      exact_accumulator<T> all;
      lanes_of<T, 1> sums{}, lanes;
      const bool has_both_signs = random() % 2 == 0;
      for (int rank = 0; rank < 7; ++rank) {
        const T x = std::ldexp(static_cast<T>(random() >> 40 | 1u << 24), exponent - 24);
        exact_accumulator<T> state;
        state.add(has_both_signs && random() % 2 == 0 ? -x : x);
        state.to_lanes(lanes);
        for (std::size_t i = 0; i < lanes.size(); ++i) sums[i] += lanes[i];
        all.merge(state);
      }
      CAPTURE(exponent);
      check_values<T, 1, double>(sums, all);
    }
  }

  TEST_CASE_TEMPLATE("the most states that lanes hold", T, float, double) {
    // 2^31 times the lanes of one state: multiplied instead of added.
    for (const T x : {std::numeric_limits<T>::max(), -std::numeric_limits<T>::denorm_min(), T(-1.25), T(3)}) {
      exact_accumulator<T> one, all;
      one.add(x);
      all.add_elements(std::uint64_t{1} << 31, [&](auto& sum) {
        const auto [mantissa, exponent] = detail::unpack<T>(detail::to_bits(std::abs(x)));
        sum.add_scaled(x < 0 ? -detail::int128{mantissa} : detail::int128{mantissa}, exponent + 31);
      });
      lanes_of<T, 1> lanes;
      one.to_lanes(lanes);
      for (std::int64_t& lane : lanes) lane *= std::int64_t{1} << 31;
      CAPTURE(x);
      check_values<T, 1, double>(lanes, all);
    }
  }
}

}  // namespace
}  // namespace fanin::test
