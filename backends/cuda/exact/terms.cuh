// SPDX-License-Identifier: Apache-2.0
// The terms of an exact sum, and how a thread loads them: elements, their squares, or products of the elements of two
// arrays.
#pragma once

#include <complex>
#include <cstddef>
#include <type_traits>

#include <fanin/accumulator/fixed_point.hpp>
#include <fanin/complex_number.hpp>
#include <fanin/cuda/vectors.cuh>

namespace fanin::cuda {

using namespace device_code;

/// A term of a sum of products: x * y, which a T may not be able to represent.
template <class T>
struct product {
  T x, y;
};

/// -x, also of a NaN. No double is touched.
template <class T>
__device__ T negated(T x) {
  return detail::from_bits<T>(detail::to_bits(x) ^ detail::float_format<T>::sign);
}

/// Part 0 of a complex number is its real part, and part 1 its imaginary part. A real number is its part 0.
template <class T>
__device__ T part(T x, int) {
  return x;
}
template <class T>
__device__ T part(const std::complex<T>& z, int i) {
  return i == 0 ? z.real() : z.imag();
}

/// Whether a term is not -0. A sum is -0 if all of its terms are. Complex numbers have a bit for each part.
template <class T>
__device__ unsigned not_negative_zeros(T x) {
  return detail::to_bits(x) != detail::float_format<T>::sign ? 1 : 0;
}
template <class T>
__device__ unsigned not_negative_zeros(const product<T>& p) {
  const bool negative = ((detail::to_bits(p.x) ^ detail::to_bits(p.y)) & detail::float_format<T>::sign) != 0;
  return !negative || (detail::to_bits(p.x) * 2 != 0 && detail::to_bits(p.y) * 2 != 0) ? 1 : 0;
}
template <class T>
__device__ unsigned not_negative_zeros(const std::complex<T>& z) {
  return not_negative_zeros(z.real()) | not_negative_zeros(z.imag()) << 1;
}
/// A complex dot product has no part of -0.
template <class T>
__device__ unsigned not_negative_zeros(const product<std::complex<T>>&) {
  return 3;
}

/// The terms of an array's elements, or their squares. Both parts of complex elements are summed.
template <class T, int Power, class Term = accumulator::plain_term>
struct powers {
  using element = T;
  using number = part_of<T>;
  static constexpr int power = Power, factors = complex_number<T> ? 2 : 1;  ///< windows of exponents
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

/// The products of the elements of two arrays. Aligned says that second.is_aligned().
template <class T, bool Aligned>
struct products {
  using element = T;
  using number = part_of<T>;
  static constexpr int power = 2, factors = 2;
  using term = product<T>;
  second_array<T> second;

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
      return {cuda::load(x), cuda::load(second.at(x))};
    } else {
      return {cuda::load(x), second.gather(x)};
    }
  }
  __device__ term load_one(const T* x) const { return {*x, *second.at(x)}; }
};

/// The products of complex numbers, the first of which are conjugated if `flipped` is the bit of the sign, and not
/// if it is 0. The sum of each part has two products of real numbers for each element.
template <class T, bool Aligned>
struct complex_products : products<std::complex<T>, Aligned> {
  using base = products<std::complex<T>, Aligned>;
  using vector = typename base::vector;
  typename detail::float_format<T>::bits flipped;

  /// The terms of a vector that load() returned. A change of signs in load() would wait for the load.
  __device__ vector arranged(vector v) const {
#pragma unroll
    for (std::complex<T>& z : v.x.at) z = first(z);
    return v;
  }
  __device__ product<std::complex<T>> load_one(const std::complex<T>* x) const {
    const product<std::complex<T>> one = base::load_one(x);
    return {first(one.x), one.y};
  }

 private:
  __device__ std::complex<T> first(const std::complex<T>& z) const {
    return {z.real(), detail::from_bits<T>(detail::to_bits(z.imag()) ^ flipped)};
  }
};

template <class Terms>
concept arranges_terms = requires(const Terms& terms, const typename Terms::vector& v) {
  terms.arranged(v);
};

/// The terms of a vector that terms.load() returned.
template <class Terms>
__device__ typename Terms::vector arranged(const Terms& terms, const typename Terms::vector& v) {
  if constexpr (arranges_terms<Terms>) {
    return terms.arranged(v);
  } else {
    return v;
  }
}

}  // namespace fanin::cuda
