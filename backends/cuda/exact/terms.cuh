// SPDX-License-Identifier: Apache-2.0
// The terms of an exact sum, and how a lane loads them: elements, their squares, or products of the elements of two
// arrays.
#pragma once

#include <cstddef>
#include <type_traits>

#include <fanin/accumulator/fixed_point.hpp>
#include <fanin/cuda/vectors.cuh>

namespace fanin::cuda {

using namespace device_code;

template <class T>
__device__ T negative_zero() {
  return static_cast<T>(-computed_as<T>{0});
}

/// A term of a sum of products: x * y, which a T may not be able to represent.
template <class T>
struct product {
  T x, y;
};

/// Whether a term is not -0. A sum is -0 if all of its terms are.
template <class T>
__device__ bool is_not_negative_zero(T x) {
  return detail::to_bits(x) != detail::float_format<T>::sign;
}
template <class T>
__device__ bool is_not_negative_zero(const product<T>& p) {
  const bool negative = ((detail::to_bits(p.x) ^ detail::to_bits(p.y)) & detail::float_format<T>::sign) != 0;
  return !negative || (p.x != 0 && p.y != 0);
}

/// The terms of an array's elements, or their squares. Elements of 8 and 16 bits become floats as they are taken from
/// a vector.
template <class T, int Power, class Term = accumulator::plain_term>
struct powers {
  using element = T;
  using number = computed_as<T>;
  static constexpr int power = Power, factors = 1;  ///< arrays of elements
  static constexpr bool plain = Power == 1 && std::is_same_v<Term, accumulator::plain_term>;
  using term = std::conditional_t<Power == 1, number, product<number>>;

  /// The terms of one load of a lane.
  struct vector {
    cuda::vector<T> x;
    __device__ term at(int i) const { return term_of(x.at[i]); }
    __device__ void clear(int i) { x.at[i] = T{0}; }
    __device__ static vector negative_zeros() {
      vector v;
#pragma unroll
      for (T& x : v.x.at) x = negative_zero<T>();
      return v;
    }
  };

  __device__ vector load(const cuda::vector<T>* x) const { return {cuda::load(x)}; }
  __device__ term load_one(const T* x) const { return term_of(*x); }

 private:
  __device__ static term term_of(number x) {
    if constexpr (Power == 1) {
      return Term::of(x);
    } else {
      return {x, x};
    }
  }
};

/// The elements and their squares, both of which are summed.
template <class T>
struct moments : powers<T, 2> {};
template <class Terms>
inline constexpr bool are_moments = std::is_same_v<Terms, moments<typename Terms::element>>;

/// The products of the elements of two arrays. Aligned: second.is_aligned().
template <class T, bool Aligned>
struct products {
  using element = T;
  using number = computed_as<T>;
  static constexpr int power = 2, factors = 2;
  using term = product<number>;
  second_array<T> second;

  struct vector {
    cuda::vector<T> x, y;
    __device__ term at(int i) const { return {x.at[i], y.at[i]}; }
    __device__ void clear(int i) { x.at[i] = y.at[i] = T{0}; }
    __device__ static vector negative_zeros() {
      vector v{};
#pragma unroll
      for (T& x : v.x.at) x = negative_zero<T>();
      return v;
    }
  };

  __device__ vector load(const cuda::vector<T>* x) const {
    if constexpr (Aligned) {
      return {cuda::load(x), cuda::load(second.at(x))};
    } else {
      return {cuda::load(x), second.gather(x)};
    }
  }
  __device__ term load_one(const T* x) const { return {*x, *second.at(x)}; }
};

}  // namespace fanin::cuda
