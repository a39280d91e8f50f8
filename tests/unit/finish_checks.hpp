// SPDX-License-Identifier: Apache-2.0
// Runs the kernel that ends reductions on the CPU. The kernel learns the operation and the type of the result at run
// time. Its values have to be the values of the recipes' accumulators.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "tests/unit/kernels/exact_on_cpu.hpp"
#define __grid_constant__
// These headers have to come after the CUDA extensions.
#include <fanin/recipe.hpp>

#include "backends/cuda/fold/finish_kernel.cuh"
#include "backends/cuda/runtime/state_functions.hpp"
#include "tests/unit/chunks_in_memory.hpp"

namespace fanin::test::finish_checks {

using cuda::state_form;

/// Checks one result. Assertions in templates would be compiled again for each recipe.
inline void expect(bool is_right, element_type result, std::size_t place) {
  INFO("type " << static_cast<int>(result) << ", result " << place);
  CHECK(is_right);
}

/// Calls f.operator()<Recipe>() for all recipes of elements of type T.
template <class T, class F>
void for_each_recipe(F f) {
  for (const operation what : all_operations) {
    for (const method how : all_methods) {
      if (!is_offered(what, type_of<T>, how) || arithmetic_method(what, type_of<T>, how) != how) continue;
      CAPTURE(row_of(what).name);
      CAPTURE(static_cast<int>(how));
      with_recipe<T>(what, how, [&]<class Recipe>(Recipe) {
        f.template operator()<Recipe>();
        return true;
      });
    }
  }
}

/// Calls f.operator()<R>(type) for each type that the recipe's result can have.
template <class Recipe, class F>
void for_each_result(F f) {
  for (const element_type type : all_element_types) {
    if (!is_result(Recipe::what, type_of<typename Recipe::element>, Recipe::method, type)) continue;
    with_result<Recipe>(type, [&]<class R>(R) { f.template operator()<R>(type); });
  }
}

/// The value as recipes give it whose result's type is known when they are compiled.
template <class Recipe, class R, class State>
device_result<R> expected_value(const State& s, std::uint64_t count) {
  if constexpr (cuda::compares<Recipe>) {
    device_result<R> found{};
    cuda::with_value_of_keys<cuda::device_accumulator_of<Recipe>>(
        s, count, cuda::rule_of(Recipe::what, type_of<typename Recipe::element>), [&](const auto& value) {
          if constexpr (requires { value.index; }) {
            std::memcpy(&found.value.value, &value.value, sizeof value.value);
            found.value.index = value.index;
          } else {
            REQUIRE(sizeof value == sizeof found.value);
            std::memcpy(&found.value, &value, std::min(sizeof value, sizeof found.value));
          }
        });
    return found;
  } else {
    return cuda::finished<Recipe, R>(s, count);
  }
}
/// Returns true if two values have the same bits, padding aside.
template <class R>
bool same_bits(const R& a, const R& b) {
  if constexpr (requires { a.index; }) {
    return same_bits(a.value, b.value) && a.index == b.index;
  } else {
    return std::memcmp(&a, &b, sizeof a) == 0;
  }
}

template <class Recipe>
void run(const cuda::batch_elements& all, const cuda::batch_output& out, const cuda::state_source& from,
         const cuda::finish_target& target, unsigned group_size) {
  launch(1, 32, [&] { cuda::finish_kernel<cuda::merging_t<Recipe>>(all, out, from, target, group_size); });
}
template <class Recipe>
cuda::finish_target target_of(element_type result) {
  return cuda::target_of(Recipe::what, type_of<typename Recipe::element>, result, cuda::ended_as<Recipe>());
}

/// The end of a single result, of the states of three parts of x.
template <class Recipe>
void check_single(const std::vector<typename Recipe::element>& x) {
  using A = merged_by<Recipe>;
  using state = typename cuda::device_recipe<Recipe>::partial;
  constexpr std::size_t stride = cuda::most_state_bytes;
  alignas(16) static std::byte states[4 * stride];
  auto total = A::identity();
  for (std::size_t part = 0; part < 3; ++part) {
    const state s = state_of<Recipe>(x, part * x.size() / 3, (part + 1) * x.size() / 3);
    std::memcpy(states + part * stride, &s, sizeof s);
    A::merge(total, total_of<Recipe>(s));
  }
  cuda::batch_elements all{};
  all.kind = layout::rows;
  all.results = 1;
  all.chunks = 3;
  cuda::batch_output out{};
  out.states = states;
  const cuda::state_source from{cuda::form_of_states<Recipe>(), stride, nullptr};
  for_each_result<Recipe>([&]<class R>(element_type type) {
    device_result<R> found;
    cuda::finish_target target = target_of<Recipe>(type);
    target.is_single = true;
    target.takes_short_ends = false;
    target.count = x.size();
    target.absent = row_of(Recipe::what).absent;
    out.results = &found;
    out.result = type;
    const auto check = [&](const device_result<R>& expected) {
      std::memset(static_cast<void*>(&found), 0xa5, sizeof found);
      run<Recipe>(all, out, from, target, 1);
      expect(same_bits(found.value, expected.value), type, 0);
      expect(found.overflowed == expected.overflowed, type, 0);
    };
    device_result<R> expected = expected_value<Recipe, R>(total, x.size());
    check(expected);

    // Elements are absent. Elements before the first one that is there were left out.
    cuda::presence_counts present{0, x.size()};
    target.present = &present;
    if constexpr (requires { expected.value.index; }) {
      present.first = 5;
      expected.value.index += 5;
    }
    check(expected);
    present = {~std::uint64_t{0}, 0};
    check(expected_value<Recipe, R>(A::identity(), 0));
    target.present = nullptr;

    // A merged state is merged with further states.
    alignas(16) static std::byte merged[stride];
    cuda::batch_elements first_two = all, last = all;
    first_two.chunks = 2;
    last.chunks = 1;
    cuda::finish_target into = target;
    into.merged = merged;
    run<Recipe>(first_two, out, from, into, 1);
    cuda::batch_output rest = out;
    rest.states = states + 2 * stride;
    std::memset(static_cast<void*>(&found), 0xa5, sizeof found);
    run<Recipe>(last, rest, {from.form, stride, merged}, target, 1);
    expect(same_bits(found.value, expected_value<Recipe, R>(total, x.size()).value), type, 0);
  });
}

/// Ends the results of `per` chunks each, 3 or 1, and adds the elements to results.
template <class Recipe, class T>
void check_rows(const std::vector<std::vector<T>>& chunks, std::size_t per) {
  using A = merged_by<Recipe>;
  using total = decltype(A::identity());
  chunks_in_memory<Recipe> memory;
  std::vector<total> totals;
  std::vector<std::uint64_t> counts;
  for (std::size_t i = 0; i < chunks.size(); i += per) {
    total s[4];
    counts.push_back(0);
    for (std::size_t k = 0; k < 4; ++k) {
      s[k] = A::identity();
      if (k >= per) continue;
      memory.add(chunks[i + k]);
      counts.back() += chunks[i + k].size();
      A::merge(s[k], total_of<Recipe>(state_of<Recipe>(chunks[i + k], 0, chunks[i + k].size())));
    }
    for (const std::size_t k : {0, 1}) A::merge(s[k], s[k + 2]);
    A::merge(s[0], s[1]);
    totals.push_back(s[0]);
  }
  cuda::batch_status status{};
  cuda::batch_elements all{};
  all.kind = layout::rows;
  all.results = totals.size();
  all.chunks = per;
  cuda::batch_output out{};
  out.states = memory.states.data();
  out.exact_states = memory.exact.data();
  out.present = memory.present.data();
  out.status = &status;
  out.rule = cuda::rule_of(Recipe::what, type_of<T>);
  out.least = least_count(Recipe::what);
  for_each_result<Recipe>([&]<class R>(element_type type) {
    std::vector<R> found(totals.size());
    out.results = found.data();
    out.result = type;
    cuda::finish_target target = target_of<Recipe>(type);
    run<Recipe>(all, out, memory.source(), target, per == 1 ? 1 : 4);
    std::vector<R> expected;
    for (std::size_t i = 0; i < totals.size(); ++i) {
      expected.push_back(expected_value<Recipe, R>(totals[i], counts[i]).value);
      expect(same_bits(found[i], expected[i]), type, i);
    }
    if constexpr (row_of(Recipe::what).takes_results) {
      target.adds = true;
      target.takes_short_ends = false;
      run<Recipe>(all, out, memory.source(), target, per == 1 ? 1 : 4);
      for (std::size_t i = 0; i < totals.size(); ++i) {
        if constexpr (cuda::compares<Recipe>) {
          const auto s = cuda::state_of_keys<Recipe, cuda::device_accumulator_of<Recipe>>(totals[i]);
          expect(same_bits(found[i], accumulator::with_earlier<Recipe, R>(s, counts[i], expected[i])), type, i);
        } else {
          expect(same_bits(found[i], accumulator::with_earlier<Recipe, R>(totals[i], counts[i], expected[i])), type,
                 i);
        }
      }
    }
    expect(status.overflowed == 0 && (per == 1 || status.too_few == 0), type, totals.size());
  });
}

/// Sums and means of the states of measures of dispersion.
template <class T>
void check_sums_of_moments(const std::vector<std::vector<T>>& chunks) {
  using Moments = recipe<operation::variance, method::exact, T>;
  chunks_in_memory<Moments> memory;
  for (const auto& one : chunks) memory.add(one);
  cuda::batch_status status{};
  cuda::batch_elements all{};
  all.kind = layout::rows;
  all.results = chunks.size();
  all.chunks = 1;
  cuda::batch_output out{};
  out.states = memory.states.data();
  out.exact_states = memory.exact.data();
  out.present = memory.present.data();
  out.status = &status;
  const auto check = [&]<class Recipe>(Recipe) {
    out.least = least_count(Recipe::what);
    for_each_result<Recipe>([&]<class R>(element_type type) {
      std::vector<R> found(chunks.size());
      out.results = found.data();
      out.result = type;
      run<Moments>(all, out, memory.source(), target_of<Recipe>(type), 1);
      for (std::size_t i = 0; i < chunks.size(); ++i) {
        const auto total = total_of<Recipe>(state_of<Recipe>(chunks[i], 0, chunks[i].size()));
        expect(same_bits(found[i], expected_value<Recipe, R>(total, chunks[i].size()).value), type, i);
      }
    });
  };
  check(recipe<operation::sum, method::exact, T>());
  check(recipe<operation::mean, method::exact, T>());
}

template <class T>
std::vector<T> numbers(std::initializer_list<int> all) {
  std::vector<T> x;
  for (const int one : all) {
    if constexpr (std::is_unsigned_v<T>) {
      x.push_back(static_cast<T>(std::abs(one)));
    } else {
      x.push_back(T(static_cast<part_of<T>>(static_cast<float>(one))));
    }
  }
  return x;
}

/// Compares the ends of all recipes of elements of type T, for every type of the result.
template <class T>
void check_every_recipe() {
  std::vector<std::vector<T>> chunks;
  for (const auto& one : {numbers<T>({3, -2, 1}), numbers<T>({-1}), numbers<T>({2, 4}), numbers<T>({5, 1, 1, 2}),
                          numbers<T>({-2, 3}), numbers<T>({1, 6})}) {
    chunks.push_back(one);
  }
  if constexpr (std::is_floating_point_v<T>) {
    // The sum takes many words.
    for (const int exponent : {-60, 20, 50}) {
      chunks.push_back({std::ldexp(T{1}, exponent), std::ldexp(T{-3}, -exponent), T(exponent)});
    }
    for (int i = 0; i < 3; ++i) chunks.push_back({-T{0}});
  }
  for_each_recipe<T>([&]<class Recipe>() {
    check_single<Recipe>(numbers<T>({3, -2, 1, 0, 2, 4, -1, 1, 3}));
    for (const std::size_t per : {3, 1}) check_rows<Recipe>(chunks, per);
  });
  if constexpr (floating<T>) check_sums_of_moments(chunks);
}

}  // namespace fanin::test::finish_checks
