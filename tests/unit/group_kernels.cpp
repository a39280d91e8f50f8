// SPDX-License-Identifier: Apache-2.0
// The CUDA kernels that sum groups in tables, run on the CPU.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/unit/kernels/group_on_cpu.hpp"

#include "backends/cuda/batch/add_tiles.cuh"
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

  /// `rule`: how numbers are made of elements, or nothing if the elements are the numbers.
  template <class Element>
  table_call(const std::vector<Element>& x, const std::vector<Key>& keys, std::uint32_t groups,
             std::uint64_t most_spills, const element_rule& rule = {})
      : words_(group_window<T>::words * window_count * groups, 99),
        counts_(groups),
        marks_(groups),
        wide_(groups),
        spills_(most_spills),
        bins_{(groups - 1) / 2048 + 1, 1, (1u << 16) + 1},
        from_{{keys.data(), x.data(), x.size(), sizeof(Key), sizeof(Element), false, true, groups, &status}, rule} {
    std::fill_n(words_.begin(), group_window<T>::words * groups, 0);
    sums_ = {groups,         words_.data(), counts_.data(), marks_.data(),         wide_.data(),
             spills_.data(), most_spills,   &notes_,        spare_bits_of<T>(rule)};
    launch(1, tuning::window_threads, [&] { choose_window(from_, sums_, bins_); });
    begins_.resize(bins_.count + 1);
    if (bins_.count == 1) return;
    launch(1, tuning::most_bins, [&] { find_begins(from_, sums_, bins_, begins_.data()); });
    launch(blocks, tuning::table_threads, [&] { add_to_tables<T, Key>(from_, sums_, shape(run_if::in_order)); });
    launch(blocks, tuning::clear_threads, [&] { start_again(sums_); });
  }
  /// TermsKey: void if a rule makes the numbers.
  template <class TermsKey = Key>
  void add_directly(int copies_log2) {
    add_windows([&](table_shape direct) {
      if (bins_.count == 1) direct.when = run_if::always;
      direct.bin_begins = nullptr;
      direct.copies_log2 = copies_log2;
      launch(blocks * bins_.count, tuning::table_threads, [&] { add_to_tables<T, TermsKey>(from_, sums_, direct); });
    });
  }
  void add_by_bins(unsigned piece_threads) {
    const auto tiles = static_cast<unsigned>(from_.count / tile_elements<T> + 1);
    std::vector<std::uint16_t> keys(tiles * tile_elements<T>), places((bins_.count + 1) * tiles);
    std::vector<T> x(keys.size());
    std::vector<unsigned long long> totals(bins_.count);
    std::vector<std::uint64_t> starts(bins_.count * tiles + 1);
    const sorted_tiles<T> sorted{keys.data(), x.data(), places.data(), totals.data(), starts.data(), tiles};
    if (bins_.count == 1) notes_.scattered = 1;  // otherwise a single bin is never sorted
    launch(tiles, tuning::sort_threads, [&] { sort_tiles<T, Key>(from_, sums_, bins_, sorted); });
    launch(bins_.count, start_threads, [&] { find_starts(sorted, &notes_, begins_.data()); });
    add_windows([&](const table_shape& shape) {
      launch(blocks, tuning::table_threads, [&] { add_tiles(sorted, sums_, shape, piece_threads); });
    });
  }
  void add_spilled() {
    launch(blocks, 64, [&] { make_wide_sums(from_, sums_, {}, false); });
    launch(blocks, 64, [&] { add_to_wide_sums(from_, sums_); });
    launch(blocks, 64, [&] { mark_groups(from_, sums_); });
  }
  /// Makes the sums of the first window those of so many times as many positive elements.
  void multiply_sums(unsigned times) {
    for (std::size_t i = 0; i < group_window<T>::words * counts_.size(); ++i) words_[i] *= times;
  }
  template <class R = T>
  R result(std::uint32_t group, sum_value value) const {
    const auto to = detail::number_format::of<R>();
    return detail::from_bits<R>(
        static_cast<typename detail::float_format<R>::bits>(finished_group(sums_, group, value, to).bits));
  }
  /// The number of elements outside of the first window.
  unsigned long long spill_count() const { return notes_.spill_count; }
  /// Adds each group to its result.
  template <class R>
  void add_to(std::vector<R>& results) {
    batch_output out{};
    out.results = results.data();
    out.result = type_of<R>;
    out.status = &status;
    launch(blocks, 64, [&] { note_results_that_zeros_change<R>(sums_, out); });
    launch(blocks, 64, [&] { mark_groups(from_, sums_); });
    for (std::uint64_t g = 0; g < results.size(); ++g) add_group<T, R>(sums_, g, out);
  }
  batch_status status{};

 private:
  table_shape shape(run_if when) const {
    return {bins_.count, std::min(sums_.groups, bins_.groups_of_bin()), 0, begins_.data(), when, 0};
  }
  /// Calls add(shape) for each window.
  template <class F>
  void add_windows(const F& add) {
    table_shape scattered = shape(run_if::scattered), in_order = shape(run_if::in_order);
    for (int window = 0; window < window_count; ++window) {
      scattered.window = in_order.window = window;
      if (window == 1) launch(blocks, 64, [&] { clear_more_windows(sums_); });
      if (window > 0 && !sums_.has_more_windows()) break;
      if (window > 0 && bins_.count > 1)
        launch(blocks, tuning::table_threads, [&] { add_to_tables<T, Key>(from_, sums_, in_order); });
      add(scattered);
    }
  }

  std::vector<unsigned long long> words_, counts_;
  std::vector<std::uint32_t> marks_;
  std::vector<wide_sum<T>> wide_;
  std::vector<spilled<T>> spills_;
  std::vector<std::uint64_t> begins_;
  bin_map bins_;
  group_notes notes_{};
  keyed_numbers<T> from_;
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
  for (const int variant : {3, 8, 32}) {
    table_call<T, Key> call(x, keys, groups, most_spills);
    variant < 8 ? call.add_directly(variant) : call.add_by_bins(static_cast<unsigned>(variant));
    call.add_spilled();
    CHECK(call.status.absent == outside);
    bool is_right = true;
    for (std::uint32_t g = 0; g < groups; ++g) {
      const auto& one = expected[g];
      is_right = is_right && same(scalar(call.result(g, sum_value::total)), scalar(one.template round<T>()));
      if (one.count() > 0)
        is_right = is_right && same(scalar(call.result(g, sum_value::mean)), scalar(one.template mean<T>()));
    }
    INFO(groups << " groups of " << x.size() << " elements, variant " << variant);
    CHECK(is_right);
    for (const T earlier : {T(1), T(0), T(3e-38), std::numeric_limits<T>::max()})
      CHECK(adds_to<T>(call, expected, earlier));
    CHECK(adds_to<double>(call, expected, 0x1p53));
    table_call<T, Key> other(x, keys, groups, most_spills);  // without marks
    other.add_directly(3);
    other.add_spilled();
    using bits = typename detail::float_format<T>::bits;
    CHECK(adds_to<T>(other, expected, detail::from_bits<T>(detail::float_format<T>::quiet_nan | bits{5})));
    CHECK(adds_to<T>(call, expected, T(-0.0)));  // marks groups
    call.status.bad_index = 1;                   // adds nothing
    CHECK(adds_to<T>(call, std::vector<exact_accumulator<T>>(groups), T(2)));
  }
}

/// Checks values of groups of terms against an exact accumulator.
template <class T, class Element, operation What>
void check_terms(const std::vector<Element>& x) {
  using Recipe = recipe<What, method::exact, Element>;
  using A = typename Recipe::accumulator;
  using R = typename Recipe::result;
  constexpr std::uint32_t groups = 97;
  std::vector<typename A::state> expected(groups, A::identity());
  std::vector<std::uint64_t> counts(groups);
  std::vector<std::uint32_t> keys(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    keys[i] = static_cast<std::uint32_t>(i * i % (groups + 1));
    if (keys[i] < groups) A::add(expected[keys[i]], x[i]), ++counts[keys[i]];
  }
  for (const std::uint64_t most_spills : {1000, 10}) {
    table_call<T, std::uint32_t> call(x, keys, groups, most_spills, rule_of(What, type_of<Element>));
    call.template add_directly<void>(2);
    call.add_spilled();
    bool is_right = true;
    for (std::uint32_t g = 0; g < groups; ++g) {
      if (counts[g] == 0) continue;
      const R found = call.template result<R>(g, row_of(What).value);
      is_right = is_right && same(scalar(found), scalar(A::template finish<R>(expected[g], counts[g])));
    }
    INFO(row_of(What).name, " of element type ", static_cast<int>(type_of<Element>));
    CHECK(is_right);
  }
}

/// Some elements are as large, as small or as odd as elements can be if `are_wild`.
template <class Element>
std::vector<Element> elements_for_terms(bool are_wild) {
  using limits = std::numeric_limits<Element>;
  std::vector<Element> x;
  for (const float one : unit_factors<float>(3000, 4)) x.push_back(static_cast<Element>(one));
  if (!are_wild) return x;
  for (std::size_t i = 0; i < x.size(); i += 7) {
    const Element extremes[] = {limits::max(), limits::denorm_min(), limits::min(), Element(-0.0f), Element(1e-3f)};
    x[i] = extremes[i % std::size(extremes)];
  }
  x[11] = limits::infinity();
  x[200] = limits::quiet_NaN();
  return x;
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

  TEST_CASE_TEMPLATE("numbers that a rule makes of elements", E, f16, bf16, float) {
    for (const bool are_wild : {false, true}) {
      const auto x = elements_for_terms<E>(are_wild);
      check_terms<float, E, operation::sum>(x);
      check_terms<float, E, operation::mean>(x);
      check_terms<float, E, operation::sum_of_magnitudes>(x);
      check_terms<double, E, operation::sum_of_squares>(x);
      check_terms<double, E, operation::norm2>(x);
    }
    check_terms<double, double, operation::sum_of_magnitudes>(elements_for_terms<double>(true));
  }

  TEST_CASE("squares of floats of 26 binades are in the window") {
    std::vector<float> x;
    std::vector<std::uint32_t> keys;
    for (int i = 0; i < 2000; ++i) {
      x.push_back(std::ldexp(1 + static_cast<float>(i % 97) / 97, -(i % 13)));
      keys.push_back(static_cast<std::uint32_t>(i % 7));
    }
    table_call<double, std::uint32_t> call(x, keys, 7, 1000, rule_of(operation::sum_of_squares, element_type::f32));
    call.add_directly<void>(2);
    CHECK(call.spill_count() == 0);
  }

  TEST_CASE("a sum of more units of the window than 64 bits hold is added to a result") {
    constexpr unsigned times = 1 << 11;
    const std::vector<float> x(1 << 12, 1.75f);
    const std::vector<std::uint32_t> keys(x.size());
    table_call<float, std::uint32_t> call(x, keys, 1, 1000);
    call.add_directly(0);
    call.multiply_sums(times);
    exact_accumulator<float> sum;
    for (const float one : x) sum.add(one * times);
    for (const float earlier : {0.0f, 1.0f}) CHECK(adds_to<float>(call, std::vector{sum}, earlier));
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
      const T extremes[] = {limits::max(), -limits::max(), limits::denorm_min(), limits::min(), T(-0.0),
                            T(0),          T(1e-20)};
      x[i] = extremes[random() % std::size(extremes)];
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
