// SPDX-License-Identifier: Apache-2.0
// Tests the kernel that ends reductions, run on the CPU: its values, of the operation and the type that it is told,
// are those of the recipes' accumulators.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "tests/unit/kernels/exact_on_cpu.hpp"
#define __grid_constant__
template <class T>
T atomicMax(T* into, T value) {
  std::atomic_ref<T> shared(*into);
  T before = shared.load();
  while (before < value && !shared.compare_exchange_weak(before, value)) {
  }
  return before;
}
inline int __all_sync(unsigned lanes, int mine) { return __ballot_sync(lanes, mine) == ~0u ? 1 : 0; }
// These headers have to come after the CUDA extensions.
#include <fanin/recipe.hpp>

#include "backends/cuda/fold/finish_kernel.cuh"
#include "backends/cuda/runtime/host_fold.hpp"

namespace fanin::test {
namespace {

using cuda::state_form;

/// Calls f.operator()<Recipe>() for all recipes of elements of type T.
template <class T, class F>
void for_each_recipe(F f) {
  for (const operation what : all_operations) {
    for (const method how : all_methods) {
      if (!is_offered(what, type_of<T>, how) || arithmetic_method(what, type_of<T>, how) != how) continue;
      with_recipe<T>(what, how, [&]<class Recipe>(Recipe) {
        CAPTURE(row_of(what).name);
        CAPTURE(static_cast<int>(how));
        f.template operator()<Recipe>();
        return true;
      });
    }
  }
}

/// The chunks of an exact sum.
template <class T, int Power, class Sum>
void write_chunks(const Sum& sum, unsigned seen, cuda::chunk_sums<T, Power>& out) {
  typename Sum::sum_type::words words;
  sum.total().to_words(words);
  out = {};
  constexpr int count = Sum::sum_type::limb_count;
  for (int i = 0; i < count; ++i) {
    out.chunk[2 * i] = words[i] & 0xffff;
    out.chunk[2 * i + 1] = i + 1 < count ? std::int64_t{words[i] >> 16} : static_cast<std::int32_t>(words[i]) >> 16;
  }
  out.seen = seen;
}
template <class T, int Power>
void write_state(const basic_exact_accumulator<T, Power>& sum, cuda::chunk_sums<T, Power>& out) {
  const auto bytes = sum.save();
  const bool has_numbers = bytes[6] == std::byte{2};
  write_chunks(sum, std::to_integer<unsigned>(bytes[7]) | (has_numbers ? cuda::seen_bits::not_negative_zero : 0),
               out);
}
template <class T>
void write_state(const exact_dot_accumulator<T>& sum, cuda::chunk_products<T>& out) {
  std::int64_t lanes[exact_dot_accumulator<T>::lane_count];
  sum.write_lanes(lanes);
  const std::int64_t* const seen = lanes + exact_dot_accumulator<T>::sum_type::limb_count;
  write_chunks(sum, static_cast<unsigned>(seen[2] | seen[3] << 1 | seen[4] << 2 | seen[0] << 3), out);
}
template <class T>
void write_state(const exact_moments_accumulator<T>& s, cuda::chunk_moments<T>& out) {
  write_state(s.sum, out.sum);
  write_state(s.squares, out.squares);
}
template <class T>
void write_state(const accumulator::part_states<exact_accumulator<T>>& s, cuda::chunk_parts<T>& out) {
  write_state(s.re, out.re);
  write_state(s.im, out.im);
}
template <class T>
void write_state(const accumulator::part_states<exact_square_accumulator<T>>& s, cuda::chunk_part_squares<T>& out) {
  auto both = s.re;
  both.merge(s.im);
  write_state(both, out.both);
}
template <class T>
void write_state(const accumulator::dot_states<exact_dot_accumulator<T>, 1>& s, cuda::chunk_part_products<T>& out) {
  write_state(s.re[0], out.re);
  write_state(s.im[0], out.im);
}

/// The state of the elements, as the recipe's kernel leaves it.
template <class Recipe, class T = typename Recipe::element>
auto state_of(const std::vector<T>& x, std::size_t begin, std::size_t end) {
  using K = cuda::kernel_of<Recipe>;
  using A = typename Recipe::accumulator;
  const auto fold = [&]<class B>(B) {
    typename B::state s = B::identity();
    for (std::size_t i = begin; i < end; ++i) {
      if constexpr (cuda::compares<Recipe>) {
        typename K::word word;
        std::memcpy(&word, &x[i], sizeof word);
        accumulator::add_at<B>(s, i, cuda::key_of_word(word, cuda::rule_of(Recipe::what, type_of<T>)));
      } else if constexpr (accumulator::inputs_of<B>() == 2) {
        B::add(s, x[i], x[x.size() - 1 - i]);
      } else {
        B::add(s, x[i]);
      }
    }
    return s;
  };
  if constexpr (Recipe::how == method::exact) {
    typename cuda::form_of<Recipe>::partial s;
    write_state(fold(A()), s);
    return s;
  } else if constexpr (cuda::compares<Recipe>) {
    return fold(K());
  } else {
    return fold(typename cuda::form_of<Recipe>::of_elements());
  }
}

/// The state of the recipe's accumulator for a state of the kernel.
template <class Recipe>
auto total_of(const typename cuda::form_of<Recipe>::partial& s) {
  if constexpr (cuda::compares<Recipe>) {
    return s;
  } else {
    return static_cast<typename Recipe::accumulator::state>(s);
  }
}
template <class Recipe>
using merged_by = std::conditional_t<cuda::compares<Recipe>, cuda::kernel_of<Recipe>, typename Recipe::accumulator>;

/// Calls f.operator()<R>(type) for each type that the recipe's result can have.
template <class Recipe, class F>
void for_each_result(F f) {
  for (const element_type type : all_element_types) {
    if (!is_result(Recipe::what, type_of<typename Recipe::element>, Recipe::how, type)) continue;
    CAPTURE(static_cast<int>(type));
    with_result<Recipe>(type, [&]<class R>(R) { f.template operator()<R>(type); });
  }
}

/// The value as recipes give it whose result's type is known when they are compiled.
template <class Recipe, class R, class State>
device_result<R> expected_value(const State& s, std::uint64_t count) {
  if constexpr (cuda::compares<Recipe>) {
    device_result<R> found{};
    cuda::with_value_of_keys<cuda::kernel_of<Recipe>>(
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
/// Whether two values have the same bits. The padding of an index is none of them.
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
         const cuda::finish_target& target, unsigned lanes) {
  launch(1, 32, [&] { cuda::finish_kernel<cuda::merging_t<Recipe>>(all, out, from, target, lanes); });
}
template <class Recipe>
cuda::finish_target target_of(element_type result) {
  return cuda::target_of(Recipe::what, type_of<typename Recipe::element>, result, cuda::ended_as<Recipe>());
}

/// The end of a single result, of the states of three parts of x.
template <class Recipe, class T>
void check_single(const std::vector<T>& x) {
  using A = merged_by<Recipe>;
  using state = typename cuda::form_of<Recipe>::partial;
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
    target.count = x.size();
    target.absent = row_of(Recipe::what).absent;
    out.results = &found;
    out.result = type;
    const auto check = [&](const device_result<R>& expected) {
      std::memset(static_cast<void*>(&found), 0xa5, sizeof found);
      run<Recipe>(all, out, from, target, 1);
      CHECK(same_bits(found.value, expected.value));
      CHECK(found.overflowed == expected.overflowed);
    };
    device_result<R> expected = expected_value<Recipe, R>(total, x.size());
    check(expected);

    // Elements are absent, and those before the first one that is there were left out.
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

    // A merged state and further ones.
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
    CHECK(same_bits(found.value, expected_value<Recipe, R>(total, x.size()).value));
  });
}

TEST_SUITE("unit/finish_kernels") {
  TEST_CASE_TEMPLATE("single results of every recipe and type", T, float, double, f16, e4m3, std::int8_t,
                     std::uint16_t, std::uint64_t, std::complex<float>, std::complex<double>) {
    std::vector<T> x;
    for (const int one : {3, -2, 1, 0, 2, 4, -1, 1, 3}) {
      if constexpr (std::is_unsigned_v<T>) {
        x.push_back(static_cast<T>(std::abs(one)));
      } else {
        x.push_back(T(static_cast<part_of<T>>(static_cast<float>(one))));
      }
    }
    for_each_recipe<T>([&]<class Recipe>() { check_single<Recipe>(x); });
  }
}

}  // namespace
}  // namespace fanin::test
