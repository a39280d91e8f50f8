// SPDX-License-Identifier: Apache-2.0
// Loads of short rows that consist of whole vectors and begin anywhere: off a boundary of 16 bytes, at distances that
// are no multiples of it, or on several axes.
#pragma once

#include <nv/target>

#include "backends/cuda/batch/add_vector.cuh"
#include "backends/cuda/batch/items.cuh"
#include "backends/cuda/batch/row_parts.cuh"

namespace fanin::cuda {

namespace tuning {
/// The least vectors of a row that begins anywhere and is loaded by its threads. A warp then folds up to 32 rows at
/// once. Shorter ones are copied into shared memory (segments_kernel.cuh).
inline constexpr std::uint64_t least_split_row = 5;
}  // namespace tuning

/// Whether all rows of a launch begin at boundaries of vectors, and lie at one distance.
template <class T>
FANIN_HOST_DEVICE bool are_aligned_rows(const batch_elements& all) {
  if (all.kept > 1 || reinterpret_cast<std::uintptr_t>(all.x) % 16 != 0) return false;
  return all.kept == 0 || all.axes[0].stride[0] % std::ptrdiff_t{vector<T>::size} == 0;
}

/// A vector of elements that begin anywhere. It is put together from the two aligned vectors that have its elements.
template <class T>
class split_vector {
 public:
  /// `to_second`: the bytes between the two vectors, or 0 if the first one has all elements.
  __device__ void load(const T* x, unsigned to_second) {
    shift_ = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(x) % 16);
    const std::byte* const aligned = reinterpret_cast<const std::byte*>(x) - shift_;
    first_ = __ldg(reinterpret_cast<const uint4*>(aligned));
    second_ = __ldg(reinterpret_cast<const uint4*>(aligned + to_second));
  }
  /// The words, by selections: nvcc would load one vector after another if there were branches in between.
  __device__ uint4 get() const {
    unsigned w[] = {first_.x, first_.y, first_.z, first_.w, second_.x, second_.y, second_.z, second_.w};
#pragma unroll
    for (int i = 0; i < 6; ++i) w[i] = (shift_ & 8) != 0 ? w[i + 2] : w[i];
#pragma unroll
    for (int i = 0; i < 5; ++i) w[i] = (shift_ & 4) != 0 ? w[i + 1] : w[i];
    if constexpr (sizeof(T) < 4) {
#pragma unroll
      for (int i = 0; i < 4; ++i) w[i] = __funnelshift_r(w[i], w[i + 1], 8 * (shift_ & 3));
    }
    return {w[0], w[1], w[2], w[3]};
  }

 private:
  uint4 first_, second_;
  unsigned shift_;
};
/// Elements of 4 and 8 bytes are loaded one by one, into the registers of the vector.
template <class T>
requires(sizeof(T) >= 4) class split_vector<T> {
 public:
  __device__ void load(const T* x, unsigned) {
#pragma unroll
    for (int i = 0; i < vector<T>::size; ++i) at_[i] = __ldg(x + i);
  }
  __device__ uint4 get() const {
    uint4 words;
    std::memcpy(&words, at_, sizeof words);
    return words;
  }

 private:
  T at_[vector<T>::size];
};

/// Keeps nvcc from moving loads from `x` in front of the words, for which too few registers are left.
template <class T>
__device__ void load_after(const T*& x, uint4& words) {
  NV_IF_TARGET(NV_IS_DEVICE, (asm volatile(""
                                           : "+l"(x), "+r"(words.x), "+r"(words.y), "+r"(words.z), "+r"(words.w));))
}

/// The rows that a warp folds at once. Thread i has the offset of row i, of `count` rows up to 32. `groups` threads
/// of the warp have the same place in different rows, and `group` is the number of this thread's row among them.
struct rows_of_warp {
  std::int64_t offset;
  unsigned count, groups, group;
  /// The offset of row `turn` of the thread's rows, or of the last row. All threads of the warp call it.
  __device__ std::int64_t offset_of(unsigned turn) const {
    return __shfl_sync(0xffffffffu, offset, ::min(turn * groups + group, count - 1));
  }
};

/// Loads the words v[r][k] of rows that begin anywhere: the thread has the vector of the elements from at(k) on of
/// row r. No vector is loaded that ends behind the input. All threads of the warp call it.
template <class T, unsigned Rows, unsigned Vectors, class At>
__device__ void load_split_rows(const batch_elements& all, const rows_of_warp& rows, const At& at,
                                uint4 (&v)[Rows][Vectors]) {
  const T* const x = static_cast<const T*>(all.x);
  const auto end = reinterpret_cast<std::uintptr_t>(x + rows.offset + all.length);
  if (__any_sync(0xffffffffu, end / 16 * 16 + 16 > reinterpret_cast<std::uintptr_t>(all.x_end))) {
    vector<T> one_by_one[Rows][Vectors];  // in local memory, so that this rare code is short
#pragma unroll 1
    for (unsigned r = 0; r < Rows; ++r) {
      const T* const row = x + rows.offset_of(r);
#pragma unroll 1
      for (unsigned k = 0; k < Vectors; ++k) {
#pragma unroll
        for (int i = 0; i < vector<T>::size; ++i) one_by_one[r][k].at[i] = row[at(k) + i];
      }
    }
    std::memcpy(v, one_by_one, sizeof v);
    return;
  }
  // The length is a multiple of a vector's.
  const unsigned to_second = __any_sync(0xffffffffu, end % 16 != 0) ? 16 : 0;
  const T *begin = x, *row = x;
  const auto load = [&]<unsigned First, unsigned Count>() {
    split_vector<T> parts[Count];
#pragma unroll
    for (unsigned n = 0; n < Count; ++n) {
      const unsigned r = (First + n) / Vectors, k = (First + n) % Vectors;
      if (k == 0) row = begin + rows.offset_of(r);
      parts[n].load(row + at(k), to_second);
    }
#pragma unroll
    for (unsigned n = 0; n < Count; ++n) {
      uint4& words = v[(First + n) / Vectors][(First + n) % Vectors];
      words = parts[n].get();
      load_after(begin, words);
    }
  };
  static_assert(Rows * Vectors == 8);
  if constexpr (sizeof(T) >= 4) {
    load.template operator()<0, 8>();
  } else {  // Registers for the parts of four vectors are free as long as there are few whole ones.
    load.template operator()<0, 4>();
    load.template operator()<4, 2>();
    load.template operator()<6, 2>();
  }
}

}  // namespace fanin::cuda
