// SPDX-License-Identifier: Apache-2.0
// The CUDA kernels that add rows by sorted keys, run on the CPU. Each result has to be the rounded exact sum of its
// own elements.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "tests/unit/kernels/exact_on_cpu.hpp"

#define __grid_constant__

// These headers have to come after exact_on_cpu.hpp.
#include "backends/cuda/batch/scattered_rows.cuh"
#include "tests/support/adversary.hpp"

namespace fanin::test {
namespace {

/// The accumulator under test, in an unnamed namespace as block_on_cpu.hpp wants it.
template <class T>
struct accumulator_of_words : cuda::scattered_sum<cuda::word_for<T>> {};

/// Functions of headers that these kernels do not call.
[[maybe_unused]] const auto others = &cuda::find_item;

/// Memory for rows of `columns` elements, `offset` elements behind a boundary of 16 bytes, and one element more.
template <class T>
struct row_memory {
  std::vector<device_code::vector<T>> memory;
  T* at;
  row_memory(std::size_t rows, std::size_t columns, std::size_t offset)
      : memory((rows * columns + offset) / device_code::vector<T>::size + 1),
        at(reinterpret_cast<T*>(memory.data()) + offset) {}
};

/// `keys` have the number of groups as the key of no group. value(c, i) is element i of column c, of the base first.
template <class T, class Value>
void check_rows(const std::vector<std::uint32_t>& keys, std::size_t groups, std::size_t columns, std::size_t offset,
                bool in_place, const Value& value, bool has_base = true) {
  using A = accumulator_of_words<T>;
  using N = computed_as<T>;
  row_memory<T> base(groups, columns, offset), x(keys.size(), columns, offset), apart(groups, columns, offset);
  std::vector<exact_accumulator<N>> expected(groups * columns);
  std::vector<T> copies(groups * columns);
  std::vector<bool> has_rows(groups);
  for (std::size_t c = 0; c < columns; ++c) {
    for (std::size_t g = 0; g < groups; ++g) {
      if (!has_base) continue;
      copies[g * columns + c] = base.at[g * columns + c] = value(c, g);
      expected[g * columns + c].add(value(c, g));
    }
    for (std::size_t i = 0; i < keys.size(); ++i) {
      x.at[i * columns + c] = value(c, groups + i);
      if (keys[i] == groups) continue;
      expected[keys[i] * columns + c].add(value(c, groups + i));
      has_rows[keys[i]] = true;
    }
  }
  std::vector<std::uint32_t> numbers(keys.size()), sorted, offsets;
  std::iota(numbers.begin(), numbers.end(), 0);
  std::ranges::stable_sort(numbers, {}, [&](std::uint32_t i) { return keys[i]; });
  for (const std::uint32_t i : numbers) sorted.push_back(keys[i]);
  for (std::uint32_t g = 0; g <= groups; ++g) {
    offsets.push_back(static_cast<std::uint32_t>(std::ranges::lower_bound(sorted, g) - sorted.begin()));
  }
  // Odd numbers of keys have short keys, as a call with few groups has.
  std::vector<std::uint32_t> memory(sorted.size());
  const cuda::group_numbers kept = {memory.data(), sorted.size() % 2 == 1};
  for (std::size_t i = 0; i < sorted.size(); ++i) kept.set(i, sorted[i]);
  constexpr std::size_t size = device_code::vector<T>::size;
  std::vector<typename A::state> parts(cuda::scattered_tiles(keys.size()) * columns);
  T* const out = in_place ? base.at : apart.at;
  out[groups * columns] = T(77.f);
  const cuda::scattered_lists all{x.at,
                                  has_base ? base.at : nullptr,
                                  out,
                                  numbers.data(),
                                  kept,
                                  offsets.data(),
                                  keys.size(),
                                  groups,
                                  columns,
                                  columns % size == 0 && offset % size == 0,
                                  cuda::rule_of(operation::sum, type_of<T>),
                                  parts.data()};
  const auto width = static_cast<unsigned>(std::min<std::size_t>((columns + size - 1) / size, 3));
  launch(2, width * 5, [&] { cuda::add_rows_kernel<A>(all, width); });
  launch(3, cuda::tuning::scattered_threads, [&] { cuda::merge_parts_kernel<A>(all); });
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const T right = has_rows[i / columns] ? expected[i].template round<T>() : copies[i];
    wrong += detail::to_bits(out[i]) != detail::to_bits(right);
  }
  CAPTURE(columns);
  CAPTURE(groups);
  CHECK(wrong == 0);
  CHECK(detail::to_bits(out[groups * columns]) == detail::to_bits(T(77.f)));
}

/// Checks short lists, long ones, a list of all rows, groups without rows and rows of no group.
template <class T, class Value>
void check_keys(const Value& value) {
  generator random(33);
  constexpr std::size_t tile = cuda::tuning::scattered_tile, size = device_code::vector<T>::size;
  const auto keys = [&](std::size_t count, std::size_t groups) {
    std::vector<std::uint32_t> made(count);
    for (auto& one : made) one = static_cast<std::uint32_t>(random() % (groups + 1));
    return made;
  };
  check_rows<T>(keys(0, 3), 3, size, 0, false, value);
  check_rows<T>(keys(61, 40), 40, 4 * size, 0, false, value);
  check_rows<T>(keys(61, 40), 40, size + 1, 1, true, value);
  check_rows<T>(std::vector<std::uint32_t>(tile), 2, size, 0, true, value);
  check_rows<T>(std::vector<std::uint32_t>(5 * tile + 1, 1), 3, 3, 1, false, value);
  check_rows<T>(keys(9 * tile, 3), 3, size, 0, true, value);
  check_rows<T>(keys(9 * tile, 3), 30, 2 * size, 0, false, value, false);
  // Lists that begin and end at boundaries of tiles, or beside them.
  std::vector<std::uint32_t> some;
  for (const std::size_t length :
       {tile, tile + 1, 2 * tile - 1, tile, std::size_t{1}, 2 * tile, tile - 1, tile + 2}) {
    const std::uint32_t next = some.empty() ? 0 : some.back() + 1;
    some.insert(some.end(), length, next);
  }
  check_rows<T>(some, 8, size, 0, false, value);
}

TEST_SUITE("unit/scattered_kernels") {
  TEST_CASE("negative keys of 32 bits are of no group, for any number of groups") {
    const auto is_outside = [](std::int32_t key, std::uint32_t groups) {
      return static_cast<std::uint32_t>(key) >= cuda::first_key_of_no_group(element_type::i32, groups);
    };
    for (const std::uint32_t groups : {1u, 65536u, 1u << 31, (1u << 31) + 1, 0xfffffffeu}) {
      CHECK(is_outside(-1, groups));
      CHECK(is_outside(std::numeric_limits<std::int32_t>::min(), groups));
      CHECK(!is_outside(0, groups));
      CHECK(cuda::first_key_of_no_group(element_type::u32, groups) == groups);
    }
  }

  TEST_CASE_TEMPLATE("rows of adversarial columns", T, float, double) {
    adversary<T> random(31);
    const auto kinds = adversary<T>::kinds();
    std::vector<std::vector<T>> columns;
    for (const auto& kind : kinds) columns.push_back(random.make(kind, 1500));
    check_keys<T>([&](std::size_t c, std::size_t i) { return columns[c * 5 % columns.size()][i]; });
  }

  TEST_CASE_TEMPLATE("rows of any words of 16 bits", T, f16, bf16) {
    generator random(32);
    std::vector<std::vector<T>> columns(12);
    for (std::size_t c = 0; c < columns.size(); ++c) {
      // The first columns have NaN and infinities, the others numbers near 1 or near 0.
      const unsigned changing = c < 2 ? 0xffff : c < 6 ? 0x83ff : 0x8003, base = c < 6 ? 0x3c00 : 0;
      for (std::size_t i = 0; i < 1500; ++i) {
        columns[c].push_back(T::of_bits(static_cast<std::uint16_t>(base ^ (random() & changing))));
      }
    }
    check_keys<T>([&](std::size_t c, std::size_t i) { return columns[c % columns.size()][i]; });
  }
}

}  // namespace
}  // namespace fanin::test
