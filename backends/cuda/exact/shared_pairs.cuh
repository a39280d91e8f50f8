// SPDX-License-Identifier: Apache-2.0
// Two exact sums of a block, whose terms are read once: of elements and of squares, or of both parts of complex
// numbers.
#pragma once

#include "backends/cuda/exact/shared_sums.cuh"

namespace fanin::cuda {

/// Two sums, with the chunks of First before those of Second. Each member does for both sums what it does in
/// shared_sums for one.
template <class First, class Second>
class shared_pair {
 public:
  __device__ void clear() {
    first_.clear();
    second_.clear();
  }
  __device__ void use_copies() {
    first_.use_copies();
    second_.use_copies();
  }
  template <class Visit>
  __device__ void for_each_chunk(Visit visit) {
    first_.for_each_chunk(visit);
    second_.for_each_chunk([&](int i, std::int64_t chunk) { visit(First::sums::count + i, chunk); });
  }
  __device__ bool has_drained() const { return second_.has_drained(); }

 protected:
  First first_;
  Second second_;
};

/// The sums of elements and of squares. Both fit into 64 KiB, a block's on compute capability 7.5.
template <class T, int Warps>
class shared_moments
    : public shared_pair<shared_sums<T, Warps, 1, sizeof(T) == 8 ? 16 : 8>, shared_sums<T, Warps, 2>> {
 public:
  using sums = chunk_moments<T>;
  static constexpr int most_additions = shared_sums<T, Warps, 1>::most_additions;

  __device__ void reserve(int& additions, int more, sums* total) {
    int same = additions;
    this->first_.reserve(same, more, &total->sum);
    this->second_.reserve(additions, more, &total->squares);
  }
  template <int N>
  __device__ void add(product<T> (&square)[N]) {
    for_both(square, [](auto& sums, auto& x) { sums.add(x); });
  }
  template <int N>
  __device__ void add_few(product<T> (&square)[N]) {
    for_both(square, [](auto& sums, auto& x) { sums.add_few(x); });
  }
  __device__ auto& sum() { return this->first_; }
  __device__ auto& products() { return this->second_; }
  __device__ void note(unsigned bits) { this->first_.note(bits); }
  __device__ void note_terms(unsigned bits) { this->first_.note_terms(bits); }
  __device__ unsigned seen() const { return this->first_.seen(); }

 private:
  template <int N, class F>
  __device__ void for_both(product<T> (&square)[N], F f) {
    T x[N];
#pragma unroll
    for (int i = 0; i < N; ++i) x[i] = square[i].x;
    f(this->second_, square);
    f(this->first_, x);
  }
};

/// The sum of a part of complex numbers. Both sums fit into 48 KiB.
template <class T, int Warps, int Power>
using shared_part = shared_sums<T, Warps, Power, sizeof(T) == 8 ? 16 : 8, sizeof(T) == 8 && Power == 2 ? 16 : 32>;

/// The sums of both parts of complex numbers, or of the products of two.
template <class T, int Warps, int Power>
class shared_parts : public shared_pair<shared_part<T, Warps, Power>, shared_part<T, Warps, Power>> {
  using part_sums = shared_part<T, Warps, Power>;

 public:
  using sums = complex_sums<T, Power>;
  /// A product of complex numbers adds two products of numbers to each sum, and two threads may share a copy.
  static constexpr int most_additions = part_sums::most_additions / Power / part_sums::threads_of_copy;

  __device__ void reserve(int& additions, int more, sums* total) {
    if (additions + more <= most_additions) return;
    this->first_.drain(&total->re);
    this->second_.drain(&total->im);
    additions = 0;
  }
  template <class Term, int N>
  __device__ void add(Term (&x)[N]) {
    for_both(x, [](auto& sums, auto& part) { sums.add(part); });
  }
  template <class Term, int N>
  __device__ void add_few(Term (&x)[N]) {
    for_both(x, [](auto& sums, auto& part) { sums.add_few(part); });
  }
  __device__ part_sums& sum_of(int i) { return i == 0 ? this->first_ : this->second_; }
  __device__ part_sums& products(int i) { return sum_of(i); }
  __device__ void note_terms(unsigned bits) {
    this->first_.note_terms(bits & 1);
    this->second_.note_terms(bits & 2);
  }
  __device__ unsigned seen() const { return sums::flags_of(this->first_.seen(), this->second_.seen()); }

 private:
  template <int N, class F>
  __device__ void for_both(std::complex<T> (&x)[N], F f) {
    T re[N], im[N];
#pragma unroll
    for (int i = 0; i < N; ++i) re[i] = x[i].real(), im[i] = x[i].imag();
    f(this->first_, re);
    f(this->second_, im);
  }
  template <int N, class F>
  __device__ void for_both(product<std::complex<T>> (&x)[N], F f) {
    product<T> re[2 * N], im[2 * N];
#pragma unroll
    for (int i = 0; i < N; ++i) {
      const std::complex<T>&a = x[i].x, &b = x[i].y;
      re[2 * i] = {a.real(), b.real()}, re[2 * i + 1] = {negated(a.imag()), b.imag()};
      im[2 * i] = {a.real(), b.imag()}, im[2 * i + 1] = {a.imag(), b.real()};
    }
    f(this->first_, re);
    f(this->second_, im);
  }
};

}  // namespace fanin::cuda
