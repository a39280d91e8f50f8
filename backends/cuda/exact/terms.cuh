// What an exact sum adds up, as a lane reads it: elements, their squares, or products of the elements of two arrays.
#pragma once

#include <cstddef>
#include <type_traits>

#include <fanin/accumulator/fixed_point.hpp>
#include <fanin/cuda/vectors.cuh>

namespace fanin::cuda {

using namespace device_code;

/// A term of a sum of products; of any value, which T need not be able to hold.
template <class T>
struct product {
  T x, y;
};

/// A term as a double: exact, but for a product of doubles.
template <class T>
__device__ double value_of(T x) {
  return x;
}
template <class T>
__device__ double value_of(const product<T>& p) {
  return static_cast<double>(p.x) * p.y;
}

/// Whether a term is not -0: adding -0 changes no sum, but a sum of nothing else is -0.
template <class T>
__device__ bool is_number(T x) {
  return detail::to_bits(x) != detail::float_format<T>::sign;
}
template <class T>
__device__ bool is_number(const product<T>& p) {
  const bool negative = ((detail::to_bits(p.x) ^ detail::to_bits(p.y)) & detail::float_format<T>::sign) != 0;
  return !negative || (p.x != 0 && p.y != 0);
}

/// The terms of an array's elements, or their squares.
template <class T, int Power, class Term = accumulator::plain_term>
struct powers {
  using element = T;
  static constexpr int power = Power;
  using term = std::conditional_t<Power == 1, T, product<T>>;

  /// What a lane reads at once.
  struct vector {
    cuda::vector<T> x;
    __device__ term at(int i) const { return term_of(x.at[i]); }
    __device__ static vector nothing() {
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

/// The products of an array's elements and those `distance` bytes behind them. Aligned: where a whole vector of the
/// former lies at 16 bytes, so do the latter.
template <class T, bool Aligned>
struct products {
  using element = T;
  static constexpr int power = 2;
  using term = product<T>;
  std::ptrdiff_t distance;

  struct vector {
    cuda::vector<T> x, y;
    __device__ term at(int i) const { return {x.at[i], y.at[i]}; }
    __device__ static vector nothing() {
      vector v{};
#pragma unroll
      for (T& x : v.x.at) x = -T{0};
      return v;
    }
  };

  __device__ vector load(const cuda::vector<T>* x) const {
    if constexpr (Aligned) {
      return {cuda::load(x), cuda::load(behind(x))};
    } else {
      vector v{cuda::load(x), {}};
      const T* const y = behind(reinterpret_cast<const T*>(x));
#pragma unroll
      for (int i = 0; i < cuda::vector<T>::size; ++i) v.y.at[i] = __ldg(y + i);
      return v;
    }
  }
  __device__ term load_one(const T* x) const { return {*x, *behind(x)}; }

 private:
  template <class P>
  __device__ const P* behind(const P* x) const {
    return reinterpret_cast<const P*>(reinterpret_cast<const std::byte*>(x) + distance);
  }
};

}  // namespace fanin::cuda
