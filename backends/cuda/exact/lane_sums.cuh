// A block's share of an exact sum, in shared memory: every lane has its own copy of each chunk, in a bank of its own,
// so that the lanes of a warp never wait for each other, and warps add with atomics.
#pragma once

#include <nv/target>

#include "backends/cuda/exact/chunk_sums.hpp"
#include "backends/cuda/exact/terms.cuh"

namespace fanin::cuda {

/// The largest of the lanes of a warp, in each lane.
__device__ inline unsigned warp_max(unsigned x) {
  NV_IF_ELSE_TARGET(NV_PROVIDES_SM_80, (return __reduce_max_sync(0xffffffffu, x);),
                    (for (unsigned distance = 16; distance > 0;
                          distance /= 2) { x = ::max(x, __shfl_xor_sync(0xffffffffu, x, distance)); } return x;))
}

/// `Warps` warps add. A word holds 32752 additions of 16 bits; each warp drains it after its share of them.
template <class T, int Warps, int Power>
class lane_sums {
 public:
  using sums = chunk_sums<T, Power>;

  /// All threads call it, and meet before anything else is called.
  __device__ void clear() {
    for (unsigned i = threadIdx.x; i < sums::count * 32; i += Warps * 32) words_[i] = 0;
    if (threadIdx.x == 0) seen_ = 0;
  }

  /// Adds +-magnitude * 2^(low + position); magnitude < 2^Digits. Beyond 64 bits, Digits <= 112.
  template <int Digits, class Magnitude>
  __device__ void add(Magnitude magnitude, int position, bool negative) {
    constexpr int chunks = (Digits + 15 + 15) / 16;
    const int offset = position % 16;
    const int sign = negative ? -1 : 1;
    int* const word = words_ + position / 16 * 32 + threadIdx.x % 32;
    const Magnitude low = magnitude << offset;
    constexpr int whole = sizeof(Magnitude) / 2;
#pragma unroll
    for (int i = 0; i < chunks; ++i) {
      const auto chunk = i < whole ? low >> (16 * i) & 0xffff : magnitude >> 1 >> (63 - offset);
      atomicAdd(word + 32 * i, sign * static_cast<int>(chunk));
    }
  }

  /// Adds one term of any value.
  __device__ void add(T x) {
    const auto bits = detail::to_bits(x);
    const bool negative = (bits & format::sign) != 0;
    const auto magnitude = bits & ~format::sign;
    if (magnitude >= format::infinity) return see_special(magnitude == format::infinity, negative);
    const unpacked parts(magnitude);
    add<format::digits>(parts.mantissa, parts.position, negative);
  }
  __device__ void add(const product<T>& p) {
    const auto x = detail::to_bits(p.x), y = detail::to_bits(p.y);
    const bool negative = ((x ^ y) & format::sign) != 0;
    const auto of_x = x & ~format::sign, of_y = y & ~format::sign;
    if (of_x >= format::infinity || of_y >= format::infinity) {
      const bool a_nan = of_x > format::infinity || of_y > format::infinity || of_x == 0 || of_y == 0;
      return see_special(!a_nan, negative);
    }
    using wide = std::conditional_t<sizeof(T) == 4, std::uint64_t, detail::uint128>;
    const unpacked left(of_x), right(of_y);
    add<2 * format::digits>(static_cast<wide>(left.mantissa) * right.mantissa, left.position + right.position,
                            negative);
  }

  __device__ void see(unsigned bits) { atomicOr(&seen_, bits); }

  /// Moves what the words hold to `total`, in device memory. A whole warp calls it, others may add meanwhile.
  __device__ void drain(sums* total) {
    __syncwarp();  // a lane empties other lanes' words too
    for_each_chunk<1>([](int& word) { return atomicExch(&word, 0); },
                      [&](int i, std::int64_t sum) { add_to(total->chunk[i], sum); });
    __syncwarp();
  }
  /// Additions to one word after which each warp has to drain.
  static constexpr int most_additions = 32752 / Warps;

  /// give(i, sum) in one thread for each chunk i. All threads call it, after all have met.
  template <class Give>
  __device__ void for_each_chunk(Give give) {
    for_each_chunk<Warps>([](int word) { return word; }, give);
  }
  __device__ unsigned seen() const { return seen_; }

  /// Adds to memory that others add to.
  __device__ static void add_to(std::int64_t& chunk, std::int64_t sum) {
    if (sum != 0) {
      atomicAdd(reinterpret_cast<unsigned long long*>(&chunk), static_cast<unsigned long long>(sum));
    }
  }

 private:
  using format = typename sums::format;

  /// A finite number's mantissa and its last bit's place over the lowest.
  struct unpacked {
    std::uint64_t mantissa;
    int position;
    __device__ explicit unpacked(typename format::bits magnitude) {
      const int biased = static_cast<int>(magnitude >> (format::digits - 1));
      const auto fraction = magnitude & (format::implicit_one - 1);
      mantissa = biased == 0 ? fraction : fraction | format::implicit_one;
      position = biased == 0 ? 0 : biased - 1;
    }
  };

  __device__ void see_special(bool infinite, bool negative) {
    see(seen_bits::numbers | (!infinite  ? seen_bits::nan
                              : negative ? seen_bits::minus_infinity
                                         : seen_bits::plus_infinity));
  }

  /// Each thread of `Together` warps adds up what read(word) gives for the copies of a chunk, beginning with the one
  /// in its own bank.
  template <int Together, class Read, class Give>
  __device__ void for_each_chunk(Read read, Give give) {
    constexpr unsigned threads = Together * 32;
#pragma unroll 1
    for (unsigned i = threadIdx.x % threads; i < sums::count; i += threads) {
      std::int64_t sum = 0;
#pragma unroll 8
      for (unsigned copy = 0; copy < 32; ++copy) sum += read(words_[32 * i + (threadIdx.x + copy) % 32]);
      give(static_cast<int>(i), sum);
    }
  }

  int words_[sums::count * 32];
  unsigned seen_;
};

}  // namespace fanin::cuda
