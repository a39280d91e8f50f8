// SPDX-License-Identifier: Apache-2.0
// Layer norms and RMS norms of rows, each in one kernel that reads a row once and keeps it in registers. Statistics
// are rounded once from the exact ones. Each later step is rounded as by the operators of PyTorch one after another,
// so that the results have the bits of these.
#include <cstdint>

#include <fanin/cuda/device_scope.cuh>
#include <fanin/error.hpp>

#include "python/fanin/torch/row_statistics.cuh"
#include "python/fanin/torch/row_vectors.cuh"

/// A call: what python/fanin/torch/_whole_rows.py hands over. All rows have `length` elements, one after another.
struct fanin_norm_rows {
  const void *x, *weight, *bias;  ///< rows of `type`, a row of `weight_type` and of `bias_type`, or null
  void* out;                      ///< rows of `type`
  float *mean, *scale;            ///< numbers for each row; `mean` is null in RMS norms
  std::uint64_t rows, length;
  float inverse_length, eps;
  std::int32_t type, weight_type, bias_type;
};

namespace {

/// The most f32 of a row of which threads have four words each. Longer rows took less time with eight.
constexpr std::uint64_t of_short_rows = 1 << 13;

/// Elements of a row of weights as floats: as many as a word of 16 bytes has that are of type T.
template <class T, class Weight>
__device__ void load_weights(const void* from, unsigned place, float* to) {
  constexpr unsigned count = 16 / sizeof(T);
  struct alignas(16) {
    Weight at[count];
  } some;
  constexpr unsigned bytes = sizeof some.at;
  if constexpr (bytes == 8) {
    const uint2 word = __ldg(static_cast<const uint2*>(from) + place);
    std::memcpy(&some, &word, bytes);
  } else {
    for (unsigned i = 0; i < bytes / 16; ++i) {
      const uint4 word = __ldg(static_cast<const uint4*>(from) + place * (bytes / 16) + i);
      std::memcpy(reinterpret_cast<char*>(&some) + 16 * i, &word, sizeof word);
    }
  }
  for (unsigned i = 0; i < count; ++i) to[i] = static_cast<float>(some.at[i]);
}
/// Elements of a row of weights of any type.
template <class T>
__device__ void load_weights(const void* from, std::int32_t type, unsigned place, float* to) {
  if (type == FANIN_BF16) return load_weights<T, __nv_bfloat16>(from, place, to);
  if (type == FANIN_F16) return load_weights<T, __half>(from, place, to);
  load_weights<T, float>(from, place, to);
}

/// The elements of a row that a thread has: words of 16 bytes. A word behind the end of the row has -0.
template <class T, unsigned Words>
class part_of_row {
 public:
  static constexpr unsigned of_word = 16 / sizeof(T);

  __device__ explicit part_of_row(const fanin_norm_rows& all)
      : count_(static_cast<unsigned>(all.length / of_word)), first_(std::uint64_t{blockIdx.x} * count_) {
    constexpr unsigned zeros = sizeof(T) == 2 ? 0x80008000 : 0x80000000;
#pragma unroll
    for (unsigned k = 0; k < Words; ++k) {
      word_[k] = place(k) < count_ ? __ldg(static_cast<const uint4*>(all.x) + first_ + place(k))
                                   : uint4{zeros, zeros, zeros, zeros};
    }
  }

  /// Calls f(element as a double) for each element.
  template <class F>
  __device__ void for_each_widened(const F& f) const {
#pragma unroll
    for (const uint4& word : word_) {
      T at[of_word];
      std::memcpy(at, &word, sizeof at);
      for (const T x : at) f(widened(x));
    }
  }
  /// Hides where the elements came from, so that the compiler forms doubles again, and keeps none of them.
  __device__ void hide() {
    for (uint4& word : word_) asm("" : "+r"(word.x), "+r"(word.y), "+r"(word.z), "+r"(word.w));
  }
  /// Stores the elements after f(elements of a word as floats, place of the word in the row).
  template <class F>
  __device__ void store(void* to, const F& f) const {
#pragma unroll
    for (unsigned k = 0; k < Words; ++k) {
      if (place(k) >= count_) continue;
      T at[of_word];
      std::memcpy(at, &word_[k], sizeof at);
      float x[of_word];
      for (unsigned i = 0; i < of_word; ++i) x[i] = static_cast<float>(at[i]);
      f(x, place(k));
      for (unsigned i = 0; i < of_word; ++i) at[i] = static_cast<T>(x[i]);
      uint4 word;
      std::memcpy(&word, at, sizeof word);
      static_cast<uint4*>(to)[first_ + place(k)] = word;
    }
  }

 private:
  __device__ static unsigned place(unsigned k) { return threadIdx.x + k * blockDim.x; }
  unsigned count_;
  std::uint64_t first_;
  uint4 word_[Words];
};

/// Stores the norm of a row. Weights and biases have the type T if `as_row`.
template <bool as_row, class T, unsigned Words>
__device__ void store_norm(const fanin_norm_rows& all, const part_of_row<T, Words>& part, const row_statistics& found,
                           float scale) {
  part.store(all.out, [&](float* x, unsigned place) {
    constexpr unsigned count = part_of_row<T, Words>::of_word;
    float factor[count];
    const auto load = [&](const void* from, std::int32_t type) {
      if constexpr (as_row) {
        load_weights<T, T>(from, place, factor);
      } else {
        load_weights<T>(from, type, place, factor);
      }
    };
    for (unsigned i = 0; i < count; ++i) x[i] = (all.mean != nullptr ? x[i] - found.mean : x[i]) * scale;
    if (all.weight != nullptr) {
      load(all.weight, all.weight_type);
      for (unsigned i = 0; i < count; ++i) x[i] *= factor[i];
    }
    if (all.bias != nullptr) {
      load(all.bias, all.bias_type);
      for (unsigned i = 0; i < count; ++i) x[i] += factor[i];
    }
  });
}

template <class T, unsigned Words>
__global__ void __launch_bounds__(most_norm_threads, 1)
    norm_rows_kernel(const __grid_constant__ fanin_norm_rows all, const double inverse) {
  __shared__ alignas(norm_memory) unsigned char memory[sizeof(norm_memory)];
  norm_memory& shared = reinterpret_cast<norm_memory&>(memory);
  const bool centred = all.mean != nullptr;
  part_of_row<T, Words> part(all);
  plain_sums mine;
  part.for_each_widened([&](double x) { mine.add(x); });
  const plain_sums sums = merged_in_block(mine, shared.plain);
  const auto find = [&](bool is_sum_exact) {
    if (threadIdx.x < 32) {
      row_statistics found;
      const bool certain = finds_statistics(sums, all.length, inverse, centred, is_sum_exact, found);
      if (threadIdx.x == 0) shared.found = found, shared.is_certain = certain;
      if (threadIdx.x == 0 && !certain) shared.base = base_of_units(sums, all.length, inverse);
    }
    __syncthreads();
  };
  find(false);
  if (!shared.is_certain && centred) {
    bool are_units = true;
    part.hide();
    part.for_each_widened([&](double x) { are_units &= (x + shared.base) - shared.base == x; });
    if (__syncthreads_and(are_units) != 0) find(true);
  }
  if (!shared.is_certain) {
    careful_statistics<T>::find(static_cast<const T*>(all.x) + blockIdx.x * all.length, all.length, centred, shared);
    part = part_of_row<T, Words>(all);  // A row that lives across the call would leave the registers in each block.
  }
  const row_statistics found = shared.found;
  const float scale = rsqrtf((centred ? found.second : found.second * all.inverse_length) + all.eps);
  if (threadIdx.x == 0) {
    all.scale[blockIdx.x] = scale;
    if (centred) all.mean[blockIdx.x] = found.mean;
  }
  const auto is_as_row = [&](const void* weights, std::int32_t type) {
    return weights == nullptr || type == all.type;
  };
  if (is_as_row(all.weight, all.weight_type) && is_as_row(all.bias, all.bias_type)) {
    store_norm<true>(all, part, found, scale);
  } else {
    store_norm<false>(all, part, found, scale);
  }
}

/// The threads of a block have `Words` words of 16 bytes each.
template <class T, unsigned Words>
void launch(const fanin_norm_rows& all, cudaStream_t stream) {
  constexpr unsigned of_warp = 32 * Words * part_of_row<T, Words>::of_word;
  static_assert(of_warp <= 32 * most_norm_elements);
  const std::uint64_t warps = (all.length + of_warp - 1) / of_warp;
  if (warps > norm_memory::most_warps) throw fanin::unsupported("a row has more than 2^15 elements");
  norm_rows_kernel<T, Words><<<static_cast<unsigned>(all.rows), static_cast<unsigned>(32 * warps), 0, stream>>>(
      all, 1.0 / static_cast<double>(all.length));
  fanin::device_code::check(cudaGetLastError(), "launching a norm of rows");
}

}  // namespace

/// Enqueues the call on a stream of a device. `length` is a multiple of 8 up to 2^15, rows are aligned to 16 bytes,
/// and there are fewer than 2^31 rows.
extern "C" FANIN_API fanin_status fanin_enqueue_norm_rows(const fanin_norm_rows* all, std::int32_t device,
                                                          void* stream) {
  return fanin::c::guarded([&] {
    const fanin::device_code::device_scope scope(device);
    const auto on = static_cast<cudaStream_t>(stream);
    if (all->type == FANIN_BF16) return launch<__nv_bfloat16, 4>(*all, on);
    if (all->type == FANIN_F16) return launch<__half, 4>(*all, on);
    all->length > of_short_rows ? launch<float, 8>(*all, on) : launch<float, 4>(*all, on);
  });
}
