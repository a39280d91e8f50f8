// SPDX-License-Identifier: Apache-2.0
// Results that are added to: each is the reduction of its elements and of what stood there, as one element more.
#include <algorithm>
#include <limits>

#include "oracle/truth.hpp"
#include "tests/conformance/checks.hpp"
#include "tests/support/batches.hpp"

namespace fanin::test {
namespace {

/// A batch of x, and the places of the elements of each result.
struct placed_batch {
  std::string name;
  batch many;
  std::vector<std::vector<std::size_t>> places;
};

placed_batch rows_of(const input_views& x, std::size_t rows, std::size_t columns, int axis) {
  const std::size_t shape[] = {rows, columns};
  placed_batch made{std::to_string(rows) + " by " + std::to_string(columns) + " along axis " + std::to_string(axis),
                    fanin::rows(x, shape, std::array{axis}),
                    {}};
  made.places.resize(axis == 0 ? columns : rows);
  for (std::size_t i = 0; i < rows * columns; ++i) {
    made.places[axis == 0 ? i % columns : i / columns].push_back(i);
  }
  return made;
}

placed_batch segments_of(const input_views& x, const std::vector<std::uint32_t>& offsets) {
  placed_batch made{"segments", segments(x, std::span(offsets)), {}};
  for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
    made.places.emplace_back(offsets[s + 1] - offsets[s]);
    std::iota(made.places.back().begin(), made.places.back().end(), std::size_t{offsets[s]});
  }
  return made;
}

placed_batch groups_of(const input_views& x, const std::vector<std::int32_t>& keys, std::size_t group_count) {
  placed_batch made{"groups", groups(x, std::span(keys), group_count), {}};
  made.places.resize(group_count);
  for (std::size_t i = 0; i < keys.size(); ++i) made.places[static_cast<std::size_t>(keys[i])].push_back(i);
  return made;
}

/// The value that is expected, bit by bit, if it follows from reductions of arrays. If nothing is rounded until
/// the end, it is the value of all elements. If a result is the state of its elements, it is the value of two such
/// results. Otherwise there is none.
template <class T, class R>
std::optional<scalar> expected_of(const backend& b, operation what, layout kind, const std::vector<T>& x,
                                  const std::vector<R>& all, const options& chosen) {
  if (chosen.method == method::compensated) return std::nullopt;
  options as_elements = chosen;
  as_elements.result = {};
  reduction alone = call(b, what, std::span<const T>(x), as_elements);
  const bool rounds_last = chosen.method == method::exact || alone.reproducibility == reproducibility::exact;
  if (rounds_last) return call(b, what, std::span<const R>(all), chosen).value;
  if (kind == layout::groups) {
    const std::vector<std::uint32_t> keys(x.size());
    const input_views inputs = array_view(std::span<const T>(x));
    alone.value = call_each(b, what, groups(inputs, std::span<const std::uint32_t>(keys), 1), as_elements).values[0];
  }
  const R both[] = {fanin::get<R>(alone.value), all.back()};
  return call(b, what, std::span<const R>(both), as_elements).value;
}

template <class T, class R>
void expect_added(const backend& b, operation what, const std::vector<T>& x, const placed_batch& to,
                  const options& chosen, findings& found) {
  const std::vector<R> earlier = values_for<R>(what, to.places.size(), 77);
  std::vector<R> values = earlier;
  const backend* const only[] = {&b};
  const request prepared = select(only, b.name(), what, to.many.inputs, chosen, {}, to.many.kind, true).what;
  const report told_by(b.name(), b.reduce_each(prepared, to.many, results_view(values)));
  for (std::size_t k = 0; k < values.size(); ++k) {
    std::vector<T> elements;
    std::vector<R> all;
    for (const std::size_t place : to.places[k]) {
      elements.push_back(x[place]);
      all.push_back(static_cast<R>(x[place]));
    }
    all.push_back(earlier[k]);
    const auto text = [&](const std::string& instead) {
      return told(what, std::span<const T>(x), chosen) + ", added to results of " + to.name + ", result " +
             std::to_string(k) + ": " + shown(values[k]) + " " + instead;
    };
    const std::optional<scalar> wanted =
        elements.empty() ? scalar(earlier[k]) : expected_of<T, R>(b, what, to.many.kind, elements, all, chosen);
    if (wanted) found.expect(same(values[k], *wanted), [&] { return text("instead of " + shown(*wanted)); });
    const oracle::truth exact(what, std::span<const R>(all), 1);
    found.expect(elements.empty() || exact.judge(values[k], told_by) != oracle::promise::broken,
                 [&] { return text("breaks its bound"); });
  }
}

/// Calls f for each type of result of the recipe: the type of the elements, the type of sums, and a type twice as
/// wide.
template <class T, class F>
void for_each_result(operation what, method how, F f) {
  using sum = result_of<operation::sum, T>;
  using wide = std::conditional_t<std::is_integral_v<T>, T,
                                  std::conditional_t<complex_number<T>, std::complex<double>, double>>;
  const auto try_type = [&]<class R>(R r) {
    if (is_result(what, type_of<T>, how, type_of<R>)) f(r);
  };
  try_type(T());
  if constexpr (!std::same_as<sum, T>) try_type(sum());
  if constexpr (!std::same_as<wide, T> && !std::same_as<wide, sum>) try_type(wide());
}

/// Calls f(x, result_type, options) for every type of elements and result, operation and method.
template <class F>
void for_each_addition(const backend& b, F f) {
  for (const operation what : {operation::sum, operation::product, operation::min, operation::max}) {
    for (const method how : all_methods) {
      for_each_element([&]<class T>(T) {
        if (!has(b, what, type_of<T>, how) || arithmetic_method(what, type_of<T>, how) != how) return;
        const std::vector<T> x = values_for<T>(what, 3000, 41);
        for_each_result<T>(what, how,
                           [&]<class R>(R r) { f(what, x, r, options{.method = how, .result = type_of<R>}); });
      });
    }
  }
}

/// Whether `b` reduces host memory. If not, a batch there is a finding unless it is refused.
bool adds_host_batches(const backend& b, findings& found) {
  if (b.home() == memory::host) return true;
  const std::vector<float> x(3);
  found.expect(throws<unsupported>([&] {
                 const input_views inputs = array_view(std::span<const float>(x));
                 expect_added<float, float>(b, operation::sum, x, rows_of(inputs, 1, 3, 1), {}, found);
               }),
               [] { return std::string("results to which host memory is added are not refused"); });
  return false;
}

}  // namespace

void check_additions(const backend& b, findings& found) {
  if (!adds_host_batches(b, found)) return;
  generator random(11);
  std::vector<std::uint32_t> offsets{0, 0, 1, 1, 500};
  while (offsets.size() < 20) offsets.push_back(offsets.back() + static_cast<std::uint32_t>(random() % 150));
  for_each_addition(b, [&]<class T, class R>(operation what, const std::vector<T>& x, R, const options& chosen) {
    const input_views inputs = array_view(std::span<const T>(x));
    for (const int axis : {0, 1}) {
      expect_added<T, R>(b, what, x, rows_of(inputs, 30, 100, axis), chosen, found);
      expect_added<T, R>(b, what, x, rows_of(inputs.part(0, 0), axis == 0 ? 0 : 3, axis == 0 ? 3 : 0, axis), chosen,
                         found);
    }
    expect_added<T, R>(b, what, x, segments_of(inputs, offsets), chosen, found);
  });
  // These elements are enough for threads, within results and in parts of rows.
  const std::vector<float> x = mixed_values<float>(900001, 5);
  const input_views inputs = array_view(std::span<const float>(x));
  for (const method how : all_methods) {
    const options chosen{.method = how, .threads = 3};
    expect_added<float, float>(b, operation::sum, x, rows_of(inputs, 1, 900001, 1), chosen, found);
    for (const int axis : {0, 1}) {
      expect_added<float, float>(b, operation::sum, x, rows_of(inputs.part(0, 900000), 3000, 300, axis), chosen,
                                 found);
    }
    expect_added<float, float>(b, operation::sum, x, segments_of(inputs, {0, 900000, 900001}), chosen, found);
  }
}

void check_group_additions(const backend& b, findings& found) {
  if (!adds_host_batches(b, found)) return;
  generator random(12);
  std::vector<std::int32_t> keys(3000);
  for (std::int32_t& key : keys) key = static_cast<std::int32_t>(random() % 17);
  for_each_addition(b, [&]<class T, class R>(operation what, const std::vector<T>& x, R, const options& chosen) {
    const input_views inputs = array_view(std::span<const T>(x));
    expect_added<T, R>(b, what, x, groups_of(inputs, keys, 19), chosen, found);  // two of them without elements
  });
}

}  // namespace fanin::test
