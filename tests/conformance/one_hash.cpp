// SPDX-License-Identifier: Apache-2.0
// The promises of batches, all at once: the results of the same 1000 rows have the same bits, and so one hash, as
// rows along either axis and as segments, in batches of 1 up to 1000 results, at any stride and alignment, with any
// number of threads, and exact ones also as groups in any order, in 100 runs. Groups have one hash of their own if
// their elements are added one after another.
#include <algorithm>
#include <numeric>

#include "tests/conformance/checks.hpp"
#include "tests/support/batches.hpp"

namespace fanin::test {
namespace {

constexpr std::size_t row_count = 1000, length = 301, element_count = row_count * length;

/// Element i of the SplitMix64 sequence.
constexpr std::uint64_t hashed(std::uint64_t i) {
  i = (i + 1) * 0x9e3779b97f4a7c15u;
  i = (i ^ i >> 30) * 0xbf58476d1ce4e5b9u;
  i = (i ^ i >> 27) * 0x94d049bb133111ebu;
  return i ^ i >> 31;
}

/// A whole number of up to 7 bits, times a power of two if T has any: every type holds it, and sums of f32 round. The
/// powers are those from 2^-30 to 2^30, or as many as f16 holds.
template <class T>
T element_at(std::size_t i) {
  const std::uint64_t random = hashed(i);
  const auto whole = static_cast<float>(static_cast<int>(random % 255) - 127);
  if constexpr (std::is_integral_v<T>) return static_cast<T>(whole);
  constexpr int lowest = std::is_same_v<T, f16> ? -22 : -30, powers = std::is_same_v<T, f16> ? 31 : 61;
  if constexpr (!std::is_integral_v<T>)
    return T(std::ldexp(whole, static_cast<int>((random >> 8) % powers) + lowest));
}

/// Rows in C order, and the options of their reduction.
template <class T>
struct one_case {
  operation what;
  options chosen;
  std::vector<T> x;
  std::vector<scalar> expected, expected_groups;

  const T& at(std::size_t row, std::size_t i) const { return x[row * length + i]; }
};

/// A hash of the bits of all values.
std::uint64_t hash_of(std::span<const scalar> values) {
  std::uint64_t hash = 0;
  for (const scalar& value : values) {
    fanin::visit(
        [&](const auto& number) {
          for (const std::uint64_t word : words_of(number)) hash = hashed(hash ^ word);
        },
        value);
  }
  return hash;
}

template <class T>
void expect(const backend& b, const one_case<T>& of, const batch& many, unsigned threads, const std::string& shown_as,
            std::uint64_t absent, findings& found) {
  options chosen = of.chosen;
  chosen.threads = threads;
  const std::vector<scalar>& expected = many.kind == layout::groups ? of.expected_groups : of.expected;
  const batch_reduction got = call_each(b, of.what, many, chosen);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < got.values.size(); ++i) wrong += same(got.values[i], expected[i]) ? 0u : 1u;
  found.expect(wrong == 0 && got.absent == absent, [&] {
    return told(of.what, std::span<const T>(of.x), chosen) + ", " + shown_as + ": " + std::to_string(wrong) + " of " +
           std::to_string(got.values.size()) + " results have other bits, " + std::to_string(got.absent) + " absent";
  });
}

/// The first rows of `of`, in columns of an array that is walked backwards.
template <class T>
void expect_columns(const backend& b, const one_case<T>& of, std::size_t run, unsigned threads, findings& found) {
  const std::size_t width = row_count + run % 5;
  std::vector<T> x(length * width + run % 8, T(1));
  T* const last = &x.back();
  for (std::size_t row = 0; row < row_count; ++row) {
    for (std::size_t i = 0; i < length; ++i) *(last - i * width - row) = of.at(row, i);
  }
  const std::size_t shape[] = {length, row_count};
  const std::ptrdiff_t strides[] = {-static_cast<std::ptrdiff_t>(width), -1};
  const batch many = rows(array_view(last, element_count, type_of<T>), shape, std::array{0}, strides);
  expect(b, of, many, threads, "columns", 0, found);
}

template <class Offset, class T>
void expect_segments(const backend& b, const one_case<T>& of, std::size_t run, unsigned threads, findings& found) {
  std::vector<T> x(run % 8, T(1));
  std::vector<Offset> offsets;
  for (std::size_t row = 0; row < row_count; ++row) offsets.push_back(static_cast<Offset>(x.size() + row * length));
  x.insert(x.end(), of.x.begin(), of.x.end());
  offsets.push_back(static_cast<Offset>(x.size()));
  x.push_back(T(1));
  expect(b, of, segments(array_view(std::span<const T>(x)), array_view(std::span<const Offset>(offsets))), threads,
         "segments", 0, found);
}

/// Groups among elements of no group. If the results are exact, the elements have any order. Otherwise the
/// elements of each group keep their order.
template <class Key, class T>
void expect_groups(const backend& b, const one_case<T>& of, std::size_t run, unsigned threads, findings& found) {
  const bool any_order = of.chosen.method == method::exact;
  std::size_t step = 10007 + run;
  while (std::gcd(step, element_count) != 1) ++step;
  std::vector<T> x;
  std::vector<Key> keys;
  for (std::size_t k = 0; k < element_count; ++k) {
    const std::size_t i = any_order ? (k * step + run) % element_count : k % row_count * length + k / row_count;
    x.push_back(of.x[i]);
    keys.push_back(static_cast<Key>(i / length));
    if (k % 1000 != run) continue;
    x.push_back(T(1));
    keys.push_back(k % 2 == 0 ? static_cast<Key>(-1) : static_cast<Key>(row_count));
  }
  const batch many = groups(array_view(std::span<const T>(x)), array_view(std::span<const Key>(keys)), row_count);
  expect(b, of, many.drop_others(), threads, "groups", x.size() - element_count, found);
}

/// Results of rows in C order, each as a group alone.
template <class T>
std::vector<scalar> each_as_group(const backend& b, const one_case<T>& of, std::size_t count) {
  const std::vector<std::uint32_t> keys(count);
  std::vector<scalar> values;
  for (std::size_t row = 0; row < row_count; ++row) {
    const array_view x(&of.at(row, 0), count, type_of<T>);
    values.push_back(
        call_each(b, of.what, groups(x, array_view(std::span<const std::uint32_t>(keys)), 1), of.chosen).values[0]);
  }
  return values;
}

/// Every `step`-th of 100 runs, each in another layout, with another stride, alignment, order, and number of threads.
template <class T>
void expect_in_runs(const backend& b, const one_case<T>& of, std::size_t step, findings& found) {
  constexpr unsigned thread_counts[] = {1, 2, 3, 7, 16};
  std::vector<T> shifted(element_count + 8);
  for (std::size_t run = 0; run < 100; run += step) {
    const unsigned threads = thread_counts[run % 5];
    const bool is_even = run / 4 % 2 == 0;
    if (run % 4 == 0) {
      std::ranges::copy(of.x, shifted.begin() + static_cast<std::ptrdiff_t>(run / 4 % 8));
      const array_view x(shifted.data() + run / 4 % 8, element_count, type_of<T>);
      expect(b, of, rows(x, std::array{row_count, length}, std::array{1}), threads, "rows", 0, found);
    } else if (run % 4 == 1) {
      expect_columns(b, of, run, threads, found);
    } else if (run % 4 == 2) {
      is_even ? expect_segments<std::int32_t>(b, of, run, threads, found)
              : expect_segments<std::uint64_t>(b, of, run, threads, found);
    } else {
      is_even ? expect_groups<std::uint32_t>(b, of, run, threads, found)
              : expect_groups<std::int64_t>(b, of, run, threads, found);
    }
  }
}

/// Numbers of results: every number in full, and otherwise numbers around those at which batches change.
std::vector<std::size_t> result_counts(bool in_full) {
  if (!in_full) {
    return {1,  2,  3,  4,   5,   6,   7,   8,   9,   11,  13,  15,  16,  17,  23,  31,  32,  33,       47,
            63, 64, 65, 100, 127, 128, 129, 200, 255, 256, 257, 400, 511, 512, 513, 700, 999, row_count};
  }
  std::vector<std::size_t> all(row_count);
  std::iota(all.begin(), all.end(), std::size_t{1});
  return all;
}

/// The first results, in each layout. Their rows are shortened, or the elements in all would be 600 million.
template <class T>
void expect_in_batches(const backend& b, one_case<T> of, bool in_full, findings& found) {
  constexpr std::size_t short_length = 37;
  std::vector<T> by_row, by_column(short_length * row_count);
  std::vector<std::int32_t> offsets{0}, keys;
  for (std::size_t row = 0; row < row_count; ++row) {
    for (std::size_t i = 0; i < short_length; ++i) {
      by_row.push_back(of.at(row, i));
      by_column[i * row_count + row] = of.at(row, i);
      keys.push_back(static_cast<std::int32_t>(row));
    }
    offsets.push_back(static_cast<std::int32_t>(by_row.size()));
  }
  const auto first_rows = [&](std::size_t count) {
    const std::ptrdiff_t strides[] = {length, 1};
    return rows(array_view(std::span<const T>(of.x)), std::array{count, short_length}, std::array{1}, strides);
  };
  of.expected = call_each(b, of.what, first_rows(row_count), of.chosen).values;
  of.expected_groups = each_as_group(b, of, short_length);
  for (const std::size_t count : result_counts(in_full)) {
    const auto expect_first = [&](const batch& many, const char* layout) {
      expect(b, of, many, static_cast<unsigned>(1 + count % 3), "the first " + std::to_string(count) + " " + layout,
             0, found);
    };
    const std::size_t elements = count * short_length;
    const array_view x(by_row.data(), elements, type_of<T>), columns(by_column.data(), elements, type_of<T>);
    const std::ptrdiff_t strides[] = {row_count, 1};
    expect_first(first_rows(count), "rows");
    expect_first(rows(columns, std::array{short_length, count}, std::array{0}, strides), "columns");
    expect_first(segments(x, array_view(offsets.data(), count + 1, element_type::i32)), "segments");
    expect_first(groups(x, array_view(keys.data(), elements, element_type::i32), count), "groups");
  }
}

/// Adds to the hash of all exact results. `step`: as for expect_in_runs().
template <class T>
void expect_one_case(const backend& b, operation what, method how, bool in_full, std::uint64_t& hash, findings& found,
                     std::size_t step = 1) {
  one_case<T> of{what, {.method = how}, {}, {}, {}};
  for (std::size_t i = 0; i < element_count; ++i) of.x.push_back(element_at<T>(i));
  const array_view x = std::span<const T>(of.x);
  of.expected = call_each(b, what, rows(x, std::array{row_count, length}, std::array{1}), of.chosen).values;
  of.expected_groups = each_as_group(b, of, length);
  const bool is_exact = how == method::exact || std::is_integral_v<T> || what == operation::max;
  found.expect(!is_exact || hash_of(of.expected) == hash_of(of.expected_groups),
               [&] { return told(what, std::span<const T>(of.x), of.chosen) + ": groups have other bits"; });
  expect_in_runs(b, of, step, found);
  expect_in_batches(b, of, in_full, found);
  if (how == method::exact) hash = hashed(hash ^ hash_of(of.expected));
}

void expect_one_hash(const backend& b, bool in_full, findings& found) {
  if (b.home() != memory::host) return;
  std::uint64_t hash = 0;
  for_each_type<float, double, std::int32_t, bf16>([&]<class T>(T) {
    for (const operation what : {operation::sum, operation::mean, operation::max}) {
      expect_one_case<T>(b, what, method::exact, in_full, hash, found);
    }
  });
  const std::size_t step = in_full ? 1 : 10;
  for_each_type<float, double, bf16, f16>([&]<class T>(T) {
    for (const operation what : {operation::sum_of_squares, operation::norm2, operation::variance}) {
      expect_one_case<T>(b, what, method::exact, in_full, hash, found, step);
    }
  });
  for_each_type<float, double>([&]<class T>(T) {
    expect_one_case<T>(b, operation::sum, method::fast, in_full, hash, found);
    expect_one_case<T>(b, operation::sum, method::compensated, in_full, hash, found);
    expect_one_case<T>(b, operation::norm2, method::fast, in_full, hash, found, step);
    expect_one_case<T>(b, operation::log_sum_exp, method::fast, in_full, hash, found, step);
  });
  constexpr std::uint64_t hash_on_every_machine = 15416671914355424606u;
  found.expect(hash == hash_on_every_machine, [&] { return "exact results have the hash " + std::to_string(hash); });
}

}  // namespace

void check_one_hash(const backend& b, findings& found) { expect_one_hash(b, false, found); }
void check_one_hash_in_full(const backend& b, findings& found) { expect_one_hash(b, true, found); }

}  // namespace fanin::test
