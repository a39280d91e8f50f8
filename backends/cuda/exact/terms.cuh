// SPDX-License-Identifier: Apache-2.0
// The terms of an exact sum, and how a thread loads them: elements, their squares, or products of the elements of two
// arrays.
#pragma once

#include <cstddef>
#include <type_traits>

#include <fanin/accumulator/fixed_point.hpp>
#include <fanin/cuda/vectors.cuh>

namespace fanin::cuda {

using namespace device_code;

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
  return !negative || (detail::to_bits(p.x) * 2 != 0 && detail::to_bits(p.y) * 2 != 0);
}

/// The terms of an array's elements, or their squares.
template <class T, int Power, class Term = accumulator::plain_term>
struct powers {
  using element = T;
  using number = T;
  static constexpr int power = Power, factors = 1;  ///< arrays of elements
  static constexpr bool plain = Power == 1 && std::is_same_v<Term, accumulator::plain_term>;
  using term = std::conditional_t<Power == 1, T, product<T>>;

  /// The terms of one load of a thread.
  struct vector {
    cuda::vector<T> x;
    __device__ term at(int i) const { return term_of(x.at[i]); }
    __device__ void clear(int i) { x.at[i] = T{0}; }
    __device__ static vector negative_zeros() {
      vector v;
#pragma unroll
      for (T& x : v.x.at) x = -T{0};
      return v;
    }
  };

  __device__ vector load(const cuda::vector<T>* x) const { return {cuda::load(x)}; }
  __device__ term load_one(const T* x) const { return term_of(*x); }

 private:
  __device__ static term term_of(T x) {
    if constexpr (Power == 1) {
      return Term::of(x);
    } else {
      return {x, x};
    }
  }
};

/// The elements and their squares. Both are summed.
template <class T>
struct moments : powers<T, 2> {};
template <class Terms>
inline constexpr bool are_moments = std::is_same_v<Terms, moments<typename Terms::element>>;

/// The real or the imaginary parts of complex numbers, which are loaded into registers: bulk copies bring both.
template <class T>
struct parts {
  using element = std::complex<T>;
  using number = T;
  static constexpr int power = 1, factors = 1;
  using term = T;
  bool imaginary;

  struct vector {
    T x[cuda::vector<element>::size];
    __device__ term at(int i) const { return x[i]; }
    __device__ void clear(int i) { x[i] = T{0}; }
    __device__ static vector negative_zeros() {
      vector v;
#pragma unroll
      for (T& x : v.x) x = -T{0};
      return v;
    }
  };

  __device__ vector load(const cuda::vector<element>* from) const {
    const cuda::vector<element> all = cuda::load(from);
    vector v;
#pragma unroll
    for (int i = 0; i < all.size; ++i) v.x[i] = part_of(all.at[i]);
    return v;
  }
  __device__ term load_one(const element* x) const { return part_of(*x); }

 private:
  __device__ T part_of(const element& z) const { return imaginary ? z.imag() : z.real(); }
};

/// The order of the second factors of complex numbers, for a part of the product. The factors are read as pairs of
/// real numbers.
struct pair_order {
  bool swapped = false;      ///< whether both of a pair change places
  bool negated_odd = false;  ///< whether the second of a pair, then, has the other sign
};

/// The products of the elements of two arrays. Aligned says that second.is_aligned(). With Paired the elements are
/// the parts of complex numbers, and `order` arranges the parts of the second array.
template <class T, bool Aligned, bool Paired = false>
struct products {
  using element = T;
  using number = T;
  static constexpr int power = 2, factors = 2;
  using term = product<T>;
  second_array<T> second;
  pair_order order = {};

  struct vector {
    cuda::vector<T> x, y;
    __device__ term at(int i) const { return {x.at[i], y.at[i]}; }
    __device__ void clear(int i) { x.at[i] = y.at[i] = T{0}; }
    __device__ static vector negative_zeros() {
      vector v{};
#pragma unroll
      for (T& x : v.x.at) x = -T{0};
      return v;
    }
  };

  __device__ vector load(const cuda::vector<T>* x) const {
    if constexpr (Aligned) {
      return {cuda::load(x), arranged(cuda::load(second.at(x)))};
    } else {
      return {cuda::load(x), arranged(second.gather(x))};
    }
  }
  __device__ term load_one(const T* x) const {
    const T* const y = second.at(x);
    if constexpr (!Paired) return {*x, *y};
    const bool odd = reinterpret_cast<std::uintptr_t>(x) / sizeof(T) % 2 != 0;
    const T factor = !order.swapped ? *y : odd ? *(y - 1) : *(y + 1);
    return {*x, odd && order.negated_odd ? -factor : factor};
  }

 private:
  __device__ cuda::vector<T> arranged(cuda::vector<T> y) const {
    if constexpr (Paired) {
#pragma unroll
      for (int i = 0; i < y.size; i += 2) {
        const T even = y.at[i], odd = y.at[i + 1], second_of_pair = order.swapped ? even : odd;
        y.at[i] = order.swapped ? odd : even;
        y.at[i + 1] = order.negated_odd ? -second_of_pair : second_of_pair;
      }
    }
    return y;
  }
};

}  // namespace fanin::cuda
