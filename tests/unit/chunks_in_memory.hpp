// SPDX-License-Identifier: Apache-2.0
// The states of chunks as kernels leave them in memory, for tests of the kernel that ends results.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "backends/cuda/fold/finish_kernel.cuh"
#include "tests/unit/kernel_states.hpp"

namespace fanin::test {

/// The states of a batch's chunks, of results one after the other.
template <class Recipe>
struct chunks_in_memory {
  using total = decltype(total_of<Recipe>(std::declval<typename cuda::device_recipe<Recipe>::partial>()));
  using M = cuda::merging_t<Recipe>;
  static constexpr bool scaled = cuda::has_scaled<M>, wide = cuda::is_wide_state(sizeof(total));

  std::vector<std::byte> states, exact;
  std::vector<std::uint64_t> present;
  std::size_t stride = 0;

  template <class T>
  void add(const std::vector<T>& x) {
    const total s = total_of<Recipe>(state_of<Recipe>(x, 0, x.size()));
    present.push_back(x.size());
    append(exact, s);
    if constexpr (scaled) {
      using P = cuda::scaled_t<M>;
      typename P::state few = P::identity();
      for (std::size_t i = 0; i < x.size(); ++i) {
        const typename P::number number = x[i], other = x[x.size() - 1 - i];
        if constexpr (accumulator::inputs_of<P>() == 2) {
          P::add(few, number, row_of(Recipe::what).inputs == 2 ? other : number);
        } else {
          P::add(few, Recipe::what == operation::sum_of_magnitudes ? std::fabs(number) : number);
        }
      }
      append(states, few);
    } else if constexpr (wide) {
      append(states, s);
    } else {
      append(states, state_of<Recipe>(x, 0, x.size()));
    }
  }
  cuda::state_source source() const {
    return {scaled ? cuda::state_form::scaled
            : wide ? cuda::state_form::merged
                   : cuda::form_of_states<Recipe>(),
            stride, nullptr};
  }

 private:
  template <class State>
  void append(std::vector<std::byte>& to, const State& s) {
    if (&to == &states) stride = sizeof s;
    const auto* const bytes = reinterpret_cast<const std::byte*>(&s);
    to.insert(to.end(), bytes, bytes + sizeof s);
  }
};

}  // namespace fanin::test
