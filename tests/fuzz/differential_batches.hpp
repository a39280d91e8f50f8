// SPDX-License-Identifier: Apache-2.0
// Rows along either axis, segments and groups of the elements: each result is right, keeps the reported bound, and
// has the bits that the verb gives for its elements alone, or for them as the only group.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include <fanin/batch.hpp>

#include "tests/fuzz/differential_verbs.hpp"

namespace fanin::fuzz {

/// A batch, and for each result the places of its elements.
struct many_results {
  batch many;
  std::vector<std::vector<std::size_t>> places;
  std::vector<std::uint32_t> offsets;  ///< of segments, which the batch views
  std::vector<std::byte> keys;         ///< of groups, which the batch views
};

inline many_results rows_of(const input_views& all, int along, std::mt19937_64& random) {
  const std::size_t lines = 1 + random() % std::min<std::size_t>(all.count(), 40), width = all.count() / lines;
  many_results made{rows(all.part(0, lines * width), std::array{lines, width}, {&along, 1}), {}, {}};
  made.places.resize(along == 0 ? width : lines);
  for (std::size_t i = 0; i < lines * width; ++i) made.places[along == 0 ? i % width : i / width].push_back(i);
  return made;
}

inline many_results segments_of(const input_views& all, std::mt19937_64& random) {
  many_results made;
  made.offsets = {0, static_cast<std::uint32_t>(all.count())};
  for (auto more = random() % 40; more > 0; --more)
    made.offsets.push_back(static_cast<std::uint32_t>(random() % (all.count() + 1)));
  std::ranges::sort(made.offsets);
  for (std::size_t k = 0; k + 1 < made.offsets.size(); ++k) {
    auto& one = made.places.emplace_back(made.offsets[k + 1] - made.offsets[k]);
    std::iota(one.begin(), one.end(), made.offsets[k]);
  }
  made.many = segments(all, array_view(std::span<const std::uint32_t>(made.offsets)));
  return made;
}

/// Keys of any type, up to 300 groups. Half of the batches have no element of another group, unless the type does not
/// hold the numbers of all groups. They are reduced without drop_others().
inline many_results groups_of(const input_views& all, std::mt19937_64& random) {
  many_results made;
  made.places.resize(1 + random() % (random() % 4 == 0 ? 300 : 40));
  element_type type;
  do type = all_element_types[random() % std::size(all_element_types)];
  while (!is_integer(type));
  made.keys.resize(all.count() * byte_size(type));
  const bool may_have_others = random() % 2 == 0;
  bool drops_others = may_have_others;
  with_element(type, [&]<class Key>() {
    if constexpr (std::integral<Key>) {
      for (std::size_t i = 0; i < all.count(); ++i) {
        const bool is_any = may_have_others && random() % 16 == 0;
        const auto key = static_cast<Key>(is_any ? random() : random() % made.places.size());
        std::memcpy(&made.keys[i * sizeof key], &key, sizeof key);
        if (static_cast<std::uint64_t>(key) < made.places.size()) {
          made.places[static_cast<std::size_t>(key)].push_back(i);
        } else {
          drops_others = true;  // the type does not hold the numbers of all groups
        }
      }
    }
  });
  made.many = groups(all, array_view(made.keys.data(), all.count(), type), made.places.size());
  if (drops_others) made.many = made.many.drop_others();
  return made;
}

/// The elements of one result, alone in memory.
template <class T>
struct elements_of_result {
  std::vector<T> x, y;

  elements_of_result(const fuzzed<T>& all, const std::vector<std::size_t>& places) {
    for (const std::size_t i : places) {
      x.push_back(all.memory[i]);
      y.push_back(all.memory[i + 1]);
    }
  }
  input_views views(operation what) const {
    const array_view first{std::span<const T>(x)}, second{std::span<const T>(y)};
    return row_of(what).inputs == 2 ? input_views(first, second) : input_views(first);
  }
  repeated<T> terms() const { return {x, y, x.size()}; }
};

/// The value with `place(index)` in place of its index, if it has one.
template <class Place>
scalar with_index(scalar value, Place place) {
  fanin::visit(
      [&](auto& one) {
        if constexpr (requires { one.index; }) one.index = place(one.index);
      },
      value);
  return value;
}

template <class T>
void compare_batch(const fuzzed<T>& all, const many_results& made, const options& chosen, const environment& caller) {
  const operation what = all.what;
  const element_type number = chosen.result.value_or(default_result(what, type_of<T>));
  const scalar of_empty = with_result_type(what, number, []<class R>() { return scalar(R{}); });
  const batch many = least_count(what) > 0 ? made.many.if_empty(of_empty) : made.many;
  const auto results_of = [&](const batch& any) {
    return with_result_type(what, number, [&]<class R>() {
      std::vector<R> values(any.result_count);
      const report done = reduce(what, any, values, chosen);
      return answer{{values.begin(), values.end()}, done};
    });
  };
  const answer each = answered(caller, [&] { return results_of(many); });
  if (each.has_overflowed) {
    const bool one_does = std::ranges::any_of(made.places, [&](const auto& places) {
      return places.size() >= least_count(what) && overflows(what, elements_of_result(all, places).terms());
    });
    return require(one_does, "only what does not fit overflows", each.error);
  }
  require(each.error.empty(), "a batch has results", each.error);
  const bool repeats = each.done.reproducibility != reproducibility::none;
  for (std::size_t k = 0; k < made.places.size(); ++k) {
    ++cases_compared;
    const elements_of_result own(all, made.places[k]);
    const scalar& value = each.values[k];
    const auto told_with = [&](const answer& other) {
      return std::string(to_string(many.kind)) + " " + std::to_string(k) + ": " + told({{value}, each.done}) +
             ", alone " + told(other) + ", of " + in_hex<T>(own.x) +
             (row_of(what).inputs == 2 ? " and " + in_hex<T>(own.y) : "");
    };
    if (own.x.size() < least_count(what)) {
      if (!test::same(value, of_empty)) require(false, "a result of too few elements is if_empty()'s", told_with({}));
      continue;
    }
    const bool is_group = many.kind == layout::groups;  // where a position is that in all elements
    const auto place_of = [&](std::uint64_t i) { return is_group ? made.places[k][i] : i; };
    const auto index_of = [&](std::uint64_t place) -> std::uint64_t {
      return is_group ? static_cast<std::uint64_t>(std::ranges::lower_bound(made.places[k], place) -
                                                   made.places[k].begin())
                      : place;
    };
    const answer alone = answered(default_environment, [&]() -> answer {
      if (is_group && each.done.reproducibility == reproducibility::fixed_order) {
        const std::vector<std::uint32_t> keys(own.x.size());
        return results_of(groups(own.views(what), array_view(std::span(keys)), 1));
      }
      const auto [one, done] = reduce(what, own.views(what), chosen);
      return {{with_index(one, place_of)}, done};
    });
    if (repeats && !(alone.error.empty() && test::same(alone.value(), value)))
      require(false, "a result is the verb's", told_with(alone));
    if (!is_right(what, own.terms(), each.done.method, each.done.bound, with_index(value, index_of)))
      require(false, "a result is what MPFR promises or gives", told_with(alone));
  }
}

/// Every backend, variant and result type, by batches that the input's seed chooses.
template <class T>
void compare_batches(const fuzzed<T>& all, unsigned threads, const environment& caller) {
  if (all.count() == 0) return;
  std::mt19937_64 random = all.random();
  const many_results each[] = {rows_of(all.views(), 0, random), rows_of(all.views(), 1, random),
                               segments_of(all.views(), random), groups_of(all.views(), random)};
  for (const many_results& made : each) {
    for_each_way(all.what, all.views(), made.many.kind, threads,
                 [&](const options& chosen) { compare_batch(all, made, chosen, caller); });
  }
}

}  // namespace fanin::fuzz
