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
/// once. Shorter rows are copied into shared memory (segments_kernel.cuh).
inline constexpr std::uint64_t least_split_row = 5;
}  // namespace tuning

/// Whether all rows of a launch begin at boundaries of vectors, and lie at one distance.
template <class T>
FANIN_HOST_DEVICE bool are_aligned_rows(const batch_elements& all) {
  if (all.kept > 1 || reinterpret_cast<std::uintptr_t>(all.x) % 16 != 0) return false;
  return all.kept == 0 || all.axes[0].stride[0] % std::ptrdiff_t{vector<T>::size} == 0;
}

/// A vector of elements that begin anywhere. Its words are loaded into the registers that it takes: two aligned
/// vectors would take twice as many registers, and instructions that choose among their words.
template <class T>
class split_vector {
  using word = std::conditional_t<sizeof(T) == 8, unsigned long long, unsigned>;
  static constexpr unsigned words = 16 / sizeof(word);

 public:
  __device__ void load(std::uintptr_t x) {
    shift_ = static_cast<unsigned>(x) % sizeof(word);
    const auto* const from = reinterpret_cast<const word*>(x - shift_);
#pragma unroll
    for (unsigned i = 0; i < words; ++i) at_[i] = __ldg(from + i);
    if constexpr (sizeof(T) < sizeof(word)) last_ = __ldg(from + (shift_ != 0 ? words : 0));
  }
  __device__ uint4 get() const {
    uint4 found;
    if constexpr (sizeof(T) < sizeof(word)) {
      const unsigned bits = 8 * shift_;
      found = {__funnelshift_r(at_[0], at_[1], bits), __funnelshift_r(at_[1], at_[2], bits),
               __funnelshift_r(at_[2], at_[3], bits), __funnelshift_r(at_[3], last_, bits)};
    } else {
      std::memcpy(&found, at_, sizeof found);
    }
    return found;
  }

 private:
  word at_[words];
  [[maybe_unused]] unsigned last_;
  unsigned shift_;
};

/// Keeps nvcc from moving loads from `address` in front of the words, for which too few registers are left.
__device__ inline void load_after(std::uintptr_t& address, const uint4& words) {
  NV_IF_TARGET(NV_IS_DEVICE, (asm volatile(""
                                           : "+l"(address)
                                           : "r"(words.x), "r"(words.y), "r"(words.z), "r"(words.w));))
}
/// The vector of four words that were loaded for A. Without the empty instruction nvcc would keep each element of 16
/// bits in a register of its own from the load on.
template <class A>
__device__ loaded_vector<A> loaded_words(uint4 words) {
  if (sizeof(typename A::element) == 2) {
    NV_IF_TARGET(NV_IS_DEVICE, (asm volatile("" : "+r"(words.x), "+r"(words.y), "+r"(words.z), "+r"(words.w));))
  }
  loaded_vector<A> v;
  std::memcpy(&v, &words, sizeof v);
  return v;
}

/// The rows that a warp folds at once. Thread i has the address of row i, of `count` rows up to 32. `groups` threads
/// of the warp have the same place in different rows, and `group` is the number of this thread's row among them.
struct rows_of_warp {
  std::uintptr_t address;
  unsigned count, groups, group;
  /// The address of row `turn` of the thread's rows, or of the last row. All threads of the warp call it.
  __device__ std::uintptr_t address_of(unsigned turn) const {
    return __shfl_sync(0xffffffffu, address, ::min(turn * groups + group, count - 1));
  }
};

/// Loads the words v[r][k] of rows that begin anywhere: the thread has the vector of the elements from at(k) on of
/// row r. No word is loaded that ends behind the input. All threads of the warp call it.
template <class T, unsigned Rows, unsigned Vectors, class At>
__device__ void load_split_rows(const batch_elements& all, rows_of_warp rows, const At& at,
                                uint4 (&v)[Rows][Vectors]) {
  static_assert(Rows * Vectors == 8);
  unsigned bytes[Vectors];
#pragma unroll
  for (unsigned k = 0; k < Vectors; ++k) bytes[k] = at(k) * static_cast<unsigned>(sizeof(T));
  // The rows have whole vectors, so that their ends have the alignment of their beginnings.
  if (!__any_sync(0xffffffffu, rows.address % 16 != 0)) {
#pragma unroll
    for (unsigned r = 0; r < Rows; ++r) {
      const std::uintptr_t row = rows.address_of(r);
#pragma unroll
      for (unsigned k = 0; k < Vectors; ++k) v[r][k] = __ldg(reinterpret_cast<const uint4*>(row + bytes[k]));
    }
    return;
  }
  const std::uintptr_t end = rows.address + all.length * sizeof(T);
  if (sizeof(T) < 4 && __any_sync(0xffffffffu, (end + 3) / 4 * 4 > reinterpret_cast<std::uintptr_t>(all.x_end))) {
    vector<T> one_by_one[Rows][Vectors];  // in local memory, so that this rare code is short
#pragma unroll 1
    for (unsigned r = 0; r < Rows; ++r) {
      const auto* const row = reinterpret_cast<const T*>(rows.address_of(r));
#pragma unroll 1
      for (unsigned k = 0; k < Vectors; ++k) {
#pragma unroll
        for (int i = 0; i < vector<T>::size; ++i) one_by_one[r][k].at[i] = row[at(k) + i];
      }
    }
    std::memcpy(v, one_by_one, sizeof v);
    return;
  }
  std::uintptr_t row = 0;
  const auto load = [&]<unsigned First, unsigned Count>() {
    split_vector<T> parts[Count];
#pragma unroll
    for (unsigned n = 0; n < Count; ++n) {
      const unsigned r = (First + n) / Vectors, k = (First + n) % Vectors;
      if (k == 0) row = rows.address_of(r);
      parts[n].load(row + bytes[k]);
    }
#pragma unroll
    for (unsigned n = 0; n < Count; ++n) {
      uint4& words = v[(First + n) / Vectors][(First + n) % Vectors];
      words = parts[n].get();
      if (sizeof(T) < 4) load_after(rows.address, words);
    }
  };
  if constexpr (sizeof(T) < 4) {
    load.template operator()<0, 4>();
    load.template operator()<4, 4>();
  } else {
    load.template operator()<0, 8>();
  }
}

}  // namespace fanin::cuda
