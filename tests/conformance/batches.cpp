// SPDX-License-Identifier: Apache-2.0
// Many results in one call: each has the bits of the reduction of its elements alone. A group whose elements are
// added one after another has the bits of this group alone.
#include <algorithm>
#include <limits>

#include "tests/conformance/checks.hpp"
#include "tests/support/batches.hpp"
#include "tests/support/masked.hpp"

namespace fanin::test {
namespace {

/// Elements in memory, and their masks where they may be absent.
template <class T>
struct source {
  std::vector<T> x;
  std::vector<std::uint8_t> mask;

  input_views inputs(operation what) const {
    const input_views all = inputs_for(what, std::span<const T>(x));
    return mask.empty() ? all : all.where({mask.data(), 0, mask_form::bytes});
  }
};

/// The places of the elements of each result, in `source::x`, and of their entries in the mask.
struct expected_places {
  std::vector<std::vector<std::size_t>> of_element, of_mask;
  bool is_group = false;  ///< indices are those of the input
};

/// The reduction of the elements at some places alone, or no value if too few take part.
template <class T>
std::optional<scalar> reduced_alone(const backend& b, operation what, const source<T>& from,
                                    const expected_places& places, std::size_t result, const options& chosen,
                                    std::uint64_t& absent) {
  std::vector<T> x;
  std::vector<std::uint8_t> mask;
  std::uint64_t present = 0;
  x.reserve(places.of_element[result].size());
  for (std::size_t k = 0; k < places.of_element[result].size(); ++k) {
    x.push_back(from.x[places.of_element[result][k]]);
    if (!from.mask.empty()) mask.push_back(from.mask[places.of_mask[result][k]]);
    present += (mask.empty() || mask.back() != 0) && (chosen.nan == nan_policy::propagate || x.back() == x.back());
  }
  absent += x.size() - present;
  if (present < least_count(what)) return std::nullopt;
  input_views inputs = inputs_for(what, std::span<const T>(x));
  if (!from.mask.empty()) inputs = inputs.where({mask.data(), 0, mask_form::bytes});
  const backend* const only[] = {&b};
  scalar value = reduced(b, select(only, b.name(), what, inputs, chosen).what).value;
  if (!places.is_group) return value;
  if (row_of(what).form != result_form::indexed) {
    const std::vector<std::uint32_t> keys(x.size());
    const batch_reduction group = call_each(b, what, groups(inputs, std::span<const std::uint32_t>(keys), 1), chosen);
    if (group.reproducibility == reproducibility::fixed_order) value = group.values[0];
  }
  fanin::visit(
      [&]<class R>(R& v) {
        if constexpr (result_traits<R>::form == result_form::indexed) v.index = places.of_element[result][v.index];
      },
      value);
  return value;
}

/// Whether each number of a result is NaN.
bool is_nan(const scalar& value) {
  return fanin::visit(
      []<class R>(const R& v) {
        if constexpr (result_traits<R>::form == result_form::extremes) return v.min != v.min && v.max != v.max;
        if constexpr (result_traits<R>::form == result_form::number) return v != v;
        return false;
      },
      value);
}

template <class T>
void expect_alone(const backend& b, operation what, const batch& many, const source<T>& from,
                  const expected_places& places, const options& chosen, const std::string& shown_batch,
                  findings& found) {
  const auto text = [&] { return told(what, std::span<const T>(from.x), chosen) + ", " + shown_batch; };
  std::vector<std::optional<scalar>> expected;
  std::uint64_t absent = 0;
  std::size_t longest = 0;
  bool has_none = false;
  for (std::size_t i = 0; i < places.of_element.size(); ++i) {
    expected.push_back(reduced_alone(b, what, from, places, i, chosen, absent));
    has_none = has_none || !expected.back();
    longest = std::max(longest, places.of_element[i].size());
  }
  const element_type number = chosen.result.value_or(default_result(what, type_of<T>));
  const bool can_be_nan = !is_integer(number) && row_of(what).form != result_form::indexed;
  if (has_none && !can_be_nan) {
    found.expect(throws<invalid_argument>([&] { call_each(b, what, many, chosen); }),
                 [&] { return text() + ": a result of too few elements is no error"; });
    return;
  }
  const batch_reduction got = call_each(b, what, many, chosen);
  found.expect(got.values.size() == expected.size() && got.absent == absent, [&] {
    return text() + ": " + std::to_string(got.absent) + " absent instead of " + std::to_string(absent);
  });
  for (std::size_t i = 0; i < expected.size(); ++i) {
    found.expect(expected[i] ? same(got.values[i], *expected[i]) : is_nan(got.values[i]), [&] {
      return text() + ", result " + std::to_string(i) + " of " + std::to_string(expected.size()) + ": " +
             shown(got.values[i]) + " instead of " + (expected[i] ? shown(*expected[i]) : "NaN");
    });
  }
}

/// Every operation and method of the element type.
template <class T, class F>
void for_each_method(const backend& b, F f) {
  for (const operation what : all_operations) {
    for (const method how : all_methods) {
      const bool same_as_fast = arithmetic_method(what, type_of<T>, how) != how;
      if (has(b, what, type_of<T>, how) && !same_as_fast) f(what, options{.method = how});
    }
  }
}

/// Operations that differ for long inputs: in their order, in the number of inputs, and in indices.
template <class T, class F>
void for_each_long_method(const backend& b, F f) {
  for_each_method<T>(b, [&](operation what, options chosen) {
    chosen.threads = 3;
    if (what == operation::sum || what == operation::dot || what == operation::argmin) f(what, chosen);
  });
}

/// The cases of absent elements: false, and also true if the operation can leave out elements of type T.
template <class T>
std::vector<bool> presences(operation what) {
  using limits = std::numeric_limits<part_of<T>>;
  const bool can_leave_out = row_of(what).absent != stand_in::minus_infinity || limits::has_infinity;
  return can_leave_out ? std::vector{false, true} : std::vector{false};
}

/// An array that is read at other distances than in C order.
struct strided_case {
  std::vector<std::size_t> shape;
  std::vector<std::ptrdiff_t> strides;
  std::vector<int> along;
};

/// A case, the places of its elements from the lowest place, so that all are in memory, and its name.
struct placed_case : strided_case {
  expected_places places;
  std::ptrdiff_t low = 0;                ///< the lowest place, from the first element
  std::size_t total = 0, in_memory = 0;  ///< elements
  std::string name = "rows of";

  explicit placed_case(strided_case of) : strided_case(std::move(of)) {
    std::vector<bool> is_reduced(shape.size());
    for (const int a : along) is_reduced[static_cast<std::size_t>(a)] = true;
    const auto elements = places_of_rows(shape, strides, is_reduced);
    std::ptrdiff_t high = 0;
    for (const auto& row : elements) {
      for (const std::ptrdiff_t place : row) {
        low = std::min(low, place);
        high = std::max(high, place);
      }
      total += row.size();
    }
    in_memory = static_cast<std::size_t>(high - low) + 1;
    for (const auto& row : elements) {
      auto& of_row = places.of_element.emplace_back();
      for (const std::ptrdiff_t place : row) of_row.push_back(static_cast<std::size_t>(place - low));
    }
    for (const auto& row : places_of_rows(shape, strides_in_order(shape), is_reduced)) {
      places.of_mask.emplace_back(row.begin(), row.end());
    }
    for (std::size_t a = 0; a < shape.size(); ++a) {
      name += " " + std::to_string(shape[a]) + (is_reduced[a] ? "*" : "") + " by " + std::to_string(strides[a]);
    }
  }
};

/// Cases, and how many elements are enough for each of them.
struct placed_cases {
  std::vector<placed_case> all;
  std::size_t in_memory = 0;

  explicit placed_cases(std::initializer_list<strided_case> cases) {
    for (const strided_case& one : cases) in_memory = std::max(in_memory, all.emplace_back(one).in_memory);
  }
};

template <class T>
void expect_rows(const backend& b, operation what, const placed_case& of, std::span<const T> values,
                 bool may_be_absent, options chosen, findings& found) {
  generator random(7);
  source<T> from{{values.begin(), values.begin() + static_cast<std::ptrdiff_t>(of.in_memory)}, {}};
  if (may_be_absent) {
    from.x = masked(std::move(from.x), 1, 4, random).x;
    for (std::size_t i = 0; i < of.total; ++i) from.mask.push_back(random() % 4 != 0);
    chosen.nan = nan_policy::skip;
  }
  input_views inputs = inputs_for(what, array_view(from.x.data() - of.low, of.total, type_of<T>));
  const std::vector<std::uint8_t> bits = bits_of_mask(from.mask, 3);
  if (may_be_absent) inputs = inputs.where({bits.data(), 3, mask_form::bits});
  expect_alone(b, what, rows(inputs, of.shape, of.along, of.strides), from, of.places, chosen, of.name, found);
}

void check_rows(const backend& b, findings& found) {
  const placed_cases cases{
      {{7}, {1}, {0}},
      {{}, {}, {}},
      {{5, 1}, {1, 1}, {1}},
      {{3, 0}, {0, 1}, {1}},
      {{0, 3}, {3, 1}, {1}},
      {{3, 0}, {0, 1}, {0}},
      {{3, 5}, {5, 1}, {1}},
      {{37, 45}, {45, 1}, {0}},
      {{3, 2100}, {2100, 1}, {1}},
      {{2100, 3}, {3, 1}, {0}},
      {{5, 4, 3}, {12, 3, 1}, {1}},
      {{5, 4, 3}, {12, 3, 1}, {0, 2}},
      {{5, 4, 3}, {12, 3, 1}, {0, 1, 2}},
      {{4, 3, 70}, {1, 280, 4}, {2}},
      {{6, 70}, {-70, -1}, {1}},
      {{6, 70}, {100, 1}, {1}},
      {{3, 4, 70}, {400, 80, 1}, {2}},
      {{40, 70}, {0, 1}, {0}},
      {{4, 5}, {1, 0}, {1}},
      {{3, 6, 5}, {0, 5, 1}, {1}},
      {{5, 6, 3}, {1, 5, -1}, {1}},
      {{33, 2, 2100}, {2, 1, 66}, {2}},
  };
  for_each_element([&]<class T>(T) {
    const std::vector<T> sums = mixed_values<T>(cases.in_memory, 31), factors = unit_factors<T>(cases.in_memory, 31);
    for_each_method<T>(b, [&](operation what, options chosen) {
      const std::span<const T> values = what == operation::product ? factors : sums;
      for (const placed_case& one : cases.all) {
        for (const bool may_be_absent : presences<T>(what))
          expect_rows<T>(b, what, one, values, may_be_absent, chosen, found);
      }
    });
  });
  // These cases are long enough for threads within rows, in parts of rows, and among rows.
  const placed_cases long_cases{
      {{2, 700001}, {700001, 1}, {1}}, {{300001, 3}, {3, 1}, {0}},   {{300, 3001}, {3001, 1}, {0}},
      {{3001, 300}, {300, 1}, {1}},    {{70, 9001}, {9001, 1}, {0}},
  };
  for_each_type<float, double>([&]<class T>(T) {
    const std::vector<T> values = mixed_values<T>(long_cases.in_memory, 31);
    for_each_long_method<T>(b, [&](operation what, const options& chosen) {
      for (const placed_case& one : long_cases.all) expect_rows<T>(b, what, one, values, false, chosen, found);
    });
  });
}

template <class T>
source<T> source_for(operation what, std::size_t elements, bool masks, generator& random) {
  std::vector<T> x = values_for<T>(what, elements, 41);
  if (!masks) return {std::move(x), {}};
  auto made = masked(std::move(x), 1, 4, random);
  return {std::move(made.x), std::move(made.mask)};
}

template <class Offset>
std::vector<Offset> random_offsets(std::size_t segments, std::size_t elements, generator& random) {
  std::vector<Offset> offsets;
  for (std::size_t i = 0; i <= segments; ++i) offsets.push_back(static_cast<Offset>(random() % (elements + 1)));
  if (segments > 3) offsets[1] = offsets[2] = offsets[3];
  std::ranges::sort(offsets);
  return offsets;
}

template <class T, class Offset>
void expect_segments(const backend& b, operation what, std::size_t segment_count, std::size_t elements, bool masks,
                     options chosen, findings& found) {
  generator random(segment_count);
  const auto from = source_for<T>(what, elements, masks, random);
  if (masks) chosen.nan = nan_policy::skip;
  const auto offsets = random_offsets<Offset>(segment_count, elements, random);
  expected_places places;
  for (std::size_t s = 0; s < segment_count; ++s) {
    places.of_element.emplace_back(static_cast<std::size_t>(offsets[s + 1] - offsets[s]));
    std::iota(places.of_element.back().begin(), places.of_element.back().end(), static_cast<std::size_t>(offsets[s]));
  }
  places.of_mask = places.of_element;
  expect_alone(b, what, segments(from.inputs(what), std::span<const Offset>(offsets)), from, places, chosen,
               std::to_string(segment_count) + " segments", found);
}

template <class T, class Key>
void expect_groups(const backend& b, operation what, std::size_t group_count, std::size_t elements, bool masks,
                   options chosen, findings& found) {
  generator random(group_count);
  const auto from = source_for<T>(what, elements, masks, random);
  if (masks) chosen.nan = nan_policy::skip;
  std::vector<Key> keys;
  expected_places places;
  places.of_element.resize(group_count);
  for (std::size_t i = 0; i < elements; ++i) {
    const std::uint64_t key = random() % group_count;
    keys.push_back(static_cast<Key>(random() % 4 == 0 ? 0 : key));  // one group is larger than the others
    places.of_element[static_cast<std::size_t>(keys.back())].push_back(i);
  }
  places.of_mask = places.of_element;
  places.is_group = true;
  expect_alone(b, what, groups(from.inputs(what), std::span<const Key>(keys), group_count), from, places, chosen,
               std::to_string(group_count) + " groups", found);
}

/// Whether `b` reduces host memory. If not, a batch of `kind` there is a finding unless it is refused.
bool takes_host_batches(const backend& b, layout kind, findings& found) {
  if (b.home() == memory::host) return true;
  const float x = 1;
  const std::uint32_t key = 0;
  const input_views inputs = array_view(&x, 1, element_type::f32);
  const batch one = kind == layout::rows ? rows(inputs, std::array<std::size_t, 1>{1}, std::array{0})
                                         : groups(inputs, array_view(&key, 1, element_type::u32), 1);
  found.expect(throws<unsupported>([&] { call_each(b, operation::sum, one); }),
               [&] { return std::string(to_string(kind)) + " are not refused"; });
  return false;
}

}  // namespace

void check_batches(const backend& b, findings& found) {
  if (!takes_host_batches(b, layout::rows, found)) return;
  check_rows(b, found);
  for_each_element([&]<class T>(T) {
    for_each_method<T>(b, [&](operation what, options chosen) {
      for (const bool masks : presences<T>(what)) {
        expect_segments<T, std::int32_t>(b, what, 1, 100, masks, chosen, found);
        expect_segments<T, std::uint64_t>(b, what, 23, 3000, masks, chosen, found);
      }
    });
  });
  for_each_type<float, double>([&]<class T>(T) {
    for_each_long_method<T>(b, [&](operation what, const options& chosen) {
      expect_segments<T, std::int64_t>(b, what, 3, 900001, false, chosen, found);
      expect_segments<T, std::int32_t>(b, what, 5000, 900001, false, chosen, found);
    });
  });
}

void check_groups(const backend& b, findings& found) {
  if (!takes_host_batches(b, layout::groups, found)) return;
  for_each_element([&]<class T>(T) {
    for_each_method<T>(b, [&](operation what, options chosen) {
      for (const bool masks : presences<T>(what)) {
        expect_groups<T, std::int64_t>(b, what, 1, 100, masks, chosen, found);
        expect_groups<T, std::uint32_t>(b, what, 17, 3000, masks, chosen, found);
      }
    });
  });
  for_each_type<float, double>([&]<class T>(T) {
    for_each_long_method<T>(b, [&](operation what, const options& chosen) {
      expect_groups<T, std::int32_t>(b, what, 300, 300001, false, chosen, found);
    });
  });
}

}  // namespace fanin::test
