// SPDX-License-Identifier: Apache-2.0
// A warp's fold of elements that lie one after another, at any alignment.
#pragma once

#include "backends/cuda/batch/add_vector.cuh"

namespace fanin::cuda {

namespace tuning {
inline constexpr unsigned line_loads = 6;  ///< vectors that a thread loads before it adds the first
}  // namespace tuning

template <class T>
__device__ vector<T> vector_of(const uint4& words) {
  vector<T> v;
  std::memcpy(&v, &words, sizeof v);
  return v;
}

/// Vectors of 16 bytes that begin `bytes` bytes behind the vectors that the threads of a warp hold, thread by thread
/// and row by row. `bytes` is less than a warp's row.
template <class T>
class shifted_rows {
 public:
  __device__ shifted_rows(unsigned bytes, unsigned warp_thread)
      : threads_(bytes / 16), words_(bytes % 16 / 4), bits_(bytes % 4 * 8), warp_thread_(warp_thread) {}

  /// The words in another order. It is the order in which two threads need them: the thread that gets the first word,
  /// and then the thread in front of this thread.
  __device__ uint4 rotated(uint4 v) const {
    if ((words_ & 2) != 0) v = {v.z, v.w, v.x, v.y};
    if ((words_ & 1) != 0) v = {v.y, v.z, v.w, v.x};
    return v;
  }
  /// A thread's vector, from the rotated words of a row and of the next one. All threads of the warp call it.
  __device__ uint4 get(const uint4& row, const uint4& next) const {
    uint4 found{of_thread_above(row.x, next.x, threads_),
                of_thread_above(row.y, next.y, threads_ + (words_ > 2 ? 1 : 0)),
                of_thread_above(row.z, next.z, threads_ + (words_ > 1 ? 1 : 0)),
                of_thread_above(row.w, next.w, threads_ + (words_ > 0 ? 1 : 0))};
    if constexpr (sizeof(T) < 4) {
      const unsigned last = of_thread_above(row.x, next.x, threads_ + 1);
      found = {__funnelshift_r(found.x, found.y, bits_), __funnelshift_r(found.y, found.z, bits_),
               __funnelshift_r(found.z, found.w, bits_), __funnelshift_r(found.w, last, bits_)};
    }
    return found;
  }

 private:
  __device__ unsigned of_thread_above(unsigned row, unsigned next, unsigned distance) const {
    return __shfl_sync(0xffffffffu, warp_thread_ < distance ? next : row, (warp_thread_ + distance) % 32);
  }
  unsigned threads_, words_, bits_, warp_thread_;
};

/// The aligned vectors that have the elements x[0], ..., x[count - 1] of an input that ends at `end`. `count` is not
/// 0.
template <class T>
struct vectors_around {
  const uint4* aligned;  ///< x, if it is at a boundary of 16 bytes, or the boundary of 128 bytes before it
  unsigned skew;         ///< the bytes from `aligned` to x[0]
  unsigned loaded;       ///< up to this vector; one that ends behind the input is not loaded
  unsigned in_loaded;    ///< elements; elements behind these are added one by one
  __device__ vectors_around(const T* x, unsigned count, const void* end) {
    const auto address = reinterpret_cast<std::uintptr_t>(x);
    skew = address % 16 == 0 ? 0 : static_cast<unsigned>(address % 128);
    aligned = reinterpret_cast<const uint4*>(address - skew);
    const auto vectors = static_cast<unsigned>((skew + std::uint64_t{count} * sizeof(T) + 15) / 16);
    const bool whole = static_cast<const void*>(aligned + vectors) <= end;
    loaded = whole ? vectors : vectors - 1;
    in_loaded = whole ? count : loaded * 16 <= skew ? 0 : (loaded * 16 - skew) / static_cast<unsigned>(sizeof(T));
  }
  __device__ unsigned first() const { return skew / 16; }
  /// Vector v >= first(), or the last one: a branch would cost more.
  __device__ uint4 load(unsigned v) const { return __ldg(aligned + ::min(v, loaded - 1)); }
};

/// The state of a thread's slot: x[0], ..., x[count - 1] have the positions from `position` on; `count` is not 0. The
/// input ends at `end`.
template <class A, class From, class T = typename A::element>
requires(!A::order_free && !adds_vectors<A>) __device__ typename A::state
    fold_slot(const From& from, const T* x, unsigned count, std::uint64_t position, const void* end,
              unsigned warp_thread) {
  constexpr unsigned size = vector<T>::size, loads = tuning::line_loads;
  const vectors_around<T> around(x, count, end);
  const unsigned in_loaded = around.in_loaded;
  const shifted_rows<T> shifted(around.skew, warp_thread);
  typename A::state s = A::identity();
  uint4 row{};
  if (around.loaded > 0) row = shifted.rotated(around.load(::max(warp_thread, around.first())));
#pragma unroll 1
  for (unsigned first = warp_thread; (first - warp_thread) * size < in_loaded; first += 32 * loads) {
    uint4 next[loads];
#pragma unroll
    for (unsigned k = 0; k < loads; ++k) next[k] = around.load(first + (k + 1) * 32);
#pragma unroll
    for (unsigned k = 0; k < loads; ++k) {
      const unsigned mine = (first + k * 32) * size, of_row = mine - warp_thread * size;
      if (of_row >= in_loaded) break;
      next[k] = shifted.rotated(next[k]);
      const uint4 words = around.skew != 0 ? shifted.get(row, next[k]) : row;
      if (of_row + 32 * size > in_loaded) {  // The last row is added below, by code that is there once.
        row = words;
        break;
      }
      add_vector<A>(from, s, vector_of<T>(words), position + mine);
      row = next[k];
    }
  }
  const unsigned last = in_loaded / (32 * size) * (32 * size) + warp_thread * size;
  add_some<A>(from, s, vector_of<T>(row), static_cast<int>(in_loaded - last), position + last);
#pragma unroll 1
  for (unsigned i = in_loaded; i < count; ++i) {
    if (i / size % 32 == warp_thread) add_at<A>(s, position + i, read<A>(from, x[i]));
  }
  return s;
}
/// Folds a slot where the order of additions means nothing: aligned vectors, and the elements around them.
template <class A, class From, class T = typename A::element>
requires(A::order_free && !adds_vectors<A>) __device__ typename A::state
    fold_slot(const From& from, const T* x, unsigned count, std::uint64_t position, const void*,
              unsigned warp_thread) {
  constexpr unsigned size = vector<T>::size, loads = tuning::line_loads;
  const unsigned behind = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(x) % 16 / sizeof(T));
  const unsigned head = ::min((size - behind) % size, count), vectors = (count - head) / size;
  const unsigned tail = head + vectors * size;
  const auto* const body = reinterpret_cast<const uint4*>(x + head);
  typename A::state s = A::identity();
  if (warp_thread < head) add_at<A>(s, position + warp_thread, read<A>(from, x[warp_thread]));
#pragma unroll 1
  for (unsigned first = warp_thread; first < vectors; first += 32 * loads) {
    uint4 v[loads];
#pragma unroll
    for (unsigned k = 0; k < loads; ++k) v[k] = __ldg(body + ::min(first + k * 32, vectors - 1));
#pragma unroll
    for (unsigned k = 0; k < loads; ++k) {
      const unsigned i = first + k * 32;
      if (i < vectors) add_vector<A>(from, s, vector_of<T>(v[k]), position + head + i * size);
    }
  }
  if (tail + warp_thread < count) add_at<A>(s, position + tail + warp_thread, read<A>(from, x[tail + warp_thread]));
  return s;
}
/// Folds a slot of sums of few words: vectors need not be shifted.
template <adds_vectors A, class From, class T = typename A::element>
__device__ typename A::state fold_slot(const From& from, const T* x, unsigned count, std::uint64_t, const void* end,
                                       unsigned warp_thread) {
  constexpr unsigned size = vector<T>::size, loads = tuning::line_loads;
  const vectors_around<T> around(x, count, end);
  const unsigned begin = around.skew / static_cast<unsigned>(sizeof(T)), stop = begin + around.in_loaded;
  typename A::state s = A::identity();
#pragma unroll 1
  for (unsigned first = warp_thread; first - warp_thread < around.loaded; first += 32 * loads) {
    vector<T> v[loads];
#pragma unroll
    for (unsigned k = 0; k < loads; ++k) {
      const uint4 words = around.load(::max(first + k * 32, around.first()));
      std::memcpy(&v[k], &words, sizeof words);
    }
#pragma unroll
    for (unsigned k = 0; k < loads; ++k) {
      const unsigned at = (first + k * 32) * size;
      if (at < begin || at + size > stop) {
        v[k] = some_of(v[k], static_cast<int>(begin) - static_cast<int>(at),
                       static_cast<int>(stop) - static_cast<int>(at));
      }
    }
#pragma unroll
    for (unsigned k = 0; k < loads; k += 2) {
      if (first - warp_thread + k * 32 < around.loaded) A::merge(s, sum_of_two<A>(from, v[k], v[k + 1]));
    }
  }
#pragma unroll 1
  for (unsigned i = around.in_loaded; i < count; ++i) {
    if (i % 32 == warp_thread) A::add(s, read<A>(from, x[i]));
  }
  return s;
}

}  // namespace fanin::cuda
