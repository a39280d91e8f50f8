// SPDX-License-Identifier: Apache-2.0
// The CUDA kernels that sum groups in tables, run on the CPU.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/unit/kernels/group_on_cpu.hpp"

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

  table_call(const std::vector<T>& x, const std::vector<Key>& keys, std::uint32_t groups, std::uint64_t most_spills)
      : words_(group_window<T>::words * window_count * groups, 99),
        counts_(groups),
        marks_(groups),
        wide_(groups),
        spills_(most_spills),
        bins_{(groups - 1) / 2048 + 1, 1, (1u << 16) + 1},
        from_{keys.data(), x.data(), x.size(), false} {
    std::fill_n(words_.begin(), group_window<T>::words * groups, 0);
    sums_ = {groups,       true,           words_.data(), counts_.data(), marks_.data(),
             wide_.data(), spills_.data(), most_spills,   &notes_,        &status};
    launch(1, tuning::window_threads, [&] { choose_window(from_, sums_, bins_); });
    begins_.resize(bins_.count + 1);
    if (bins_.count == 1) return;
    launch(1, tuning::most_bins, [&] { find_begins(from_, sums_, bins_, begins_.data()); });
    launch(blocks, tuning::table_threads, [&] { add_to_tables(from_, sums_, shape(run_if::in_order)); });
    launch(blocks, tuning::count_threads, [&] { start_again(sums_); });
  }
  void add_directly(int copies_log2) {
    table_shape direct = shape(bins_.count == 1 ? run_if::always : run_if::scattered);
    direct.bin_begins = nullptr;
    direct.copies_log2 = copies_log2;
    add_windows(from_, direct, blocks * bins_.count);
  }
  void add_by_bins() {
    std::vector<std::uint32_t> counts(bins_.count * blocks);
    std::vector<std::uint64_t> starts(bins_.count * blocks);
    std::vector<std::uint16_t> keys(from_.count);
    std::vector<T> x(from_.count);
    const bin_memory memory{counts.data(), starts.data(), begins_.data()};
    if (bins_.count == 1) notes_.scattered = 1;  // otherwise a single bin is never sorted
    launch(blocks, tuning::count_threads, [&] { count_bins(from_, sums_, bins_, counts.data()); });
    launch(bins_.count, start_threads, [&] { find_starts(memory, blocks, &notes_); });
    launch(blocks, tuning::scatter_threads, [&] {
      scatter_to_bins(from_, sums_, bins_, starts.data(), sorted_by_bins<T>{keys.data(), x.data()});
    });
    const keyed_elements<T, std::uint16_t> sorted{keys.data(), x.data(), from_.count, true};
    add_windows(sorted, shape(run_if::scattered), blocks);
  }
  void add_spilled() {
    launch(blocks, 64, [&] { make_wide_sums(from_, sums_); });
    launch(blocks, 64, [&] { add_to_wide_sums(from_, sums_); });
    launch(blocks, 64, [&] { mark_minus_zeros(from_, sums_); });
  }
  T result(std::uint32_t group, bool is_mean) const { return finished_group<T, T>(sums_, group, is_mean).value; }
  /// Adds each group to its result.
  template <class R>
  void add_to(std::vector<R>& results) {
    batch_output out{};
    out.results = results.data();
    out.status = &status;
    for (std::uint64_t g = 0; g < results.size(); ++g) add_group<T, R>(sums_, g, out);
  }
  batch_status status{};

 private:
  table_shape shape(run_if when) const {
    return {bins_.count, std::min(sums_.groups, bins_.groups_of_bin()), 0, begins_.data(), when, 0};
  }
  template <class TableKey>
  void add_windows(const keyed_elements<T, TableKey>& elements, table_shape scattered, unsigned grid) {
    table_shape in_order = shape(run_if::in_order);
    for (int window = 0; window < window_count; ++window) {
      scattered.window = in_order.window = window;
      if (window == 1) launch(blocks, 64, [&] { clear_more_windows(sums_); });
      if (window > 0 && !sums_.has_more_windows()) break;
      if (window > 0 && bins_.count > 1)
        launch(blocks, tuning::table_threads, [&] { add_to_tables(from_, sums_, in_order); });
      launch(grid, tuning::table_threads, [&] { add_to_tables(elements, sums_, scattered); });
    }
  }

  std::vector<unsigned long long> words_, counts_;
  std::vector<std::uint32_t> marks_;
  std::vector<wide_sum<T>> wide_;
  std::vector<spilled<T>> spills_;
  std::vector<std::uint64_t> begins_;
  bin_map bins_;
  group_notes notes_{};
  keyed_elements<T, Key> from_;
  group_sums<T> sums_;
};

/// Whether each group is added to `earlier` as its accumulator is, but groups without elements.
template <class R, class T, class Call>
bool adds_to(Call& call, const std::vector<exact_accumulator<T>>& sums, R earlier) {
  std::vector<R> results(sums.size(), earlier);
  call.add_to(results);
  bool is_right = true;
  for (std::size_t g = 0; g < sums.size(); ++g) {
    exact_accumulator<R> expected;
    expected.add(earlier);
    if constexpr (sizeof(R) == sizeof(T)) expected.merge(sums[g]);
    if constexpr (sizeof(R) > sizeof(T)) {
      if (!sums[g].finite()) expected.add(sums[g].template round<R>());
      if (sums[g].finite() && sums[g].count() > 0) expected.add_sum(sums[g].total());
    }
    const R wanted = sums[g].count() == 0 ? earlier : expected.round();
    is_right = is_right && same(scalar(results[g]), scalar(wanted));
  }
  return is_right;
}

/// Checks sums and means of groups against accumulators to which elements are added one by one.
template <class T, class Key>
void check_groups_of(const std::vector<T>& x, const std::vector<Key>& keys, std::uint32_t groups,
                     std::uint64_t most_spills = 1000) {
  std::vector<exact_accumulator<T>> expected(groups);
  std::uint64_t outside = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto key = static_cast<std::uint64_t>(keys[i]);
    key < groups ? expected[key].add(x[i]) : static_cast<void>(++outside);
  }
  for (const int copies : {-1, 3}) {
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
    for (const T earlier : {T(1), T(-0.0), T(3e-38)}) CHECK(adds_to<T>(call, expected, earlier));
    CHECK(adds_to<double>(call, expected, 0x1p53));
    call.status.bad_index = 1;  // adds nothing
    CHECK(adds_to<T>(call, std::vector<exact_accumulator<T>>(groups), T(2)));
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
    auto keys = keys_below<std::uint32_t>(count, 5003, random);
    check_groups_of(near, keys, 5000);
    check_groups_of(apart, keys, 5000);
    std::ranges::sort(keys);
    check_groups_of(near, keys, 5000);
    for (auto& key : keys) key = std::min(key, 4999u);
    check_groups_of(apart, keys, 5000);
    check_groups_of(near, std::vector<std::uint64_t>(count, 17), 64);
    check_groups_of(std::vector<T>{1}, std::vector<std::uint32_t>{0}, 1);
  }

  TEST_CASE("keys that do not ascend where no sample shows it") {
    std::vector<std::uint32_t> keys(20000);
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<std::uint32_t>(i / 4);
    std::swap(keys[1001], keys[15001]);
    auto x = unit_factors<float>(keys.size(), 3);
    x[500] = 1e-30f;
    check_groups_of(x, keys, 5000);
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
    for (const T one : {limits::infinity(), -limits::infinity(), limits::quiet_NaN()}) x[random() % x.size()] = one;
    const auto keys = keys_below<std::uint32_t>(x.size(), 150, random);
    for (const std::uint64_t most_spills : {1000, 20}) check_groups_of(x, keys, 150, most_spills);
    std::vector<T> zeros(700, T(-0.0));
    for (std::size_t i = 0; i < zeros.size(); i += 9) zeros[i] = 0;
    check_groups_of(zeros, keys_below<std::uint32_t>(700, 150, random), 150);
  }
}

}  // namespace fanin::test
