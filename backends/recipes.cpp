// SPDX-License-Identifier: Apache-2.0
// Makes the table of recipes.
#include "backends/recipe_functions.hpp"

#include <concepts>
#include <new>

#include "backends/cpu/arithmetic_of.hpp"
#include "backends/cpu/batch/column_functions.hpp"
#include "backends/cpu/batch/keyed_addition.hpp"
#include "backends/cpu/integer_log_sums.hpp"
#include "backends/doubles.hpp"
#include "backends/lane_functions_of.hpp"

namespace fanin {
namespace {

template <class Recipe>
constexpr bool has_lanes_of_recipe() {
  constexpr operation_row row = row_of(Recipe::what);
  constexpr method exactly = arithmetic_method(Recipe::what, type_of<typename Recipe::element>, method::exact);
  constexpr bool merges = row.merges && row.form != result_form::indexed;
  static_assert(Recipe::method != exactly || accumulator::has_lanes<typename Recipe::accumulator> == merges);
  return Recipe::method == exactly && merges;
}

/// One constant for each part of the table that not every recipe has. Recipes whose accumulators fold alike share
/// those that the accumulator determines.
template <class Recipe>
constexpr cpu::arithmetic addition_by = cpu::addition_of<Recipe>();
template <class Recipe>
constexpr cpu::column_functions columns_by = cpu::column_functions_of<Recipe>();
template <class A, const cpu::arithmetic& F = cpu::single_loop<A>::functions>
constexpr single_state_functions single_by{F.state_bytes, F.reset, F.accumulate, F.merge};
template <class A>
constexpr lane_functions lanes_by = lane_functions_of<A>();

template <class Recipe>
constexpr recipe_functions functions_of() {
  using A = accumulator::folds_as_t<typename Recipe::accumulator>;
  using state = typename A::state;
  static_assert(std::same_as<state, typename Recipe::accumulator::state>);
  recipe_functions f{cpu::arithmetic_of<Recipe>()};
  if constexpr (row_of(Recipe::what).takes_results) f.addition = &addition_by<Recipe>;
  if constexpr (cpu::folds_columns<A>) f.columns = &columns_by<Recipe>;
  using by_key = cpu::added_by_key<accumulator::of_floats_t<A>>;
  if constexpr (requires { typename by_key::type; } && !is_complex(type_of<typename A::element>)) {
    f.keyed = &cpu::keyed_addition_by<typename by_key::type>;
    f.terms = by_key::terms;
  }
  if constexpr (!A::order_free) {
    f.single = &single_by<A>;
    f.finish_single = finish_state<finished_by_t<Recipe>>;
    if constexpr (row_of(Recipe::what).takes_results) f.add_single = add_to_result<finished_by_t<Recipe>>;
  }
  if constexpr (requires(state & s) { s.index; }) {
    f.move = [](void* of, std::uint64_t by) { static_cast<state*>(of)->index += by; };
  }
  if constexpr (has_lanes_of_recipe<Recipe>()) {
    f.lanes = &lanes_by<A>;
    f.round_short_words = rounding_of_short_words<Recipe>();
  }
  return f;
}

using log_sum_of_doubles = recipe<operation::log_sum_exp, method::fast, double>;

/// The loops of log_sum_exp over columns of integers, whose states are those of doubles.
template <std::integral T>
constexpr cpu::column_loops loops_over_integers = [] {
  cpu::column_loops loops = cpu::general_loops_of<accumulator::log_sum<double>>;
  loops.fold = cpu::log_sum_columns<T>::fold;
  return loops;
}();
template <std::integral T>
constexpr cpu::column_functions columns_of_integers = [] {
  cpu::column_functions f = columns_by<log_sum_of_doubles>;
  f.general = &loops_over_integers<T>;
  return f;
}();

/// The functions of log_sum_exp of integers, which a CPU adds as doubles. They are no part of the catalogue.
template <std::integral T>
constexpr recipe_functions functions_of_integers() {
  using row = cpu::log_sum_row<double>;
  recipe_functions f = functions_of<log_sum_of_doubles>();
  f.columns = &columns_of_integers<T>;
  f.single = nullptr;
  f.finish_single = nullptr;
  f.arithmetic.element_bytes = sizeof(T);
  f.arithmetic.accumulate = [](const cpu::operands& data, std::size_t count, void* state) {
    cpu::fold_integer_log_sums(static_cast<const T*>(data.x), count, *static_cast<row*>(state));
  };
  f.arithmetic.reduce_each = [](operation, const cpu::operands* runs, const std::size_t* counts, std::size_t number,
                                element_type result, void* out) {
    accumulator::scaled_sum totals[cpu::arithmetic::most_runs];
    cpu::fold_integer_log_sums_each<T>(runs, counts, number, totals);
    cpu::finish_each<log_sum_of_doubles>(totals, counts, number, result, out);
    return std::uint64_t{0};
  };
  return f;
}

}  // namespace

const recipe_functions* find_functions(operation what, element_type type, method how) {
  if (how == method::fast && is_taken_as_f64(what, type)) {
    return with_element(type, []<class T>() -> const recipe_functions* {
      if constexpr (std::integral<T>) {
        static constexpr recipe_functions functions = functions_of_integers<T>();
        return &functions;
      }
      return nullptr;
    });
  }
  return with_recipe(what, type, how, []<class Recipe>(Recipe) -> const recipe_functions* {
    static constexpr recipe_functions functions = functions_of<Recipe>();
    return &functions;
  });
}

const recipe_functions& functions_of_groups(const request& request) {
  const element_type type = request.inputs.type();
  const bool needs_low_parts = row_of(request.what).adds == summand::deviations && type == element_type::f64;
  return *find_functions(request.what, type,
                         needs_low_parts && request.method == method::fast ? method::compensated : request.method);
}

}  // namespace fanin
