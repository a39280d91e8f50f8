// SPDX-License-Identifier: Apache-2.0
// A warp's fold of elements that lie one after another, at any alignment.
#pragma once

#include "backends/cuda/batch/add_vector.cuh"

namespace fanin::cuda {

namespace tuning {
inline constexpr unsigned line_loads = 6;  ///< vectors that a lane loads before it adds the first
}  // namespace tuning

/// Vectors of 16 bytes that begin `bytes`, less than a warp's row, behind those that its lanes hold, lane by lane and
/// row by row.
template <class T>
class shifted_rows {
 public:
  __device__ shifted_rows(unsigned bytes, unsigned lane)
      : lanes_(bytes / 16), words_(bytes % 16 / 4), bits_(bytes % 4 * 8), lane_(lane) {}

  /// The words in the order in which the lane that gets the first of them, and then the one in front of it, need
  /// them.
  __device__ uint4 rotated(uint4 v) const {
    if ((words_ & 2) != 0) v = {v.z, v.w, v.x, v.y};
    if ((words_ & 1) != 0) v = {v.y, v.z, v.w, v.x};
    return v;
  }
  /// From the rotated words of a row and of the next one. All lanes of the warp call it.
  __device__ vector<T> get(const uint4& row, const uint4& next) const {
    uint4 found{of_lane_above(row.x, next.x, lanes_), of_lane_above(row.y, next.y, lanes_ + (words_ > 2 ? 1 : 0)),
                of_lane_above(row.z, next.z, lanes_ + (words_ > 1 ? 1 : 0)),
                of_lane_above(row.w, next.w, lanes_ + (words_ > 0 ? 1 : 0))};
    if constexpr (sizeof(T) < 4) {
      const unsigned last = of_lane_above(row.x, next.x, lanes_ + 1);
      found = {__funnelshift_r(found.x, found.y, bits_), __funnelshift_r(found.y, found.z, bits_),
               __funnelshift_r(found.z, found.w, bits_), __funnelshift_r(found.w, last, bits_)};
    }
    vector<T> v;
    std::memcpy(&v, &found, sizeof v);
    return v;
  }

 private:
  __device__ unsigned of_lane_above(unsigned row, unsigned next, unsigned distance) const {
    return __shfl_sync(0xffffffffu, lane_ < distance ? next : row, (lane_ + distance) % 32);
  }
  unsigned lanes_, words_, bits_, lane_;
};

/// The state of a lane's slot: x[0], ..., x[count - 1] have the positions from `position` on; `count` is not 0. The
/// input ends at `end`.
template <class A, class T = typename A::element>
__device__ typename A::state fold_slot(const T* x, unsigned count, std::uint64_t position, const void* end,
                                       unsigned lane) {
  constexpr unsigned size = vector<T>::size, loads = tuning::line_loads, line = 128;
  const auto address = reinterpret_cast<std::uintptr_t>(x);
  const unsigned skew = static_cast<unsigned>(address % line);
  const auto* const aligned = reinterpret_cast<const uint4*>(address - skew);
  // A vector that ends behind the input is not loaded, and the elements in it are added one by one.
  const auto vectors = static_cast<unsigned>((skew + std::uint64_t{count} * sizeof(T) + 15) / 16);
  const bool whole = static_cast<const void*>(aligned + vectors) <= end;
  const unsigned loaded = whole ? vectors : vectors - 1;
  const unsigned in_loaded = whole                 ? count
                             : loaded * 16 <= skew ? 0
                                                   : (loaded * 16 - skew) / static_cast<unsigned>(sizeof(T));
  const shifted_rows<T> shifted(skew, lane);
  lane_state<A> of_lane;
  const unsigned last = loaded - 1;  // Lanes beyond it load that vector instead: a branch would cost more.
  uint4 row{};
  if (loaded > 0) row = shifted.rotated(__ldg(aligned + ::min(::max(lane, skew / 16), last)));
#pragma unroll 1
  for (unsigned first = lane; (first - lane) * size < in_loaded; first += 32 * loads) {
    uint4 next[loads];
#pragma unroll
    for (unsigned k = 0; k < loads; ++k) next[k] = __ldg(aligned + ::min(first + (k + 1) * 32, last));
#pragma unroll
    for (unsigned k = 0; k < loads; ++k) {
      const unsigned mine = (first + k * 32) * size, of_row = mine - lane * size;
      if (of_row >= in_loaded) break;
      next[k] = shifted.rotated(next[k]);
      const vector<T> v = shifted.get(row, next[k]);
      if (of_row + 32 * size <= in_loaded) {
        of_lane.add(v, position + mine);
      } else if (mine < in_loaded) {
        of_lane.add(v, static_cast<int>(in_loaded - mine), position + mine);
      }
      row = next[k];
    }
  }
  typename A::state s = of_lane.get();
#pragma unroll 1
  for (unsigned i = in_loaded; i < count; ++i) {
    if (i / size % 32 == lane) add_at<A>(s, position + i, x[i]);
  }
  return s;
}

}  // namespace fanin::cuda
