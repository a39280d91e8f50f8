// SPDX-License-Identifier: Apache-2.0
// The part of an exact sum that a block adds, in shared memory. Terms are added to 32 copies of each chunk, one for
// each thread of a warp, and each copy is in the thread's own bank, so that the threads of a warp have no bank
// conflicts. (Sums that need less memory have 16 copies, each for two threads.) Sums of whole warps are added to one
// more copy. Warps add to the same copies by atomic operations.
#pragma once

#include "backends/cuda/exact/chunk_sums.hpp"
#include "backends/cuda/exact/number_digits.cuh"
#include "backends/cuda/exact/terms.cuh"
#include "backends/cuda/exact/warp.cuh"

namespace fanin::cuda {

/// Adds `sum` to a chunk to which other threads add.
__device__ inline void atomic_add(std::int64_t& chunk, std::int64_t sum) {
  if (sum != 0) atomicAdd(reinterpret_cast<unsigned long long*>(&chunk), static_cast<unsigned long long>(sum));
}

/// The sums of a block of `Warps` warps. A word is a copy of a chunk, or of 8 bits of it, in 32 bits: it can hold
/// 32752 additions of 16 bits. Each warp drains the words after its share of these additions.
template <class T, int Warps, int Power, int WordBits = 8, int Copies = 32>
class shared_sums {
 public:
  using sums = chunk_sums<T, Power>;

  /// All threads call it. A barrier has to follow before other members are called.
  __device__ void clear() {
    auto* const words = reinterpret_cast<uint4*>(words_);
    for (unsigned i = threadIdx.x; i < word_count * Copies / 4; i += Warps * 32) words[i] = uint4{0, 0, 0, 0};
    for (unsigned i = threadIdx.x; i < word_count; i += Warps * 32) warp_words_[i] = 0;
    if (threadIdx.x == 0) seen_ = 0;
  }

  /// Adds the sum of the warp's values * 2^(low + position). A whole warp calls it, with one position >= 0. A value
  /// takes 32 additions from the warp's share.
  __device__ void add_warp(std::int64_t value, int position) {
    position += low_bits;
    const int warp_thread = static_cast<int>(threadIdx.x % 32), offset = position % 16;
    constexpr int chunks = 5;
    int sum = 0;
#pragma unroll
    for (int i = 0; i < chunks; ++i) {
      const std::int64_t digit =
          i + 1 < chunks ? (value << offset) >> (16 * i) & 0xffff : value >> 48 >> (16 - offset);
      const int sum_of_digits = warp_sum(static_cast<int>(digit));
      if (warp_thread == i) sum = sum_of_digits;
    }
    if (warp_thread < chunks) atomicAdd(warp_words_ + (position / 16 + warp_thread) * chunk_words, sum);
  }

  /// Notes that threads of the calling warp call add(), before or after that.
  __device__ void use_copies() {
    if (threadIdx.x % 32 == 0) note(copies_used);
  }

  /// The upper 32 bits of |x|.
  __device__ static unsigned high_magnitude(T x) { return high_word(detail::to_bits(x)) & 0x7fffffffu; }

  /// Adds terms of any value, infinities and NaN included, to the thread's copies of the chunks.
  template <class Term, int N>
  __device__ void add(Term (&x)[N]) {
    add<Copies>(words_ + threadIdx.x % Copies, x);
  }
  /// Adds them to the chunks of whole warps, which is slow for many threads.
  template <class Term, int N>
  __device__ void add_few(Term (&x)[N]) {
    add<1>(warp_words_, x);
  }

  /// The sum of a part of the elements, or of a part of the products.
  __device__ shared_sums& sum_of(int) { return *this; }
  __device__ shared_sums& products(int = 0) { return *this; }

  /// Sets flags of seen_bits.
  __device__ void note(unsigned bits) { atomicOr(&seen_, bits); }
  /// Notes what not_negative_zeros() returned.
  __device__ void note_terms(unsigned bits) {
    if (bits != 0) note(seen_bits::not_negative_zero);
  }

  /// Moves the sums in the words to `total`, in device memory. A whole warp calls it; other warps may add meanwhile.
  __device__ void drain(sums* total) {
    note(drained);
    __syncwarp();  // a thread sets the words of other threads to 0 too
    for_each_chunk<1>(
        true, [](int& word) { return atomicExch(&word, 0); },
        [&](int i, std::int64_t sum) { atomic_add(total->chunk[i], sum); });
    __syncwarp();
  }
  static constexpr int threads_of_copy = 32 / Copies;  ///< of a warp
  /// The additions to one word after which a warp has to call drain().
  static constexpr int most_additions = 32752 / Warps;
  /// Drains if `more` additions to a word, and the `additions` since the warp's last drain, are too many together.
  __device__ void reserve(int& additions, int more, sums* total) {
    if (additions + more <= most_additions) return;
    drain(total);
    additions = 0;
  }

  /// Calls visit(i, sum) in one thread for each chunk i. All threads of the block call it, after a barrier.
  template <class Visit>
  __device__ void for_each_chunk(Visit visit) {
    for_each_chunk<Warps>((seen_ & copies_used) != 0, [](int word) { return word; }, visit);
  }
  __device__ unsigned seen() const { return seen_ & ~(copies_used | drained); }
  /// Whether a warp has called drain().
  __device__ bool has_drained() const { return (seen_ & drained) != 0; }

 private:
  using format = typename sums::format;
  static constexpr unsigned copies_used = 1u << 30, drained = 1u << 31;  ///< flags in seen_ besides seen_bits

  using bits = typename format::bits;

  __device__ static constexpr unsigned high_word(bits x) { return static_cast<unsigned>(x >> (8 * sizeof(T) - 32)); }
  /// The high word of the magnitude of the product's larger factor.
  __device__ static unsigned high_magnitude(const product<T>& p) {
    return ::max(high_magnitude(p.x), high_magnitude(p.y));
  }

  /// Adds products to the words that are Stride apart, one for each chunk.
  template <int Stride, int N>
  __device__ void add(int* words, product<T> (&x)[N]) {
    unsigned largest = 0;
#pragma unroll
    for (const product<T>& one : x) largest = ::max(largest, high_magnitude(one));
    if (largest >= high_word(format::infinity)) {
#pragma unroll
      for (product<T>& one : x) {
        if (high_magnitude(one) >= high_word(format::infinity)) note_special(one), one = {};
      }
    }
#pragma unroll
    for (const product<T>& one : x) add_finite<Stride>(words, one);
  }

  /// A finite number is +-mantissa * 2^(format::low + position).
  struct unpacked {
    bits mantissa;
    unsigned position;
    __device__ explicit unpacked(bits x) {
      constexpr unsigned one = high_word(format::implicit_one);
      const bits magnitude = x & ~format::sign;
      const unsigned above =
          ::max(high_word(magnitude), one) - one;  // Subnormal numbers have the exponent of field 1.
      mantissa = magnitude - (bits{above & ~(one - 1)} << (8 * sizeof(T) - 32));
      position = above / one;
    }
  };
  __device__ static bool is_negative(bits x) { return (x & format::sign) != 0; }

  template <int Stride>
  __device__ void add_finite(int* words, const product<T>& p) {
    const auto x = detail::to_bits(p.x), y = detail::to_bits(p.y);
    using wide = std::conditional_t<sizeof(T) == 4, std::uint64_t, detail::uint128>;
    const unpacked left(x), right(y);
    add_number<Stride, 2 * format::digits>(words, static_cast<wide>(left.mantissa) * right.mantissa,
                                           left.position + right.position, is_negative(x ^ y));
  }

  /// Adds numbers to the words that are Stride apart.
  template <int Stride, int N>
  __device__ void add(int* words, T (&x)[N]) {
    using number = number_digits<T, WordBits>;
    number parts[N];
    unsigned highest_rank = 0;
#pragma unroll
    for (int i = 0; i < N; ++i) {
      parts[i] = number(detail::to_bits(x[i]));
      highest_rank = ::max(highest_rank, parts[i].rank);
    }
    if (number::is_rare(highest_rank)) {
#pragma unroll
      for (int i = 0; i < N; ++i) {
        if (!number::is_rare(parts[i].rank) || parts[i].repair()) continue;
        note_special(x[i]);
        parts[i].clear();
      }
    }
#pragma unroll
    for (const number& one : parts) one.template add_to<Stride>(words);
  }

  /// Adds +-magnitude * 2^(low + position), with magnitude < 2^Digits, to the chunks that it overlaps.
  template <int Stride, int Digits, class Magnitude>
  __device__ static void add_number(int* words, Magnitude magnitude, unsigned position, bool negative) {
    constexpr int width = 8 * sizeof(Magnitude), chunks = (Digits + 15 + 15) / 16;
    static_assert(Digits < width && 16 * (chunks - 1) <= width);
    using signed_value = std::conditional_t<width == 128, detail::int128, std::int64_t>;
    const auto value = static_cast<signed_value>(negative ? 0 - magnitude : magnitude);
    const unsigned offset = position % 16;
    int* const word = words + position / 16 * Stride;
    const Magnitude low = static_cast<Magnitude>(value) << offset;
#pragma unroll
    for (int i = 0; i + 1 < chunks; ++i) atomicAdd(word + Stride * i, static_cast<int>(low >> (16 * i) & 0xffff));
    atomicAdd(word + Stride * (chunks - 1), static_cast<int>(value >> (16 * (chunks - 2)) >> (16 - offset)));
  }

  __device__ void note_special(T x) {
    const auto b = detail::to_bits(x);
    note_special((b & ~format::sign) == format::infinity, is_negative(b));
  }
  __device__ void note_special(const product<T>& p) {
    const auto x = detail::to_bits(p.x), y = detail::to_bits(p.y);
    const auto magnitude_x = x & ~format::sign, magnitude_y = y & ~format::sign;
    const bool is_nan =
        magnitude_x > format::infinity || magnitude_y > format::infinity || magnitude_x == 0 || magnitude_y == 0;
    note_special(!is_nan, is_negative(x ^ y));
  }
  __device__ void note_special(bool infinite, bool negative) {
    note(seen_bits::not_negative_zero | (!infinite  ? seen_bits::nan
                                         : negative ? seen_bits::minus_infinity
                                                    : seen_bits::plus_infinity));
  }

  /// The threads of `CallingWarps` warps take chunks in turn. A thread sums read(word) over the words of its chunk,
  /// of the threads' copies beginning in its own bank, so that the threads of a warp read different banks.
  template <int CallingWarps, class Read, class Visit>
  __device__ void for_each_chunk(bool with_copies, Read read, Visit visit) {
    constexpr unsigned threads = CallingWarps * 32;
#pragma unroll 1
    for (unsigned i = threadIdx.x % threads; i < sums::count; i += threads) {
      // Word 0 has half a unit and an even sum; the last word of a chunk is the first of the next one less low_bits.
      std::int64_t sum = 0;
#pragma unroll(CallingWarps == 1 ? 1 : chunk_words + low_bits)
      for (unsigned part = 0; part < chunk_words + low_bits; ++part) {
        if (low_bits != 0 && part == 0 && i > 0) continue;
        const unsigned word = chunk_words * i + part;
        std::int64_t sum_of_word = read(warp_words_[word]);
        if (with_copies) {
#pragma unroll 4
          for (unsigned copy = 0; copy < Copies; ++copy)
            sum_of_word += read(words_[Copies * word + (threadIdx.x + copy) % Copies]);
        }
        sum += sum_of_word << (word_bits * part) >> low_bits;
      }
      visit(static_cast<int>(i), sum);
    }
  }

  /// Products of two elements are cut into digits at multiples of 16 bits.
  static constexpr int word_bits = Power == 1 ? number_digits<T, WordBits>::word_bits : 16;
  static constexpr int low_bits = Power == 1 ? number_digits<T, WordBits>::low_bits : 0;
  static constexpr unsigned chunk_words = 16 / word_bits, word_count = sums::count * chunk_words + low_bits;

  alignas(16) int words_[word_count * Copies];
  int warp_words_[word_count];  ///< the words to which add_warp() adds
  unsigned seen_;
};

}  // namespace fanin::cuda
