// SPDX-License-Identifier: Apache-2.0
// Shared by the backends `cub` and `thrust`: accumulators as the function objects that these libraries take.
#pragma once

#include <thrust/iterator/counting_iterator.h>

#include "backends/cuda/recipes.hpp"
#include "backends/cuda/runtime/kernel_launcher.hpp"

namespace fanin::cub_backend {

/// Makes a state of one element.
template <class A>
struct to_state {
  FANIN_HOST_DEVICE typename A::state operator()(typename A::element x) const {
    auto s = A::identity();
    A::add(s, x);
    return s;
  }
};

/// Makes a state of the elements at an index, one of each array, and of their position in the whole input.
template <class A>
struct to_state_at {
  const typename A::element* x;
  const typename A::element* y;  ///< null if A has one input
  std::uint64_t first;
  FANIN_HOST_DEVICE typename A::state operator()(std::uint64_t i) const {
    auto s = A::identity();
    if constexpr (accumulator::inputs_of<A>() == 2) {
      accumulator::add_at<A>(s, first + i, x[i], y[i]);
    } else {
      accumulator::add_at<A>(s, first + i, x[i]);
    }
    return s;
  }
};

/// Calls reduce(begin, make), where make(begin[i]) is the state of the elements at index i. What is made of single
/// elements is read through a pointer, by which the libraries load several at once.
template <class A, class Reduce>
void with_states(const cuda::operands& data, Reduce reduce) {
  using element = typename A::element;
  const auto* const x = static_cast<const element*>(data.x);
  if constexpr (accumulator::inputs_of<A>() == 1 && !accumulator::wants_position<A>()) {
    reduce(x, to_state<A>());
  } else {
    reduce(thrust::counting_iterator<std::uint64_t>(0),
           to_state_at<A>{x, static_cast<const element*>(data.y), data.first});
  }
}

/// Returns the merge of two states.
template <class A>
struct merged {
  FANIN_HOST_DEVICE typename A::state operator()(typename A::state a, const typename A::state& b) const {
    A::merge(a, b);
    return a;
  }
};

/// A fold whose order of additions the library does not document. No order has a longer chain than `count` additions.
template <class A>
class any_order_fold : public cuda::kernel_launcher {
 public:
  using kernel_launcher::kernel_launcher;
  rounding_chain longest_chain(const cuda::execution&, std::uint64_t count) const final {
    return {0, static_cast<double>(count)};
  }
};

/// The accumulator that CUB and Thrust fold in place of A. It is the accumulator of the kernels, or for an exact
/// sum the public accumulator. `type` is void for the other exact accumulators, and for exact accumulators of
/// bf16: their states are so wide that compiling them takes minutes.
template <class A>
struct reference_form {
  using type = typename cuda::device_form<A>::device_accumulator;
  static constexpr bool partials_are_totals = false;
};
template <class T>
struct reference_form<accumulator::exact_sum<T>> {
  using type = accumulator::exact_sum<T>;
  static constexpr bool partials_are_totals = true;
};
struct no_reference {
  using type = void;
};
template <class T, class Term>
struct reference_form<accumulator::exact_sum<T, Term>> : no_reference {};
template <class T>
struct reference_form<accumulator::exact_square_sum<T>> : no_reference {};
template <class T>
struct reference_form<accumulator::exact_dispersion<T>> : no_reference {};
template <class T>
struct reference_form<accumulator::exact_dot<T>> : no_reference {};

template <template <class> class Fold, class T>
const cuda::kernel_launcher* find_reference(operation what, method how) {
  return with_recipe<T>(what, how, []<class Recipe>(Recipe) -> const cuda::kernel_launcher* {
    using loop_accumulator = accumulator::folds_as_t<typename Recipe::accumulator>;
    using form = reference_form<loop_accumulator>;
    constexpr bool is_wide = narrow_float<T> && Recipe::method == method::exact;
    if constexpr (std::is_void_v<typename form::type> || is_wide || Recipe::method == method::compensated ||
                  !cuda::has_kernels<Recipe>) {
      return nullptr;
    } else {
      static const Fold<typename form::type> fold(cuda::find_state_functions(
          Recipe::what, type_of<T>, Recipe::method, form::partials_are_totals || cuda::compares<Recipe>));
      return &fold;
    }
  });
}

}  // namespace fanin::cub_backend
