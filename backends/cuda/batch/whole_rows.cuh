// SPDX-License-Identifier: Apache-2.0
// Rows along the last axis that consist of whole vectors: the fast case of lines_kernel.cuh, with the same order.
#pragma once

#include <fanin/cuda/fold_kernel.cuh>

#include "backends/cuda/batch/items.cuh"

namespace fanin::cuda {

using namespace device_code;

namespace tuning {
inline constexpr int row_threads = 256;
inline constexpr int short_rows_at_once = 4;  ///< rows of a lane whose vectors are in flight together
inline constexpr int row_loads = 8;           ///< vectors of a long row that a lane loads before it adds the first
}  // namespace tuning

/// Whether A adds several elements at once in less time than one by one. The order of such additions means nothing.
template <class A>
concept adds_vectors = requires(typename A::state& s, const vector<typename A::element>& v) {
  A::add_vector(s, v.at);
};

namespace tuning {
/// Blocks of short rows that share a multiprocessor at least.
template <class A>
inline constexpr int short_row_blocks = adds_vectors<A> ? 3 : 0;
}  // namespace tuning

/// Adds a vector's elements, of which the first has the position `position`.
template <class A, class T = typename A::element>
__device__ void add_vector(typename A::state& s, const vector<T>& v, std::uint64_t position) {
  if constexpr (adds_vectors<A>) {
    A::add_vector(s, v.at);
  } else if constexpr (adds_runs<A>) {
    A::add_run(s, v.at, position);
  } else {
#pragma unroll
    for (int i = 0; i < v.size; ++i) add_at<A>(s, position + i, v.at[i]);
  }
}

/// Elements that may be added without effect.
template <class T>
__device__ vector<T> negative_zeros() {
  vector<T> v;
#pragma unroll
  for (T& one : v.at) one = T(accumulator::additive_identity<float>());
  return v;
}

/// Adds the first `count` of a vector's elements.
template <class A, class T = typename A::element>
__device__ void add_some(typename A::state& s, const vector<T>& v, int count, std::uint64_t position) {
  if constexpr (adds_vectors<A>) {
    if (count <= 0) return;
    vector<T> filled = negative_zeros<T>();
#pragma unroll
    for (int i = 0; i < v.size; ++i) {
      if (i < count) filled.at[i] = v.at[i];
    }
    A::add_vector(s, filled.at);
  } else {
#pragma unroll
    for (int i = 0; i < v.size; ++i) {
      if (i < count) add_at<A>(s, position + i, v.at[i]);
    }
  }
}

/// The state of the lane whose number differs in the bits `bits`. Every lane of the warp calls it.
template <class State>
__device__ State shuffle_xor(State value, unsigned bits) {
  static_assert(std::is_trivially_copyable_v<State>);
  unsigned words[(sizeof(State) + 3) / 4];
  std::memcpy(words, &value, sizeof value);
  for (unsigned& word : words) word = __shfl_xor_sync(0xffffffffu, word, bits);
  std::memcpy(&value, words, sizeof value);
  return value;
}

/// The results whose states a lane has after merge_results(): `count` from number `first` on.
struct results_of_lane {
  unsigned first, count;
  bool exist;  ///< otherwise other lanes have them
};

/// Merges the states of `lanes` neighbouring lanes, a power of two up to 32: each of them has states of the same N
/// results. Lanes send the states of half of the results to those that go on with these, so that results end in
/// different lanes. Those that the lane has then are in s[0], s[1], ...; their number is the same in all lanes.
template <class A, unsigned N>
__device__ results_of_lane merge_results(typename A::state (&s)[N], unsigned lanes, unsigned lane) {
  results_of_lane mine{0, N, true};
  unsigned distance = lanes / 2;
#pragma unroll
  for (unsigned half = N / 2; half > 0; half /= 2) {
    if (distance == 0) break;
    const bool goes_on_with_upper = (lane & distance) != 0;
#pragma unroll
    for (unsigned k = 0; k < half; ++k) {
      const typename A::state sent = goes_on_with_upper ? s[k] : s[k + half];
      if (goes_on_with_upper) s[k] = s[k + half];
      A::merge(s[k], shuffle_xor(sent, distance));
    }
    if (goes_on_with_upper) mine.first += half;
    mine.count = half;
    distance /= 2;
  }
  mine.exist = distance == 0 || (lane & (2 * distance - 1)) == 0;
#pragma unroll 1
  for (; distance > 0; distance /= 2) A::merge(s[0], shuffle_down(s[0], distance));
  return mine;
}

/// After add_vector(), the state with the place of its element, found among x[0], x[stride], ...
template <class A, class T = typename A::element>
__device__ void locate(typename A::state& s, const T* x, std::int64_t stride) {
  if constexpr (adds_runs<A>) {
    while (!A::is_at(s, x[static_cast<std::int64_t>(s.index) * stride])) ++s.index;
  }
}

/// Rows of at most `lanes` vectors, where `lanes` is a power of two up to 32: neighbouring lanes fold a row.
template <class A, class Write>
__global__ void __launch_bounds__(tuning::row_threads, tuning::short_row_blocks<A>)
    short_rows_kernel(const __grid_constant__ batch_elements all, unsigned lanes,
                      const __grid_constant__ Write write) {
  using T = typename A::element;
  constexpr int at_once = tuning::short_rows_at_once;
  overlap_with_next_launch();
  const unsigned lane = threadIdx.x % 32, lane_of_row = lane % lanes, rows = 32 / lanes;
  const bool has_vector = lane_of_row * vector<T>::size < all.length;
  const std::uint64_t warps = std::uint64_t{gridDim.x} * (tuning::row_threads / 32);
  const std::uint64_t warp = std::uint64_t{blockIdx.x} * (tuning::row_threads / 32) + threadIdx.x / 32;
  const std::int64_t stride = all.kept == 0 ? 0 : all.axes[0].stride[0];
  const T* const x = static_cast<const T*>(all.x) + lane_of_row * vector<T>::size;
  const std::int64_t step = stride * rows;  // between the rows of a lane
  for (std::uint64_t first = warp * rows * at_once; first < all.results; first += warps * rows * at_once) {
    vector<T> v[at_once];
    typename A::state s[at_once];
    const std::uint64_t row = first + lane / lanes;
    const T* const of_row = x + static_cast<std::int64_t>(all.first + row) * stride;
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k) {
      if constexpr (adds_vectors<A>) v[k] = negative_zeros<T>();
      if (has_vector && row + k * rows < all.results)
        v[k] = load(reinterpret_cast<const vector<T>*>(of_row + k * step));
    }
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k) {
      if constexpr (adds_vectors<A>) {
        s[k] = A::of_vector(v[k].at);
      } else {
        s[k] = A::identity();
        if (has_vector && row + k * rows < all.results) add_vector<A>(s[k], v[k], lane_of_row * vector<T>::size);
      }
    }
    results_of_lane mine{0, at_once, lane_of_row == 0};
    if constexpr (adds_vectors<A>) {
      mine = merge_results<A>(s, lanes, lane_of_row);
    } else {
#pragma unroll 1
      for (unsigned distance = lanes / 2; distance > 0; distance /= 2) {
#pragma unroll
        for (auto& one : s) A::merge(one, shuffle_down(one, distance));
      }
    }
#pragma unroll 1
    for (unsigned k = 0; k < mine.count; ++k) {
      const std::uint64_t i = row + (mine.first + k) * rows;
      if (mine.exist && i < all.results) {
        locate<A>(s[0], x + static_cast<std::int64_t>(all.first + i) * stride, 1);
        write({all.first + i, 0, all.length, 0, 0, 0, i, 1}, 0, s[0]);
      }
#pragma unroll
      for (int next = 0; next + 1 < at_once; ++next) s[next] = s[next + 1];
    }
  }
}

/// A warp folds a chunk of a row.
template <class A, class Write>
__global__ void __launch_bounds__(tuning::row_threads)
    long_rows_kernel(const __grid_constant__ batch_elements all, const __grid_constant__ Write write) {
  using T = typename A::element;
  constexpr unsigned size = vector<T>::size;
  overlap_with_next_launch();
  const unsigned lane = threadIdx.x % 32;
  const std::uint64_t items = all.results * all.chunks, warps = std::uint64_t{gridDim.x} * (tuning::row_threads / 32);
  const std::int64_t stride = all.kept == 0 ? 0 : all.axes[0].stride[0];
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * (tuning::row_threads / 32) + threadIdx.x / 32; i < items;
       i += warps) {
    const std::uint64_t row = all.chunks == 1 ? i : i / all.chunks;
    const std::uint64_t begin = (i - row * all.chunks) * all.chunk;
    const std::uint64_t end = ::min(begin + all.chunk, all.length);
    const auto* const x = reinterpret_cast<const vector<T>*>(static_cast<const T*>(all.x) +
                                                             static_cast<std::int64_t>(all.first + row) * stride) +
                          begin / size;
    typename A::state s = A::identity();
    for_each_loaded<tuning::row_loads>(
        [&](std::uint64_t j) { return load(x + j); }, lane, (end - begin) / size, 32,
        [&](const vector<T>& v, std::uint64_t j) { add_vector<A>(s, v, begin + j * size); });
#pragma unroll 1
    for (unsigned distance = 16; distance > 0; distance /= 2) A::merge(s, shuffle_down(s, distance));
    if (lane > 0) continue;
    locate<A>(s, reinterpret_cast<const T*>(x - begin / size), 1);
    write({all.first + row, begin, end, 0, 0, 0, i, all.chunks}, 0, s);
  }
}

}  // namespace fanin::cuda
