// SPDX-License-Identifier: Apache-2.0
// The CUDA kernels that compare and add words of groups in tables, run on the CPU.
#include <doctest/doctest.h>

#include <cstring>
#include <vector>

#include "tests/unit/kernels/group_on_cpu.hpp"

#include "backends/cuda/batch/group_numbers.hpp"
#include "backends/cuda/batch/group_words.cuh"
#include "backends/cuda/fold/finished.hpp"
#include "tests/unit/words.hpp"

namespace fanin::test {
namespace {

using namespace cuda;

/// The states of groups, and the numbers of their elements, as the kernels form them.
struct states_of_groups {
  std::vector<std::byte> states;
  std::vector<std::uint64_t> present;
  bool counted = false;
  batch_status status{};
};

states_of_groups fold(operation what, element_type type, keyed_words from, std::size_t state_bytes, int copies_log2) {
  const std::uint32_t groups = from.groups;
  states_of_groups found{std::vector<std::byte>(groups * state_bytes), std::vector<std::uint64_t>(groups)};
  from.status = &found.status;
  const table_plan plan = plan_of(row_of(what), type, row_of(what).takes_results);
  found.counted = plan.counted;
  std::vector<unsigned long long> rows((plan.rows + (plan.counted ? 1 : 0)) * groups);
  unsigned long long* const counts = plan.counted ? rows.data() + plan.rows * groups : nullptr;
  const group_rows to{
      {rows.data(), counts, groups}, plan.table_rows, copies_log2, term_of(row_of(what)), rule_of(what, type)};
  run_folds(plan, from, to, []<class... Fold>(const keyed_words& elements, const group_rows& sums) {
    launch(2, tuning::word_threads, [&] { fold_groups<Fold...>(elements, sums); });
  });
  launch(1, 64, [&] {
    write_group_states(to, {found.states.data(), found.present.data(), plan.form, static_cast<unsigned>(state_bytes),
                            from.word_bytes, plan.sums});
  });
  return found;
}

template <class Recipe>
void check_groups(bool has_wide_keys, std::size_t count, std::uint32_t groups, int copies_log2, generator& random) {
  using T = typename Recipe::element;
  using A = typename Recipe::accumulator;
  using K = device_accumulator_of<Recipe>;
  using R = typename Recipe::result;
  std::vector<word_for<T>> words(count);
  std::vector<std::uint64_t> keys(count);
  std::vector<std::uint32_t> short_keys(count);
  struct group {
    typename A::state state = A::identity();
    std::uint64_t count = 0;
  };
  std::vector<group> expected(groups);
  std::uint64_t absent = 0;
  for (std::size_t i = 0; i < count; ++i) {
    words[i] = word_from<word_for<T>>(random);
    keys[i] = random() % (groups + 2) - 1;
    short_keys[i] = static_cast<std::uint32_t>(keys[i]);
    if (keys[i] >= groups) {
      ++absent;
      continue;
    }
    T x;
    std::memcpy(&x, &words[i], sizeof x);
    accumulator::add_at<A>(expected[keys[i]].state, i, x);
    ++expected[keys[i]].count;
  }
  using state = typename K::state;
  const states_of_groups found =
      fold(Recipe::what, type_of<T>,
           {has_wide_keys ? static_cast<void*>(keys.data()) : short_keys.data(), words.data(), count,
            has_wide_keys ? 8u : 4u, sizeof(T), false, true, groups, nullptr},
           sizeof(state), copies_log2);
  const auto* const states = reinterpret_cast<const state*>(found.states.data());
  CHECK(found.status.absent == absent);
  bool is_right = true;
  for (std::uint32_t g = 0; g < groups; ++g) {
    const group& one = expected[g];
    const device_result<R> wanted = finished<Recipe, R>(one.state, one.count);
    const auto compare = [&](const auto& value) { is_right = is_right && bytes_of(value) == bytes_of(wanted.value); };
    if constexpr (compares<Recipe>) {
      is_right = is_right && (one.count > 0 || found.present[g] == 0);
      if (one.count < least_count(Recipe::what)) continue;
      with_value_of_keys<K>(states[g], found.present[g], rule_of(Recipe::what, type_of<T>), compare);
    } else {
      const auto value = finished<Recipe, R>(device_recipe<Recipe>::total(states[g]), one.count);
      compare(value.value);
      is_right =
          is_right && value.overflowed == wanted.overflowed && (!found.counted || found.present[g] == one.count);
    }
  }
  INFO(row_of(Recipe::what).name, " of element type ", static_cast<int>(type_of<T>), ", ", count, " elements, ",
       groups, " groups");
  CHECK(is_right);
}

/// One type of each width and of each kind of rule.
template <class T>
inline constexpr bool is_tried =
    std::is_same_v<T, std::int8_t> || std::is_same_v<T, std::uint16_t> || std::is_same_v<T, std::int32_t> ||
    std::is_same_v<T, std::int64_t> || std::is_same_v<T, std::uint64_t> || std::is_same_v<T, bf16> ||
    std::is_same_v<T, float> || std::is_same_v<T, double>;
/// Whether the kernels have the recipe.
template <class Recipe>
constexpr bool has_tables() {
  using T = typename Recipe::element;
  constexpr summand adds = row_of(Recipe::what).adds;
  constexpr bool has_squares = adds == summand::squares || adds == summand::deviations;
  constexpr bool is_sum = adds == summand::elements || adds == summand::magnitudes;
  return compares<Recipe> || (std::is_integral_v<T> && (is_sum || has_squares));
}

}  // namespace

TEST_SUITE("unit/group_words") {
  TEST_CASE("the first key of no group, as an unsigned number") {
    using enum element_type;
    CHECK(first_key_of_no_group(i8, 100) == 100);
    CHECK(first_key_of_no_group(i8, 200) == 128);
    CHECK(first_key_of_no_group(u8, 200) == 200);
    CHECK(first_key_of_no_group(u8, 300) == 256);
    CHECK(first_key_of_no_group(i16, 40000) == 32768);
    CHECK(first_key_of_no_group(u16, 40000) == 40000);
    for (const element_type type : {u32, i64, u64}) CHECK(first_key_of_no_group(type, 0xfffffffe) == 0xfffffffe);
    CHECK(first_key_of_no_group(i32, 0xfffffffe) == 0x80000000);
  }

  TEST_CASE("tables have the states of accumulators, for every operation and element type") {
    generator random(1);
    for (const element_type type : all_element_types) {
      for (const operation what : all_operations) {
        with_recipe(what, type, method::fast, [&]<class Recipe>(Recipe) {
          if constexpr (has_tables<Recipe>() && is_tried<typename Recipe::element>) {
            check_groups<Recipe>(false, 9001, 70, 3, random);
            check_groups<Recipe>(true, 517, 300, 0, random);
            check_groups<Recipe>(false, 1, 1, 0, random);
          }
          return true;
        });
      }
    }
  }
}

}  // namespace fanin::test
