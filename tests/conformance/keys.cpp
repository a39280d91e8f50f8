// SPDX-License-Identifier: Apache-2.0
// Keys of every type: groups have the results, the absent elements and the errors of the same numbers as keys of 64
// bits. Some keys are negative or too large, and some types do not hold the numbers of all groups.
#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include <fanin/error.hpp>

#include "tests/conformance/checks.hpp"
#include "tests/support/batches.hpp"

namespace fanin::test {
namespace {

/// Operations and methods whose groups are added in place, sorted, copied to buckets, or sorted in buckets.
struct keyed_operation {
  operation what;
  method how;
};
constexpr keyed_operation keyed_operations[] = {
    {operation::sum, method::exact},       {operation::sum, method::fast},     {operation::argmin, method::fast},
    {operation::dot, method::compensated}, {operation::product, method::fast}, {operation::sum, method::compensated},
    {operation::variance, method::fast},   {operation::minmax, method::fast},  {operation::log_sum_exp, method::fast},
};

/// Keys around the limits of groups and of types, among the numbers of groups.
template <class Key>
std::vector<Key> keys_for(std::size_t count, std::size_t group_count) {
  using limits = std::numeric_limits<Key>;
  const std::size_t odd[] = {group_count - 1, group_count, group_count + 1, ~std::size_t{0}, 127, 128, 255, 32768};
  generator random(group_count);
  std::vector<Key> keys(count);
  for (std::size_t i = 0; i < count; ++i) {
    keys[i] = static_cast<Key>(random() % 16 == 0 ? odd[random() % std::size(odd)] : random() % group_count);
  }
  keys[count / 2] = limits::max();
  keys[count / 3] = limits::min();
  return keys;
}

/// The error of a call with a key of no group, or "" if there is none.
std::string error_of(const backend& b, operation what, const batch& many, const options& chosen) {
  std::string found;
  try {
    call_each(b, what, many, chosen);
  } catch (const invalid_argument& error) {
    found = error.what();
  }
  return found;
}

/// A batch of each of the operations. `threads`: more than 1 for long x.
template <class Key>
void expect_as_wide_keys(const backend& b, std::span<const keyed_operation> operations, const std::vector<float>& x,
                         std::size_t group_count, unsigned threads, bool is_masked, findings& found) {
  const std::vector<Key> keys = keys_for<Key>(x.size(), group_count);
  // A key of 64 bits without a sign that is a group's number is the same number as i64, and others are too large.
  std::vector<std::int64_t> wide_keys(x.size());
  std::ranges::transform(keys, wide_keys.begin(), [](Key key) { return static_cast<std::int64_t>(key); });
  std::vector<std::uint8_t> mask(x.size());
  for (std::size_t i = 0; i < mask.size(); ++i) mask[i] = i % 5 != 0 ? 1 : 0;
  for (const auto [what, how] : operations) {
    if (!has(b, what, element_type::f32, how)) continue;
    const options chosen{.method = how, .threads = threads};
    input_views inputs = inputs_for(what, std::span<const float>(x));
    if (is_masked) inputs = inputs.where({mask.data(), 0, mask_form::bytes});
    const batch many = groups(inputs, array_view(std::span<const Key>(keys)), group_count);
    const batch wide = groups(inputs, array_view(std::span<const std::int64_t>(wide_keys)), group_count);
    const scalar none = what == operation::argmin ? scalar(indexed<float>{0, 0}) : scalar(extremes<float>{0, 0});
    const auto with_empty = [&](const batch& one) {
      return row_of(what).form == result_form::number ? one : one.if_empty(none);
    };
    const batch_reduction got = call_each(b, what, with_empty(many.drop_others()), chosen);
    const batch_reduction expected = call_each(b, what, with_empty(wide.drop_others()), chosen);
    std::size_t wrong = 0;
    for (std::size_t g = 0; g < group_count; ++g) wrong += same(got.values[g], expected.values[g]) ? 0u : 1u;
    const std::string error = error_of(b, what, with_empty(many), chosen);
    const std::string expected_error = error_of(b, what, with_empty(wide), chosen);
    const auto told_as = [&] {
      return told(what, std::span<const float>(x), chosen) + ", " + std::to_string(group_count) +
             " groups, keys of " + std::string(to_string(type_of<Key>)) + (is_masked ? ", a mask: " : ": ");
    };
    found.expect(wrong == 0 && got.absent == expected.absent, [&] {
      return told_as() + std::to_string(wrong) + " results have other bits, and " + std::to_string(got.absent) +
             " elements are absent in place of " + std::to_string(expected.absent);
    });
    // An error names the key, and a key of 64 bits without a sign may be another number as i64.
    const bool has_that_error =
        std::is_same_v<Key, std::uint64_t> ? error.empty() == expected_error.empty() : error == expected_error;
    found.expect(has_that_error,
                 [&] { return told_as() + "the error is '" + error + "' in place of '" + expected_error + "'"; });
  }
}

}  // namespace

void check_keys(const backend& b, findings& found) {
  if (b.home() != memory::host) return;
  const std::vector<float> few = unit_factors<float>(3000, 5), many = unit_factors<float>(600001, 6);
  const std::span all(keyed_operations);
  for_each_integer([&]<class Key>(Key) {
    for (const std::size_t group_count : {1, 127, 128, 129, 200, 256, 300, 32768, 40000}) {
      expect_as_wide_keys<Key>(b, all, few, group_count, 1, group_count % 2 != 0, found);
    }
    if (sizeof(Key) > 2) return;
    expect_as_wide_keys<Key>(b, all.first(4), many, 200, 4, false, found);
    if (sizeof(Key) == 1) return;
    expect_as_wide_keys<Key>(b, all.first(2), many, 40000, 4, false, found);
    expect_as_wide_keys<Key>(b, all, few, std::size_t{1} << 18, 1, false, found);
  });
}

}  // namespace fanin::test
