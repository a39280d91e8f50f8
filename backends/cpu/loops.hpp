// SPDX-License-Identifier: Apache-2.0
// How a thread folds an accumulator: loop<A>, of which accumulator_loops.hpp and complex_loops.hpp have
// specialisations.
#pragma once

#include <algorithm>
#include <bit>

#include <fanin/recipe.hpp>

#include "backends/cpu/fold.hpp"
#include "backends/cpu/leaf.hpp"

namespace fanin::cpu {

namespace acc = accumulator;

/// A row of states as the SIMD leaves store it: a state of several numbers has a plane for each, with that number of
/// every state.
template <class A>
struct plane_row {
  using T = typename A::element;
  using numbers_of_state = numbers_of<A>;
  static constexpr std::size_t row_width = detail::row_width_of<A>;
  T plane[std::tuple_size_v<numbers_of_state>][row_width];

  typename A::state state_of(std::size_t i) const {
    numbers_of_state numbers;
    for (std::size_t p = 0; p < numbers.size(); ++p) numbers[p] = plane[p][i];
    return std::bit_cast<typename A::state>(numbers);
  }
  void set(std::size_t i, const typename A::state& state) {
    const auto numbers = std::bit_cast<numbers_of_state>(state);
    for (std::size_t p = 0; p < numbers.size(); ++p) plane[p][i] = numbers[p];
  }
};

/// The functions with which a thread folds accumulator A: the general loop, unless a specialisation below has a
/// faster one.
template <class A>
struct loop {
  static constexpr arithmetic functions = detail::general_arithmetic<A>();
  static typename A::state total(const void* state) { return detail::general_total<A>(state); }
};

/// The operands of A's leaf. A sum of squares is the dot product of its input with itself.
template <class A>
operands inputs_of_leaf(const operands& data) {
  return {data.x, acc::inputs_of<A>() == 2 ? data.y : data.x};
}

/// The SIMD leaves of the fixed order.
template <class A>
requires has_simd_leaf<A>
struct loop<A> {
  using row = plane_row<A>;
  static constexpr arithmetic functions = [] {
    arithmetic f = detail::general_arithmetic<A>();
    f.state_bytes = sizeof(row);
    f.reset = [](void* state) {
      for (std::size_t i = 0; i < row::row_width; ++i) static_cast<row*>(state)->set(i, A::identity());
    };
    f.accumulate = [](const operands& data, std::size_t count, void* state) {
      fold_to_states<typename simd_leaf<A>::fold>(inputs_of_leaf<A>(data), count, static_cast<row*>(state)->plane[0]);
    };
    f.merge = [](void* into, const void* from) {
      auto& a = *static_cast<row*>(into);
      for (std::size_t i = 0; i < row::row_width; ++i) {
        auto state = a.state_of(i);
        A::merge(state, static_cast<const row*>(from)->state_of(i));
        a.set(i, state);
      }
    };
    return f;
  }();
  static typename A::state total(const void* state) {
    return std::bit_cast<typename A::state>(
        total_of_row<typename simd_leaf<A>::total>(static_cast<const row*>(state)->plane[0]));
  }
  static typename A::state whole(const operands& data, std::size_t count) {
    return std::bit_cast<typename A::state>(fold_whole<typename simd_leaf<A>::fold>(inputs_of_leaf<A>(data), count));
  }
  /// The states of several arrays: as many as arithmetic::most_runs at most.
  static void whole_each(const operands* runs, const std::size_t* counts, std::size_t number,
                         typename A::state* totals) requires has_fold_each<typename simd_leaf<A>::fold> {
    operands inputs[arithmetic::most_runs];
    std::transform(runs, runs + number, inputs, inputs_of_leaf<A>);
    numbers_of<A> states[arithmetic::most_runs];
    fold_each<typename simd_leaf<A>::fold>(inputs, counts, number, states);
    std::transform(states, states + number, totals,
                   [](const auto& numbers) { return std::bit_cast<typename A::state>(numbers); });
  }
};

/// The general arithmetic of A with Accumulate in place of its accumulate(). For accumulators whose order is free.
template <class A, void (*Accumulate)(const typename A::element* x, std::size_t count, typename A::state& into)>
struct unordered_loop {
  static constexpr arithmetic functions = [] {
    arithmetic f = detail::general_arithmetic<A>();
    f.accumulate = [](const operands& data, std::size_t count, void* state) {
      Accumulate(static_cast<const typename A::element*>(data.x), count, *static_cast<typename A::state*>(state));
    };
    return f;
  }();
  static typename A::state total(const void* state) { return detail::general_total<A>(state); }
};

}  // namespace fanin::cpu
