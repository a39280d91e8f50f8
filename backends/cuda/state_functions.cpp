// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/runtime/state_functions.hpp"

#include <type_traits>

#include "backends/cuda/recipes.hpp"
#include "backends/recipe_functions.hpp"

namespace fanin::cuda {
namespace {

/// Merges a state of a kernel into a total. A recipe whose partial states are keys has a function of its own, because
/// only the recipe knows what a key means; for others, Recipe is void, and those whose accumulators fold alike share
/// the function.
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

/// What the table of recipes does not know.
struct device_functions {
  std::uint64_t longest;
  decltype(state_functions::merge_partial) merge_partial;
  decltype(state_functions::bound) bound;  ///< null unless kernels form states with an error of their own
};

template <class Recipe>
device_functions device_functions_of() {
  using A = accumulator::folds_as_t<typename Recipe::accumulator>;
  using partial = typename device_recipe<Recipe>::partial;
  using needed_recipe = std::conditional_t<compares<Recipe>, Recipe, void>;
  static_assert(sizeof(typename A::state) <= most_state_bytes && sizeof(partial) <= most_state_bytes);
  device_functions f{device_recipe<Recipe>::longest, merge_partial<A, partial, needed_recipe>, nullptr};
  using B = device_accumulator_of<Recipe>;
  if constexpr (requires { B::has_own_bound; }) {
    f.bound = [](const rounding_chain& chain, std::uint64_t count, element_type result) {
      return with_result<Recipe>(result, [&]<class R>(R) { return B::template bound<R>(chain, count); });
    };
  }
  return f;
}

/// The functions of log_sum_exp of integers, whose totals are those of doubles.
state_functions functions_of_integer_log_sum(element_type type) {
  state_functions found = find_state_functions(operation::log_sum_exp, element_type::f64, method::fast);
  if (byte_size(type) == 1) {
    found.merge_partial = merge_partial<accumulator::log_sum<double>, float_log_sum::state, void>;
  }
  if (byte_size(type) < 8) {
    found.bound = [](const rounding_chain& chain, std::uint64_t count, element_type) {
      return bound_of_near_integers(chain, count);
    };
  }
  return found;
}

}  // namespace

state_functions find_state_functions(operation what, element_type type, method how, bool partials_are_totals) {
  if (is_integer(type) && what == operation::log_sum_exp) return functions_of_integer_log_sum(type);
  const auto of_device = with_recipe(what, type, how, []<class Recipe>(Recipe) -> device_functions {
    if constexpr (has_kernels<Recipe>) return device_functions_of<Recipe>();
    return {};
  });
  const recipe_functions& recipe = *find_functions(what, type, how);
  const cpu::arithmetic& host = recipe.arithmetic;
  state_functions found{recipe.single == nullptr,
                        of_device.longest,
                        host.reset,
                        of_device.merge_partial,
                        host.merge,
                        recipe.move,
                        host.finish,
                        host.bound};
  if (recipe.single != nullptr) {
    found.reset = recipe.single->reset;
    found.merge = recipe.single->merge;
    found.finish = recipe.finish_single;
  }
  if (partials_are_totals) {
    found.merge_partial = found.merge;
  } else if (of_device.bound != nullptr) {
    found.bound = of_device.bound;
  }
  return found;
}

}  // namespace fanin::cuda
