// SPDX-License-Identifier: Apache-2.0
// Windows of binades, and the question whether terms are in them.
#pragma once

#include "backends/cuda/exact/terms.cuh"

namespace fanin::cuda {

/// The numbers of T with exponents from `first` to `last` - 1.
template <class T>
class exponent_window {
  using format = detail::float_format<T>;
  static constexpr int bias = format::high - 1;
  static constexpr int exponent_place = format::digits + 32 - 8 * static_cast<int>(sizeof(T));

 public:
  static constexpr int least_exponent = 1 - bias;  ///< the least exponent of a normal number

  /// The upper 32 bits of x.
  __device__ static unsigned high_word(T x) {
    return static_cast<unsigned>(detail::to_bits(x) >> (8 * sizeof(T) - 32));
  }
  /// The exponent of the number with these upper 32 bits.
  __device__ static int exponent(unsigned high_word) {
    return static_cast<int>(2 * high_word >> exponent_place) - bias;
  }

  /// Both exponents are exponents of normal numbers.
  __device__ void set(int first, int last) {
    lowest_ = static_cast<unsigned>(first + bias) << exponent_place;
    span_ = static_cast<unsigned>(last - first) << exponent_place;
  }
  /// Less than span() if x is in the window. 0 is not.
  __device__ unsigned place(T x) const { return 2 * high_word(x) - lowest_; }
  __device__ unsigned span() const { return span_; }
  /// The binade of a place, from 0 on.
  __device__ static unsigned binade(unsigned place) { return place >> exponent_place; }
  /// Whether x is 0 or in the window.
  __device__ bool holds(T x) const { return place(x) < span_ || detail::to_bits(x) * 2 == 0; }
  __device__ bool is_below(T x) const { return (high_word(x) & 0x7fffffffu) < lowest_ / 2; }
  __device__ bool is_above(T x) const { return place(x) >= span_ && !is_below(x); }

 private:
  unsigned lowest_ = 0, span_ = 0;
};

/// The windows of a term's factors: one window for elements and their squares, and one for each part of complex
/// elements. They have up to `Binades` binades, with exponents from Lowest to Highest - 1.
template <class Terms, int Binades, int Lowest, int Highest>
class term_windows {
  using T = typename Terms::number;
  using window = exponent_window<T>;
  static constexpr int headroom = 4;  ///< binades that later elements may be larger

 public:
  using vector = typename Terms::vector;
  using term = typename Terms::term;
  static constexpr int factors = Terms::factors, width = cuda::vector<typename Terms::element>::size;

  /// Chooses windows for elements. The largest elements have these upper 32 bits.
  __device__ void choose(const unsigned (&largest)[factors]) {
#pragma unroll
    for (int i = 0; i < factors; ++i) {
      const int last = ::min(window::exponent(largest[i]) + 1 + headroom, Highest);
      lowest_[i] = ::max(last - Binades, Lowest);
      window_[i].set(lowest_[i], ::max(last, lowest_[i]));
    }
  }
  __device__ static void note_largest(const vector& v, unsigned (&largest)[factors]) {
    for_each_factor(
        v, [&](int factor, T x) { largest[factor] = ::max(largest[factor], window::high_word(x) & 0x7fffffffu); });
  }

  /// Whether each factor is in its window, and not 0.
  __device__ bool holds_all(const vector& v) const {
    unsigned largest[factors] = {};
    for_each_factor(v, [&](int factor, T x) { largest[factor] = ::max(largest[factor], window_[factor].place(x)); });
    bool all = true;
#pragma unroll
    for (int i = 0; i < factors; ++i) all = all && largest[i] < window_[i].span();
    return all;
  }
  template <class Term>
  __device__ bool holds(const Term& term) const {
    bool all = true;
    for_each_number(term, [&](int factor, T x) { all = all && window_[factor].holds(x); });
    return all;
  }
  /// Whether a term that the windows do not hold is so for a small factor only.
  __device__ bool is_below(T x) const { return window_[0].is_below(x); }
  __device__ bool is_below(const product<T>& p) const {
    return window_[0].is_below(p.x) || window_[factors - 1].is_below(p.y);
  }
  /// Whether no part of the complex numbers of a term is above the window of the part.
  template <class Term>
  __device__ bool is_below(const Term& term) const {
    bool all = true;
    for_each_number(term, [&](int factor, T x) { all = all && !window_[factor].is_above(x); });
    return all;
  }

 protected:
  /// The exponent of the lowest binade of a factor.
  __device__ int lowest(int factor = 0) const { return lowest_[factor < factors ? factor : 0]; }
  __device__ unsigned place(T x, int factor = 0) const { return window_[factor < factors ? factor : 0].place(x); }

 private:
  /// Calls f(factor, x) for the numbers of a term.
  template <class F>
  __device__ static void for_each_number(T x, F f) {
    f(0, x);
  }
  template <class F>
  __device__ static void for_each_number(const std::complex<T>& z, F f) {
    f(0, z.real());
    f(1, z.imag());
  }
  template <class F>
  __device__ static void for_each_number(const product<T>& p, F f) {
    f(0, p.x);
    if constexpr (factors == 2) f(1, p.y);
  }
  template <class F>
  __device__ static void for_each_number(const product<std::complex<T>>& p, F f) {
#pragma unroll
    for (int i = 0; i < 2; ++i) f(0, part(p.x, i)), f(1, part(p.y, i));
  }
  template <class F>
  __device__ static void for_each_factor(const vector& v, F f) {
#pragma unroll
    for (int i = 0; i < width; ++i) for_each_number(v.at(i), f);
  }

  window window_[factors];
  int lowest_[factors] = {};
};

}  // namespace fanin::cuda
