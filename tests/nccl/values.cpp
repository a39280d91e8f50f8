// SPDX-License-Identifier: Apache-2.0
// One value of all ranks' elements, with the bits that one process finds.
#include "tests/nccl/ranks.hpp"
#include "tests/support/adversary.hpp"
#include "tests/support/call.hpp"

namespace fanin::test {
namespace {

/// Elements of each rank.
template <class T>
using shares = std::vector<std::vector<T>>;

template <class T>
std::vector<T> joined(const shares<T>& x) {
  std::vector<T> all;
  for (const auto& one : x) all.insert(all.end(), one.begin(), one.end());
  return all;
}

/// Calls check(value) with the value of `What` on every rank, found twice by calls and once by a graph.
template <operation What, class R, class T, class Check>
void for_each_value(const shares<T>& x, Check check) {
  std::vector<R> found[3];
  for (auto& values : found) values.resize(x.size());
  ranks().run([&](const rank_here& here) {
    const device_array<T> mine(std::span<const T>(x[here.rank]), 1);
    const device_value<device_result<R>> result;
    const auto enqueue = [&] {
      nccl::enqueue_all_reduce<What>(mine.elements(), result.get(), here.context, here.comm);
    };
    const auto keep = [&](int i) {
      cuda::check(cudaStreamSynchronize(here.stream()), "cudaStreamSynchronize");
      found[i][here.rank] = result.read().value;
    };
    enqueue();
    keep(0);
    enqueue();
    keep(1);
    run_as_graph(here.stream(), enqueue);
    keep(2);
  });
  for (const auto& values : found) {
    for (const R& value : values) check(value);
  }
}

template <operation What, class R, class T>
void check_value(const shares<T>& x) {
  const std::vector<T> all = joined(x);
  const R expected = [&] {
    R value{};
    if (all.empty() && row_of(What).result == result_rule::quotient) return std::numeric_limits<R>::quiet_NaN();
    if (all.empty() && What == operation::min) return std::numeric_limits<R>::infinity();
    if (all.empty() && What == operation::max) return static_cast<R>(-std::numeric_limits<R>::infinity());
    const array_view view(all.data(), all.size(), type_of<T>);
    static_cast<void>(
        reduce(What, view, result_view(value), {.method = row_of(What).unrounded ? method::fast : method::exact}));
    return value;
  }();
  for_each_value<What, R>(x, [&](R value) { CHECK(bits_of(value) == bits_of(expected)); });
}

template <operation What, class T>
void check_position(const shares<T>& x) {
  const std::vector<T> all = joined(x);
  indexed<T> expected{std::numeric_limits<T>::infinity(), ~std::uint64_t{0}};
  if (What == operation::argmax) expected.value = static_cast<T>(-expected.value);
  if (!all.empty()) expected = What == operation::argmin ? argmin(all).value : argmax(all).value;
  for_each_value<What, indexed<T>>(x, [&](const indexed<T>& found) {
    CHECK(found.index == expected.index);
    CHECK(bits_of(found.value) == bits_of(expected.value));
  });
}

template <class T>
void check_values(const shares<T>& x) {
  using N = computed_as<T>;
  check_value<operation::sum, N>(x);
  check_value<operation::sum, double>(x);
  check_value<operation::mean, N>(x);
  check_value<operation::sum_of_squares, N>(x);
  check_value<operation::norm2, N>(x);
  check_value<operation::sum_of_magnitudes, N>(x);
  check_value<operation::min, T>(x);
  check_value<operation::max, T>(x);
  check_value<operation::max_magnitude, T>(x);
  check_value<operation::count_nonzero, std::uint64_t>(x);
  check_value<operation::any, std::uint8_t>(x);
  check_value<operation::all, std::uint8_t>(x);
  check_position<operation::argmin>(x);
  check_position<operation::argmax>(x);
}

}  // namespace

TEST_SUITE(FANIN_SUITES "values") {
  TEST_CASE_TEMPLATE("any distribution, also ranks without elements", T, float, double, bf16) {
    if (!device_is_here()) return;
    for (const std::size_t most : {0, 1, 1000, 100003}) {
      shares<T> x;
      for (std::size_t rank = 0; rank < ranks().count(); ++rank) {
        x.push_back(mixed_values<T>(rank % 2 == 1 && most == 1000 ? 0 : most * (rank + 1), rank + 1));
      }
      CAPTURE(most);
      check_values(x);
    }
  }

  TEST_CASE_TEMPLATE("adversarial data", T, float, double) {
    if (!device_is_here()) return;
    adversary<T> random(41);
    for (const auto& kind : adversary<T>::kinds()) {
      shares<T> x;
      for (std::size_t rank = 0; rank < ranks().count(); ++rank) x.push_back(random.make(kind, 5 + 300 * rank));
      CAPTURE(kind.name);
      check_value<operation::sum, T>(x);
      check_value<operation::norm2, T>(x);
      check_value<operation::min, T>(x);
      check_value<operation::max, T>(x);
    }
  }

  TEST_CASE("the position is that of the first of equal elements, on the lowest rank that has one") {
    if (!device_is_here()) return;
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const auto ranks_here = static_cast<std::ptrdiff_t>(ranks().count());
    for (const float extremum : {7.f, -7.f, nan, 0.f, -0.f}) {
      for (std::ptrdiff_t holder = 0; holder < ranks_here; ++holder) {
        shares<float> x(ranks().count(), {0.f, 0.f, 0.f});
        x[0].clear();
        for (std::ptrdiff_t rank = holder; rank < ranks_here; ++rank) {
          x[static_cast<std::size_t>(rank)] = {0.f, extremum, extremum};
        }
        check_position<operation::argmin>(x);
        check_position<operation::argmax>(x);
      }
    }
  }

  TEST_CASE("truths of zeros alone, and of none") {
    if (!device_is_here()) return;
    shares<float> x(ranks().count(), {0.f, -0.f});
    x[0].clear();
    check_value<operation::any, std::uint8_t>(x);
    check_value<operation::all, std::uint8_t>(x);
    x.back() = {0.f, 1.f};
    check_value<operation::any, std::uint8_t>(x);
    check_value<operation::count_nonzero, std::uint64_t>(x);
  }

  TEST_CASE_TEMPLATE("extrema of integers", T, std::int8_t, std::uint32_t, std::int64_t, std::uint64_t) {
    if (!device_is_here()) return;
    shares<T> x;
    for (std::size_t rank = 0; rank < ranks().count(); ++rank) {
      x.push_back(mixed_values<T>(1000, rank + 1));
      x[rank][rank] = rank % 2 == 0 ? std::numeric_limits<T>::max() : std::numeric_limits<T>::min();
    }
    check_value<operation::min, T>(x);
    check_value<operation::max, T>(x);
  }
}

}  // namespace fanin::test
