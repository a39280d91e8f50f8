// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/runtime/state_functions.hpp"

#include <new>
#include <type_traits>

#include <fanin/accumulator/earlier_result.hpp>

#include "backends/cuda/recipes.hpp"

namespace fanin::cuda {
namespace {

/// Merges a state into a total. Recipes whose accumulators fold alike share the function.
template <class A>
void merge_states(void* into, const void* from) {
  using state = typename A::state;
  A::merge(*static_cast<state*>(into), *static_cast<const state*>(from));
}
/// Merges a state of a kernel into a total. A recipe whose partial states are keys has a function of its own, because
/// only the recipe knows what a key means; for others, Recipe is void.
template <class A, class Partial, class Recipe>
void merge_partial(void* into, const void* from) {
  using state = typename A::state;
  const auto& partial = *static_cast<const Partial*>(from);
  if constexpr (std::is_void_v<Recipe>) {
    A::merge(*static_cast<state*>(into), static_cast<state>(partial));
  } else {
    A::merge(*static_cast<state*>(into), device_recipe<Recipe>::total(partial));
  }
}

/// The state, if it has a position, and nothing otherwise: all states without one share a function.
template <class State>
struct position {
  using type = void;
};
template <class State>
requires requires(State& s) { s.index; }
struct position<State> {
  using type = State;
};
template <class State>
using position_of = typename position<State>::type;

template <class State>
void move_state(void* total, std::uint64_t by) {
  if constexpr (!std::is_void_v<State>) static_cast<State*>(total)->index += by;
}

/// The accumulator that bounds the error: the recipe's, unless kernels form states with an error of their own.
template <class Recipe, bool AreTotals>
struct bounding {
  using type = typename Recipe::accumulator;
};
template <class Recipe>
requires(device_accumulator_of<Recipe>::has_own_bound) struct bounding<Recipe, false> {
  using type = device_accumulator_of<Recipe>;
};

/// The state_functions of a recipe whose kernels return states of type Partial. A Partial converts to a state of the
/// recipe's accumulator.
template <class Recipe, class Partial, bool AreTotals>
constexpr state_functions state_functions_of() {
  using A = typename Recipe::accumulator;
  using needed_recipe = std::conditional_t<compares<Recipe> && !AreTotals, Recipe, void>;
  using state = typename A::state;
  static_assert(std::is_same_v<state, typename accumulator::folds_as_t<A>::state>);
  static_assert(sizeof(state) <= most_state_bytes && sizeof(Partial) <= most_state_bytes);
  return {A::order_free ? reproducibility::exact : reproducibility::run_to_run,
          device_recipe<Recipe>::longest,
          [](void* into) { ::new (into) state(A::identity()); },
          &merge_partial<accumulator::folds_as_t<A>, Partial, needed_recipe>,
          &merge_states<accumulator::folds_as_t<A>>,
          &move_state<position_of<state>>,
          [](const void* from, std::uint64_t count, element_type result, void* out) {
            with_result<Recipe>(result, [&]<class R>(R) {
              *static_cast<R*>(out) = A::template finish<R>(*static_cast<const state*>(from), count);
            });
          },
          [](const rounding_chain& chain, std::uint64_t count, element_type result) {
            using B = typename bounding<Recipe, AreTotals>::type;
            return with_result<Recipe>(result, [&]<class R>(R) { return B::template bound<R>(chain, count); });
          }};
}

}  // namespace

const state_functions* find_state_functions(operation what, element_type type, method how, bool partials_are_totals) {
  return with_recipe(what, type, how, [&]<class Recipe>(Recipe) -> const state_functions* {
    if constexpr (has_kernels<Recipe>) {
      static constexpr state_functions from_partials =
          state_functions_of<Recipe, typename device_recipe<Recipe>::partial, false>();
      static constexpr state_functions from_totals =
          state_functions_of<Recipe, typename Recipe::accumulator::state, true>();
      return partials_are_totals ? &from_totals : &from_partials;
    } else {
      return nullptr;
    }
  });
}

error_bound bound_of_addition(const request& request, const rounding_chain& chain, std::uint64_t count) {
  return with_recipe(request.what, request.inputs.type(), request.method, [&]<class Recipe>(Recipe) -> error_bound {
    if constexpr (row_of(Recipe::what).takes_results) {
      return with_result<Recipe>(
          request.result, [&]<class R>(R) { return accumulator::bound_with_earlier<Recipe, R>(chain, count); });
    } else {
      return {};
    }
  });
}

}  // namespace fanin::cuda
