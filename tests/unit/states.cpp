// SPDX-License-Identifier: Apache-2.0
// Tests of accumulate(): the state that a backend adds an array to is the state of the elements added one by one.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <fanin/fanin.hpp>
#include <fanin/state.hpp>

namespace {

using namespace fanin;

/// Numbers over all exponents, with a NaN or infinities where they are asked for.
template <class T>
std::vector<T> numbers(std::size_t count, T special = 0) {
  std::mt19937_64 random(count);
  std::vector<T> x(count);
  for (T& one : x) {
    one = std::ldexp(static_cast<T>(static_cast<std::int64_t>(random())), static_cast<int>(random() % 200) - 163);
  }
  if (special != 0 && count > 0) x[count / 2] = special;
  return x;
}

template <class A, class X>
A one_by_one(const X& x) {
  A sum;
  for (const auto one : x) sum.add(static_cast<typename A::value_type>(one));
  return sum;
}

template <class A>
std::vector<std::int64_t> lanes_of(const A& sum) {
  std::vector<std::int64_t> lanes(A::lane_count);
  sum.to_lanes(std::span<std::int64_t, A::lane_count>(lanes));
  return lanes;
}
template <class A>
A from_lanes(const std::vector<std::int64_t>& lanes) {
  return A::from_lanes(std::span<const std::int64_t, A::lane_count>(lanes));
}

}  // namespace

TEST_SUITE_BEGIN("unit/states");

TEST_CASE_TEMPLATE("accumulate() gives the state of the elements", A, exact_accumulator<float>,
                   exact_accumulator<double>, exact_square_accumulator<float>, exact_square_accumulator<double>) {
  using T = typename A::value_type;
  constexpr T infinity = std::numeric_limits<T>::infinity();
  for (const char* const name : {"serial", "openmp", "tbb"}) {
    if (!find_backend(name).probe().usable()) continue;
    CAPTURE(name);
    const options chosen{.backend = name};
    for (const std::size_t count : {0, 1, 17, 4096, 1000003}) {
      for (const T special : {T{0}, infinity, std::numeric_limits<T>::quiet_NaN()}) {
        const auto x = numbers<T>(count, special);
        A sum;
        const report done = accumulate(sum, x, chosen);
        CHECK(done.backend == name);
        CHECK(done.method == method::exact);
        CHECK(sum.count() == count);
        CHECK(sum.save() == one_by_one<A>(x).save());
        accumulate(sum, std::vector<T>(3, T{-0.0}), chosen);
        CHECK(sum.count() == count + 3);
        A both = one_by_one<A>(x);
        both.add(std::vector<T>(3, T{-0.0}));
        CHECK(sum.save() == both.save());
      }
    }
  }
}

TEST_CASE("elements that do not take part are in no state") {
  const std::vector<double> x{1, std::nan(""), 4, 8};
  const unsigned char taken[] = {1, 1, 0, 1};
  exact_accumulator<double> sum;
  CHECK(accumulate(sum, where(x, taken), {.nan = nan_policy::skip}).absent == 2);
  CHECK(sum.count() == 2);
  CHECK(sum.round() == 9);
  CHECK(sum.mean() == 4.5);
  accumulate(sum, std::vector<double>(5, std::nan("")), {.nan = nan_policy::skip});
  CHECK(sum.count() == 2);
  CHECK(sum.round() == 9);
}

TEST_CASE("floats of 8 and 16 bits are added to the state of f32") {
  const std::vector<bf16> x{bf16(1.5f), bf16(-0x1p100f), bf16(0x1p-100f)};
  exact_accumulator<float> sum;
  accumulate(sum, x);
  CHECK(sum.count() == 3);
  CHECK(sum.save() == one_by_one<exact_accumulator<float>>(x).save());
  exact_accumulator<double> doubles;
  CHECK_THROWS_AS(accumulate(doubles, x), invalid_argument);
  CHECK_THROWS_AS(accumulate(doubles, std::vector<float>{1}), invalid_argument);
  CHECK_THROWS_AS(accumulate(sum, std::vector<float>{1}, {.method = method::fast}), invalid_argument);
  CHECK_THROWS_AS(accumulate(sum, std::vector<float>{1}, {.result = element_type::f64}), invalid_argument);
  CHECK_THROWS_AS(accumulate(sum, std::vector<float>{1}, {.backend = "serial", .variant = "kahan"}), error);
  CHECK(sum.count() == 3);
  CHECK(doubles.count() == 0);
}

TEST_CASE_TEMPLATE("lanes that are added are those of the merged state", A, exact_accumulator<float>,
                   exact_accumulator<double>, exact_square_accumulator<float>, exact_square_accumulator<double>) {
  using T = typename A::value_type;
  std::mt19937_64 random(1);
  const T extremes[] = {std::numeric_limits<T>::max(), std::numeric_limits<T>::lowest(),
                        std::numeric_limits<T>::denorm_min(), T{-0.0}, T{1}};
  A merged;
  std::vector<std::int64_t> sums(A::lane_count, 0);
  for (int rank = 0; rank < 1000; ++rank) {
    A one;
    for (int i = 0; i < rank % 7; ++i) one.add(extremes[random() % std::size(extremes)]);
    if (rank % 3 == 0) one.add(numbers<T>(rank % 11));
    merged.merge(one);
    const auto lanes = lanes_of(one);
    CHECK(from_lanes<A>(lanes).save() == one.save());
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += lanes[i];
  }
  CHECK(from_lanes<A>(sums).save() == merged.save());

  // The lanes of 2^31 states with the largest possible limbs do not overflow.
  A largest;
  largest.add(std::numeric_limits<T>::max());
  auto many = lanes_of(largest);
  for (std::int64_t& lane : many) {
    CHECK(lane >= 0);
    CHECK(lane <= std::int64_t{0xffffffff});
    lane *= std::int64_t{1} << 31;
  }
  const A all = from_lanes<A>(many);
  CHECK(all.count() == std::uint64_t{1} << 31);
  CHECK(all.mean() == (A(largest).mean()));
}

TEST_CASE("lanes keep -0, infinities, NaN and unknown numbers of elements") {
  using A = exact_accumulator<double>;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const double special : {-0.0, infinity, -infinity, std::nan("")}) {
    A sum;
    sum.add(special);
    auto lanes = lanes_of(sum);
    CHECK(from_lanes<A>(lanes).save() == sum.save());
    for (std::int64_t& lane : lanes) lane *= 5;
    for (int i = 0; i < 4; ++i) sum.add(special);
    CHECK(from_lanes<A>(lanes).save() == sum.save());
  }
  auto lanes = lanes_of(A());
  CHECK(from_lanes<A>(lanes).save() == A().save());
  lanes[A::lane_count - 6] = 1;  // one part's number is unknown
  lanes[A::lane_count - 5] = 1;  // an element was not -0
  CHECK(from_lanes<A>(lanes).count() == A::unknown_count);
  CHECK_THROWS_AS(static_cast<void>(from_lanes<A>(lanes).mean()), invalid_argument);

  const auto refused = [](std::size_t lane, std::int64_t value) {
    A sum;
    sum.add(1.0);
    auto changed = lanes_of(sum);
    changed[lane] = value;
    CHECK_THROWS_AS(static_cast<void>(from_lanes<A>(changed)), invalid_argument);
  };
  refused(A::lane_count - 8, std::int64_t{1} << 40);  // a sum beyond 2^63 numbers
  refused(A::lane_count - 8, std::int64_t{-1} << 40);
  refused(A::lane_count - 7, -1);  // a negative number of elements
  refused(A::lane_count - 5, 0);   // no numbers, but a sum
  refused(A::lane_count - 1, -1);
  refused(A::lane_count - 1, (std::int64_t{1} << 32) + 1);
}

TEST_SUITE_END();
