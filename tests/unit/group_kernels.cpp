// SPDX-License-Identifier: Apache-2.0
// The CUDA kernels that sum groups in tables, run on the CPU.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/unit/kernels/exact_on_cpu.hpp"

struct __attribute__((may_alias)) uint2 {
  unsigned x, y;
};
#define __grid_constant__
namespace {

template <class T>
T __ldcs(const T* from) {
  return *from;
}
unsigned atomicCAS(unsigned* into, unsigned expected, unsigned value) {
  std::atomic_ref(*into).compare_exchange_strong(expected, value);
  return expected;
}
template <class T>
void atomicMax(T* into, T value) {
  const std::atomic_ref most(*into);
  for (T found = most.load(); value > found && !most.compare_exchange_weak(found, value);) {
  }
}

}  // namespace

#include "backends/cuda/batch/group_bins.cuh"
#include "backends/cuda/batch/group_finish.cuh"
#include "backends/cuda/batch/group_tables.cuh"
#include "tests/support/call.hpp"
#include "tests/support/inputs.hpp"

namespace fanin::test {
namespace {

using namespace cuda;

/// A call's memory, and its kernels one after the other.
template <class T, class Key>
class table_call {
 public:
  static constexpr unsigned blocks = 2;
  static constexpr std::uint32_t in_bin = 64;

  table_call(const std::vector<T>& x, const std::vector<Key>& keys, std::uint32_t groups, std::uint64_t most_spills)
      : words_((group_window<T>::words + 1) * groups),
        marks_(groups),
        wide_(groups),
        spills_(most_spills),
        from_{keys.data(), x.data(), x.size(), false} {
    sums_ = {groups,       true,           true,        words_.data(), marks_.data(),
             wide_.data(), spills_.data(), most_spills, &notes_,       &status};
    launch(1, tuning::window_threads, [&] { choose_window(from_.x, from_.count, &notes_); });
  }
  void add_directly(int copies_log2) {
    const std::uint32_t bins = (sums_.groups - 1) / in_bin + 1;
    const table_shape shape{bins, in_bin, copies_log2, nullptr, run_if::always};
    launch(blocks * bins, tuning::table_threads, [&] { add_to_tables(from_, sums_, shape); });
  }
  void add_by_bins() {
    const std::uint32_t bins = (sums_.groups - 1) / in_bin + 1;
    std::vector<std::uint32_t> counts(bins * blocks);
    std::vector<std::uint64_t> starts(bins * blocks), begins(bins + 1);
    std::vector<std::uint16_t> keys(from_.count);
    std::vector<T> x(from_.count);
    const bin_shape shape{bins, 6, counts.data(), starts.data(), begins.data()};
    launch(blocks, tuning::bin_threads, [&] { count_bins(from_, sums_, shape); });
    launch(bins, start_threads, [&] { find_starts(shape, blocks); });
    launch(blocks, tuning::bin_threads, [&] {
      scatter_to_bins(from_, sums_, shape, sorted_by_bins<T>{keys.data(), x.data()});
    });
    table_shape tables{bins, in_bin, 0, begins.data(), run_if::in_order};
    launch(blocks, tuning::table_threads, [&] { add_to_tables(from_, sums_, tables); });
    tables.when = run_if::scattered;
    const keyed_elements<T, std::uint16_t> sorted{keys.data(), x.data(), from_.count, true};
    launch(blocks, tuning::table_threads, [&] { add_to_tables(sorted, sums_, tables); });
  }
  void add_spilled() {
    launch(blocks, 64, [&] { make_wide_sums(from_, sums_); });
    launch(blocks, 64, [&] { add_to_wide_sums(from_, sums_); });
    launch(blocks, 64, [&] { mark_minus_zeros(from_, sums_); });
  }
  T result(std::uint32_t group, bool is_mean) const { return finished_group<T, T>(sums_, group, is_mean).value; }
  batch_status status{};

 private:
  std::vector<unsigned long long> words_;
  std::vector<std::uint32_t> marks_;
  std::vector<wide_sum<T>> wide_;
  std::vector<spilled<T>> spills_;
  group_notes notes_{};
  keyed_elements<T, Key> from_;
  group_sums<T> sums_;
};

/// Checks sums and means of groups against those of accumulators to which elements are added one by one.
template <class T, class Key>
void check_groups_of(const std::vector<T>& x, const std::vector<Key>& keys, std::uint32_t groups,
                     std::uint64_t most_spills = 1000) {
  std::vector<exact_accumulator<T>> expected(groups);
  std::uint64_t outside = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto key = static_cast<std::uint64_t>(keys[i]);
    key < groups ? expected[key].add(x[i]) : static_cast<void>(++outside);
  }
  for (const int copies : {-1, 0, 3}) {
    table_call<T, Key> call(x, keys, groups, most_spills);
    copies < 0 ? call.add_by_bins() : call.add_directly(copies);
    call.add_spilled();
    CHECK(call.status.absent == outside);
    bool is_right = true;
    for (std::uint32_t g = 0; g < groups; ++g) {
      const auto& one = expected[g];
      is_right = is_right && same(scalar(call.result(g, false)), scalar(one.template round<T>()));
      if (one.count() > 0) is_right = is_right && same(scalar(call.result(g, true)), scalar(one.template mean<T>()));
    }
    INFO(groups << " groups of " << x.size() << " elements, variant " << copies);
    CHECK(is_right);
  }
}

template <class Key>
std::vector<Key> keys_below(std::size_t count, std::uint64_t end, generator& random) {
  std::vector<Key> keys(count);
  for (Key& key : keys) key = static_cast<Key>(random() % end);
  return keys;
}

}  // namespace

TEST_SUITE("unit/group_kernels") {
  TEST_CASE_TEMPLATE("sums and means in tables", T, float, double) {
    generator random(3);
    const std::size_t count = 9001;
    const auto near = unit_factors<T>(count, 4), apart = mixed_values<T>(count, 5);
    auto keys = keys_below<std::uint32_t>(count, 203, random);
    check_groups_of(near, keys, 200);
    check_groups_of(apart, keys, 200);
    std::ranges::sort(keys);
    check_groups_of(near, keys, 200);
    check_groups_of(near, std::vector<std::uint64_t>(count, 17), 64);
    check_groups_of(std::vector<T>{1}, std::vector<std::uint32_t>{0}, 1);
  }

  TEST_CASE_TEMPLATE("elements outside of the window, more than the list has room for, and zeros", T, float, double) {
    using limits = std::numeric_limits<T>;
    generator random(7);
    auto x = unit_factors<T>(3000, 4);
    for (std::size_t i = 0; i < x.size(); i += 7) {
      const T unusual[] = {limits::max(), -limits::max(), limits::denorm_min(), limits::min(), T(-0.0),
                           T(0),          T(1e-20)};
      x[i] = unusual[random() % std::size(unusual)];
    }
    const auto keys = keys_below<std::uint32_t>(x.size(), 150, random);
    check_groups_of(x, keys, 150, 1000);
    check_groups_of(x, keys, 150, 20);
    for (const T one : {limits::infinity(), -limits::infinity(), limits::quiet_NaN()}) x[random() % x.size()] = one;
    check_groups_of(x, keys, 150, 1000);
    check_groups_of(std::vector<T>(700, T(-0.0)), keys_below<std::uint32_t>(700, 150, random), 150);
    std::vector<T> zeros(700, T(-0.0));
    for (std::size_t i = 0; i < zeros.size(); i += 9) zeros[i] = 0;
    check_groups_of(zeros, keys_below<std::uint32_t>(700, 150, random), 150);
  }
}

}  // namespace fanin::test
