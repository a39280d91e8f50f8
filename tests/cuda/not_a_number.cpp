// SPDX-License-Identifier: Apache-2.0
// A NaN among the elements gives the canonical NaN, bit by bit, wherever extrema are finished: on the host, by the
// kernel that folds one array, by kernels of batches, and by kernels that merge chunks.
#include <fanin/accumulator/fixed_point.hpp>

#include "tests/conformance/checks.hpp"
#include "tests/cuda/device_results.hpp"

namespace fanin::test {
namespace {

constexpr operation extrema[] = {operation::min,    operation::max,    operation::minmax,
                                 operation::argmin, operation::argmax, operation::max_magnitude};

/// Another NaN than the canonical one: with a sign, and with a payload where the type has one.
template <floating T>
T other_nan() {
  using format = detail::float_format<T>;
  return detail::from_bits<T>(static_cast<typename format::bits>(format::sign | format::quiet_nan | 1));
}

/// The result of elements whose first NaN is at `place`.
template <floating T>
scalar nan_result(operation what, std::uint64_t place) {
  constexpr T nan = std::numeric_limits<T>::quiet_NaN();
  if (what == operation::minmax) return extremes<T>{nan, nan};
  if (row_of(what).form == result_form::indexed) return indexed<T>{nan, place};
  if (default_result(what, type_of<T>) == type_of<T>) return nan;
  return std::numeric_limits<computed_as<T>>::quiet_NaN();
}

template <floating T>
void expect_canonical(operation what, std::size_t count, device_context& context) {
  std::vector<T> values(count, T{1.5f});
  values[count / 2] = other_nan<T>();
  const device_array<T> x{std::span<const T>(values), 1};
  const std::vector<std::uint8_t> all(count, 1);
  const device_array<std::uint8_t> mask{std::span(all)};
  const input_views inputs = inputs_for(what, x.elements());
  const scalar expected = nan_result<T>(what, count / 2);
  INFO(told(what, x.elements(), {}));
  for (const char* name : {"cuda", "cub", "thrust"}) {
    const backend& b = find_backend(name);
    if (!b.probe().usable() || !has(b, what, type_of<T>, method::fast)) continue;
    CAPTURE(name);
    CHECK(same(call(b, what, x.elements(), {.method = method::fast}).value, expected));
  }
  CHECK(same(reduce(what, inputs, context).value, expected));
  CHECK(same(enqueued(what, inputs, {}, context), expected));
  CHECK(same(enqueued(what, inputs.where({mask.data(), 0, mask_form::bytes}), {}, context), expected));

  const std::size_t row[] = {1, count}, column[] = {count, 1};
  const int second[] = {1}, first[] = {0};
  const std::vector<std::int32_t> ends{0, static_cast<std::int32_t>(count)}, zeros(count, 0);
  const device_array<std::int32_t> offsets{std::span(ends)}, keys{std::span(zeros)};
  for (const batch& many : {rows(inputs, row, second), rows(inputs, column, first),
                            device_segments(inputs, offsets, 1), device_groups(inputs, keys, 1)}) {
    CAPTURE(static_cast<int>(many.kind));
    with_result_type(what, default_result(what, type_of<T>), [&]<class R>() {
      std::vector<R> on_host(1);
      reduce(what, many, on_host, context);
      CHECK(same(scalar(on_host[0]), expected));
      const device_results_memory<R> there(1);
      enqueue(what, many, there, context);
      wait_for(context);
      CHECK(same(scalar(there.read()[0]), expected));
    });
  }
}

TEST_SUITE("not_a_number") {
  TEST_CASE("extrema have the bits of the canonical NaN") {
    if (!device_is_here()) return;
    device_context context;
    for_each_float([&]<class T>(T) {
      for (const operation what : extrema) {
        for (const std::size_t count : {1, 5, 33, 4096, 5000, 300000}) expect_canonical<T>(what, count, context);
      }
    });
  }
}

}  // namespace
}  // namespace fanin::test
