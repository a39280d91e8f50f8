// SPDX-License-Identifier: Apache-2.0
// Floats of 8 and 16 bits are converted to floats of 32 bits, without rounding, and then added. A smallest or
// largest element is converted back without rounding. Other results are rounded once if the narrow type is asked
// for.
#pragma once

#include <vector>

#include <fanin/accumulator/accumulator.hpp>
#include <fanin/form.hpp>

namespace fanin {
namespace accumulator {

/// Makes A, which is an accumulator of floats, an accumulator of elements of type T.
template <narrow_float T, class A>
struct widening : A {
  using element = T;
  using of_floats = A;
  using folds_as = widening<T, folds_as_t<A>>;
  using merges_as = merges_as_t<A>;
  template <class... Rest>
  FANIN_HOST_DEVICE static void add(typename A::state& s, T x, Rest... rest) {
    A::add(s, static_cast<float>(x), wide(rest)...);
  }
  static typename A::state of_strided(const T* x, std::size_t count, std::size_t first, std::size_t stride) requires
      requires(const float* floats) {
    A::of_strided(floats, count, first, stride);
  }
  {
    const std::vector<float> floats(x, x + count);
    return A::of_strided(floats.data(), count, first, stride);
  }
  template <class R>
  FANIN_HOST_DEVICE static R finish(const typename A::state& s, std::uint64_t count) {
    if constexpr (std::same_as<R, T> && requires { A::rounds_once; }) {
      return A::template finish<T>(s, count);
    } else if constexpr (std::same_as<R, T>) {
      return T(A::template finish<float>(s, count));
    } else if constexpr (std::same_as<R, indexed<T>>) {
      const auto found = A::template finish<indexed<float>>(s, count);
      return {T(found.value), found.index};
    } else if constexpr (std::same_as<R, extremes<T>>) {
      const auto found = A::template finish<extremes<float>>(s, count);
      return {T(found.min), T(found.max)};
    } else {
      return A::template finish<R>(s, count);
    }
  }

 private:
  FANIN_HOST_DEVICE static float wide(T x) { return x; }
  FANIN_HOST_DEVICE static std::uint64_t wide(std::uint64_t position) { return position; }
};

}  // namespace accumulator

template <operation What, method How, narrow_float T>
requires requires { typename recipe_for<What, How, float>::type; }
struct recipe_for<What, How, T>
    : accumulator::uses<accumulator::widening<T, typename recipe_for<What, How, float>::type>> {};

}  // namespace fanin
