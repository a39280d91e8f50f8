// SPDX-License-Identifier: Apache-2.0
// The kernels of the shipped variants, for every recipe, and their launches.
#pragma once

#include <fanin/cuda/fold_launch.cuh>
#include <fanin/device.hpp>

#include "backends/cuda/batch/batch_folds.cuh"
#include "backends/cuda/exact/complex_folds.cuh"
#include "backends/cuda/fold/finish.hpp"
#include "backends/cuda/kernels.hpp"

namespace fanin::cuda {

/// Writes the grid's state to `out`, or if `result` is not null, the finished value of the rule's operation to the
/// device_result there. Operations that fold the same states with A share the writer, and so the kernel.
template <class A, method How>
struct state_or_result_writer {
  using state = typename A::state;
  state* out;
  void* result;
  std::uint64_t count;
  element_rule rule;

  __device__ void operator()(const state& s) const {
    if (result == nullptr) {
      *out = s;
    } else if constexpr (is_keyed<A>) {
      with_value_of_keys<A>(s, count, rule, [&](const auto& value) {
        using R = std::remove_cvref_t<decltype(value)>;
        *static_cast<device_result<R>*>(result) = {value, 0};
      });
    } else {
      with_kernel_recipe<A, How>(rule, [&](auto one) {
        using Recipe = decltype(one);
        using R = typename Recipe::result;
        *static_cast<device_result<R>*>(result) = finished<Recipe, R>(device_recipe<Recipe>::total(s), count);
      });
    }
  }
};

/// Folds any recipe by the general loop.
template <class Recipe>
class general_fold : public kernel_launcher {
  using A = device_accumulator_of<Recipe>;
  using state = typename A::state;
  using element = typename A::element;
  static constexpr tuning::shape shape = shape_of<A>;

 public:
  using kernel_launcher::kernel_launcher;
  void launch(const execution& where, const operands& data, std::uint64_t count, void* out) const override {
    run(where, data, count, {static_cast<state*>(out), nullptr, count, rule()});
  }
  bool launch_finished(const execution& where, const operands& data, std::uint64_t count, element_type result,
                       void* out) const override {
    if (result != default_result(Recipe::what, type_of<typename Recipe::element>)) return false;
    run(where, data, count, {nullptr, out, count, rule()});
    return true;
  }
  rounding_chain longest_chain(const execution& where, std::uint64_t count) const override {
    return fold_chain<A>(where.multiprocessors, count);
  }

 private:
  static element_rule rule() { return rule_of(Recipe::what, type_of<typename Recipe::element>); }
  static void run(const execution& where, const operands& data, std::uint64_t count,
                  const state_or_result_writer<A, method_of_end<Recipe>>& write) {
    const auto* const x = static_cast<const element*>(data.x);
    const auto launch = [&](const auto&... arrays) {
      if constexpr (reads_by_rule<A>) {
        launch_fold<A>(where, {write.rule, arrays..., count, data.first}, write);
      } else {
        launch_fold<A>(where, {arrays..., count, data.first}, write);
      }
    };
    if constexpr (accumulator::inputs_of<A>() == 2) {
      launch(x, static_cast<const element*>(data.y));
    } else {
      launch(x);
    }
  }
};

/// The accumulator of a recipe, where elements of 8 and 16 bits are added as floats.
template <class Recipe>
using float_accumulator_of = accumulator::of_floats_t<typename Recipe::accumulator>;

/// The fold of a recipe, whose accumulator folds as Equivalent does: the general loop, unless a specialisation below
/// has kernels of its own.
template <class Recipe, class Equivalent = accumulator::folds_as_t<float_accumulator_of<Recipe>>>
struct fold_of {
  using type = general_fold<Recipe>;
};
template <class Recipe, class T, class Term>
struct fold_of<Recipe, accumulator::exact_sum<T, Term>> {
  using type = exact_fold<Recipe, float_accumulator_of<Recipe>, Term>;
};
template <class Recipe, class T>
struct fold_of<Recipe, accumulator::exact_square_sum<T>> {
  using type = exact_fold<Recipe, float_accumulator_of<Recipe>>;
};
template <class Recipe, class T>
struct fold_of<Recipe, accumulator::exact_dispersion<T>> {
  using type = moments_fold<Recipe, float_accumulator_of<Recipe>>;
};
template <class Recipe, class T>
struct fold_of<Recipe, accumulator::exact_dot<T>> {
  using type = dot_fold<typename Recipe::element>;
};

template <class Recipe, class T>
struct fold_of<Recipe, accumulator::componentwise<accumulator::exact_sum<T>>> {
  using type = parts_fold<Recipe>;
};
template <class Recipe, class T>
struct fold_of<Recipe, accumulator::componentwise<accumulator::exact_square_sum<T>>> {
  using type = part_squares_fold<T>;
};
template <class Recipe, class T, bool Conjugated>
struct fold_of<Recipe, accumulator::complex_dot<accumulator::exact_dot<T>, Conjugated>> {
  using type = complex_dot_fold<T, Conjugated>;
};

/// The kernels of log_sum_exp of integers; null for integers of 16 bits, and for floats.
template <class T>
const kernel_launcher* find_integer_log_sum() {
  if constexpr (std::is_integral_v<T> && sizeof(T) != 2) {
    using Recipe = recipe_of_log_sum<T>;
    static const with_batches<Recipe, general_fold<Recipe>> fold(
        find_state_functions(Recipe::what, type_of<T>, Recipe::method));
    return &fold;
  } else {
    return nullptr;
  }
}

template <class T>
const kernel_launcher* find_kernel(operation what, method how) {
  if (std::is_integral_v<T> && what == operation::log_sum_exp && how == method::fast) {
    return find_integer_log_sum<T>();
  }
  return with_recipe<T>(what, how, [&]<class Recipe>(Recipe) -> const kernel_launcher* {
    if constexpr (has_kernels<Recipe>) {
      static const with_batches<Recipe, typename fold_of<Recipe>::type> fold(
          find_state_functions(Recipe::what, type_of<T>, Recipe::method));
      return &fold;
    } else {
      return nullptr;
    }
  });
}

}  // namespace fanin::cuda
