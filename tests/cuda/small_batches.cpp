// SPDX-License-Identifier: Apache-2.0
// Rows, columns, segments and groups of few elements, so that compute-sanitizer can watch their kernels
// (tests/cuda/sanitize.sh). Results that do not depend on an order are those of a CPU.
#include <array>
#include <numeric>

#include "tests/conformance/checks.hpp"
#include "tests/cuda/device_results.hpp"
#include "tests/support/batches.hpp"

namespace fanin::test {
namespace {

/// One operation of each kind of state.
constexpr operation kinds_of_states[] = {operation::sum,         operation::mean,    operation::norm2,
                                         operation::variance,    operation::product, operation::minmax,
                                         operation::log_sum_exp, operation::argmax,  operation::count_nonzero};

/// Elements in host memory and the same ones on the device.
template <class T>
struct both_places {
  std::vector<T> values;
  device_array<T> there;

  both_places(std::vector<T> all, std::size_t shift)
      : values(std::move(all)), there(std::span<const T>(values), shift) {}
  array_view here() const { return std::span<const T>(values); }
};

/// Checks that results that stay on the device are those that are waited for, and the CPU's if no order matters.
template <class R>
void check_both_places(operation what, const batch& there, const batch& here, const options& chosen,
                       device_context& context) {
  std::vector<R> waited(there.result_count), of_cpu(there.result_count);
  const device_results_memory<R> enqueued(there.result_count);
  const report told = reduce(what, there.if_empty(scalar(R{})), waited, context, chosen);
  enqueue(what, there.if_empty(scalar(R{})), enqueued, context, chosen);
  wait_for(context);
  CHECK(all_same(enqueued.read(), waited));
  if (told.reproducibility != reproducibility::exact) return;
  reduce(what, here.if_empty(scalar(R{})), of_cpu, {.backend = "serial", .method = told.method});
  CHECK(all_same(waited, of_cpu));
}

/// Checks a batch by an operation and each of its methods.
template <class T>
void check_methods(operation what, const batch& there, const batch& here, device_context& context) {
  for (const method how : all_methods) {
    if (!has(find_backend("cuda"), what, type_of<T>, how) || arithmetic_method(what, type_of<T>, how) != how)
      continue;
    INFO(row_of(what).name << " by " << to_string(how) << " of " << to_string(type_of<T>) << ", "
                           << there.result_count << " results of " << to_string(there.kind));
    with_result_type(what, default_result(what, type_of<T>),
                     [&]<class R>() { check_both_places<R>(what, there, here, {.method = how}, context); });
  }
}

}  // namespace

TEST_SUITE("small_batches") {
  TEST_CASE_TEMPLATE("rows and columns", T, float, double, bf16, std::int8_t, std::int64_t) {
    if (!device_is_here()) return;
    device_context context;
    const both_places<T> x(unit_factors<T>(6000, 3), 1), aligned(unit_factors<T>(6000, 4), 0);
    for (const auto& [lines, length] : {std::pair<std::size_t, std::size_t>{600, 10}, {40, 150}, {2, 3000}}) {
      const std::size_t shape[] = {lines, length};
      for (const auto* const one : {&x, &aligned}) {
        for (const int axis : {0, 1}) {
          const batch there = rows(one->there.elements(), shape, std::array{axis});
          const batch here = rows(one->here(), shape, std::array{axis});
          for (const operation what : kinds_of_states) {
            if (one == &x || what == operation::sum) check_methods<T>(what, there, here, context);
          }
        }
      }
    }
    CHECK(x.there.untouched());
  }

  TEST_CASE_TEMPLATE("rows of whole vectors off a boundary", T, float, bf16) {
    if (!device_is_here()) return;
    device_context context;
    for (const auto& [lines, length] : {std::pair<std::size_t, std::size_t>{40, 80}, {9, 264}}) {
      const both_places<T> x(unit_factors<T>(lines * length, 9), 1);
      const std::size_t shape[] = {lines, length};
      const batch there = rows(x.there.elements(), shape, std::array{1}), here = rows(x.here(), shape, std::array{1});
      for (const operation what : kinds_of_states) check_methods<T>(what, there, here, context);
      CHECK(x.there.untouched());
    }
  }

  TEST_CASE_TEMPLATE("segments", T, float, double, bf16, std::int8_t, std::int64_t) {
    if (!device_is_here()) return;
    device_context context;
    const both_places<T> x(unit_factors<T>(7000, 5), 1);
    std::vector<std::int32_t> offsets{0, 3, 3, 70, 75, 400, 5400};
    while (offsets.size() < 100) offsets.push_back(offsets.back() + 16);
    const both_places<std::int32_t> ends(offsets, 0);
    const batch there = device_segments(x.there.elements(), ends.there, offsets.size() - 1);
    const batch here = segments(x.here(), std::span<const std::int32_t>(offsets));
    for (const operation what : kinds_of_states) check_methods<T>(what, there, here, context);
    CHECK(x.there.untouched());
  }

  /// More groups than three tables have are sorted by bins, and other operations by key.
  TEST_CASE_TEMPLATE("groups", T, float, double, bf16, std::int8_t, std::int64_t) {
    if (!device_is_here()) return;
    device_context context;
    const std::size_t count = 3000;
    const both_places<T> x(unit_factors<T>(count, 6), 1);
    for (const std::size_t group_count : {7, 300, 90000}) {
      std::vector<std::int32_t> keys(count);
      for (std::size_t i = 0; i < count; ++i) keys[i] = static_cast<std::int32_t>(i * i * 31 % group_count);
      std::vector<std::uint16_t> short_keys(keys.begin(), keys.end());
      const both_places<std::int32_t> places(keys, 0);
      const both_places<std::uint16_t> short_places(short_keys, 0);
      const batch there = device_groups(x.there.elements(), places.there, group_count);
      const batch here = groups(x.here(), std::span<const std::int32_t>(keys), group_count);
      const batch by_short_keys = device_groups(x.there.elements(), short_places.there, group_count);
      for (const operation what : kinds_of_states) {
        const bool is_tried = group_count < 1000 || what == operation::sum || what == operation::argmax;
        if (is_tried) check_methods<T>(what, there, here, context);
        if (group_count == 300) check_methods<T>(what, by_short_keys, here, context);
      }
    }
    CHECK(x.there.untouched());
  }

  TEST_CASE("masks, pairs, and results that are added to") {
    if (!device_is_here()) return;
    device_context context;
    const std::size_t count = 3000, shape[] = {30, 100};
    const both_places<float> x(unit_factors<float>(count, 7), 1), y(unit_factors<float>(count, 8), 1);
    std::vector<std::uint8_t> present(count);
    std::vector<std::int32_t> keys(count);
    for (std::size_t i = 0; i < count; ++i) {
      present[i] = i % 3 != 0 ? 1 : 0;
      keys[i] = static_cast<std::int32_t>(i * i % 50);
    }
    const both_places<std::uint8_t> mask(present, 0);
    const both_places<std::int32_t> places(keys, 0);
    const auto masked = [](array_view all, const void* entries) {
      return input_views(all).where({entries, 0, mask_form::bytes});
    };
    const input_views of_device = masked(x.there.elements(), mask.there.data()),
                      of_host = masked(x.here(), present.data());
    const input_views pairs_there(array_view(x.there.elements()), array_view(y.there.elements())),
        pairs_here(x.here(), y.here());
    for (const int axis : {0, 1}) {
      const std::array along{axis};
      check_methods<float>(operation::sum, rows(of_device, shape, along), rows(of_host, shape, along), context);
      check_methods<float>(operation::dot, rows(pairs_there, shape, along), rows(pairs_here, shape, along), context);
    }
    const std::span<const std::int32_t> all_keys(keys);
    check_methods<float>(operation::sum, device_groups(of_device, places.there, 50), groups(of_host, all_keys, 50),
                         context);
    check_methods<float>(operation::dot, device_groups(pairs_there, places.there, 50),
                         groups(pairs_here, all_keys, 50), context);
    const auto check_added = [&](const batch& there, const batch& here) {
      std::vector<float> sums(there.result_count, 1);
      const device_array<float> results{std::span<const float>(sums)};
      enqueue_add_to(operation::sum, there, device_results<float>(results.data(), sums.size()), context,
                     {.method = method::exact});
      wait_for(context);
      add_to(operation::sum, here, sums, {.backend = "serial", .method = method::exact});
      std::vector<float> found(sums.size());
      cuda::check(cudaMemcpy(found.data(), results.data(), found.size() * sizeof(float), cudaMemcpyDeviceToHost),
                  "cudaMemcpy");
      CHECK(all_same(found, sums));
    };
    check_added(device_groups(x.there.elements(), places.there, 50), groups(x.here(), all_keys, 50));
    check_added(rows(x.there.elements(), shape, std::array{1}), rows(x.here(), shape, std::array{1}));
  }
}

}  // namespace fanin::test
