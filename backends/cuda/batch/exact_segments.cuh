// SPDX-License-Identifier: Apache-2.0
// Exact sums of short segments. A warp adds up the elements of neighbouring segments in one run, whatever their
// lengths are, and a segment's sum is the difference of two running sums.
#pragma once

#include "backends/cuda/batch/segments_kernel.cuh"
#include "backends/cuda/batch/tile_sum.cuh"

namespace fanin::cuda {

namespace tuning {
inline constexpr int exact_segment_threads = 128, exact_segment_blocks = 6;
}  // namespace tuning

/// Running sums of staged segments, by one warp.
template <class A>
class running_sums {
  using T = typename A::element;
  using sum = tile_sum<typename A::number, A::digits>;
  static constexpr unsigned size = vector<T>::size;

 public:
  /// `before` has room for a sum for each vector, and one more.
  __device__ running_sums(const batch_elements& all, sum* before, uint4* stage, const staged_segments<T>& now,
                          unsigned warp_thread)
      : from_(all), before_(before), warp_thread_(warp_thread) {
    const auto skew = static_cast<unsigned>(reinterpret_cast<const std::byte*>(now.elements) -
                                            reinterpret_cast<const std::byte*>(stage));
    vectors_ = stage + skew / 16;
    skew_ = skew % 16 / static_cast<unsigned>(sizeof(T));
    count_ = (skew_ + now.count + size - 1) / size;
    // An odd number of neighbouring vectors for each thread, so that threads read from different banks.
    share_ = (count_ + 31) / 32 | 1;
    T* const staged = reinterpret_cast<T*>(vectors_);
    if (warp_thread < skew_) staged[warp_thread] = T(0);
    if (skew_ + now.count + warp_thread < count_ * size) staged[skew_ + now.count + warp_thread] = T(0);
    __syncwarp();
  }

  /// Forms the running sums. Returns false if there are no units for them. All threads of the warp call it.
  __device__ bool form(unsigned longest) {
#pragma unroll 1
    for (unsigned j = warp_thread_ * share_; j < ::min((warp_thread_ + 1) * share_, count_); ++j) {
      const vector<T> v = load(j);
#pragma unroll
      for (const auto one : read_all<A>(from_, v.at).at) range_.add(one);
    }
    range_.merge_warp();
    units_ = typename sum::units(range_, longest);
    if (!units_.may_fit()) return false;
    sum s;
    bool fit = true;
    if (warp_thread_ == 0) before_[0] = s;
#pragma unroll 1
    for (unsigned j = warp_thread_ * share_; j < ::min((warp_thread_ + 1) * share_, count_); ++j) {
      const vector<T> v = load(j);
#pragma unroll
      for (const auto one : read_all<A>(from_, v.at).at) fit = s.add(one, units_) && fit;
      before_[j + 1] = s;
    }
    sum scanned = s;
#pragma unroll
    for (unsigned distance = 1; distance < 32; distance *= 2) {
      const sum below = shuffle_from(scanned, (warp_thread_ - distance) % 32);
      if (warp_thread_ >= distance) scanned += below;
    }
    of_threads_below_ = scanned;
    of_threads_below_ -= s;
    __syncwarp();
    return !__any_sync(0xffffffffu, !fit);
  }

  /// The state of a thread's `length` elements from element `at` on. All threads of the warp call it.
  __device__ typename A::state between(unsigned at, unsigned length) const {
    sum s = until(skew_ + at + length);
    s -= until(skew_ + at);
    std::uint32_t flags = A::state::has_positive;
    if (s.is_zero() && range_.may_have_negative_zero) {
      flags = 0;
#pragma unroll 1
      for (unsigned i = skew_ + at; i < skew_ + at + length && flags == 0; ++i) {
        if (!std::signbit(read<A>(from_, reinterpret_cast<const T*>(vectors_)[i]))) flags = A::state::has_positive;
      }
    }
    return s.scaled_state(units_, flags);
  }

 private:
  __device__ vector<T> load(unsigned j) const {
    vector<T> v;
    const uint4 words = vectors_[j];
    std::memcpy(&v, &words, sizeof v);
    return v;
  }
  /// The sum of the elements in front of element i.
  __device__ sum until(unsigned i) const {
    const unsigned j = i / size;
    sum s = shuffle_from(of_threads_below_, j == 0 ? 0 : (j - 1) / share_);
    s += before_[j];
    if (i % size != 0) {
      const auto x = read_all<A>(from_, load(j).at);
#pragma unroll
      for (unsigned k = 0; k < size - 1; ++k) {
        if (k < i % size) s.add(x.at[k], units_);
      }
    }
    return s;
  }

  const batch_elements& from_;
  sum* before_;
  unsigned warp_thread_;
  uint4* vectors_;
  unsigned skew_, count_, share_;
  typename sum::range range_;
  typename sum::units units_{range_, 1};
  sum of_threads_below_;
};

/// Folds segments that have no common units into `mine`: one thread folds a short segment.
template <class A>
__device__ void fold_apart(const batch_elements& all, const staged_segments<typename A::element>& now,
                           unsigned warp_thread, typename A::state& mine) {
  using T = typename A::element;
  constexpr unsigned size = vector<T>::size, most = 8 * size;
  const unsigned wide = __ballot_sync(0xffffffffu, now.length > most);
  if ((now.staged & ~wide) >> warp_thread & 1) {
    const T* const there = now.elements + now.at;
#pragma unroll 1
    for (unsigned j = 0; j < now.length; j += size) {
      const vector<T> v = shared_vector<T>(reinterpret_cast<const std::byte*>(there + j));
      add_some<A>(all, mine, v, static_cast<int>(now.length - j), j);
    }
  }
  __syncwarp();
  fold_wide<A>(all, now, wide, warp_thread, mine);
}

template <class A, class Write>
__global__ void __launch_bounds__(tuning::exact_segment_threads, tuning::exact_segment_blocks)
    exact_segments_kernel(const __grid_constant__ batch_elements all, unsigned per_warp,
                          const __grid_constant__ Write write) {
  using T = typename A::element;
  using sum = tile_sum<typename A::number, A::digits>;
  constexpr unsigned warps = tuning::exact_segment_threads / 32;
  __shared__ uint4 stages[warps][tuning::stage_vectors + 2];  // Vectors may begin at the end.
  alignas(sum) __shared__ std::byte memory[warps][(tuning::stage_vectors + 1) * sizeof(sum)];
  overlap_with_next_launch();
  const unsigned warp_thread = threadIdx.x % 32;
  uint4* const stage = stages[threadIdx.x / 32];
  sum* const before = reinterpret_cast<sum*>(memory[threadIdx.x / 32]);
  fold_staged<A>(all, per_warp, stage, write, [&](const staged_segments<T>& now, typename A::state& mine) {
    running_sums<A> sums(all, before, stage, now, warp_thread);
    if (sums.form(warp_max(now.length))) {
      const typename A::state s = sums.between(now.at, now.length);
      if ((now.staged >> warp_thread & 1) != 0) mine = s;
    } else {
      fold_apart<A>(all, now, warp_thread, mine);
    }
  });
}

}  // namespace fanin::cuda
