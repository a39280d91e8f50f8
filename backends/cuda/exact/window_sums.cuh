// A warp's share of an exact sum while its elements fit into a window: the scheme of backends/cpu/exact.cpp, with
// one window for each warp. What does not fit goes to the block's lane_sums one by one. Products are added as one
// double (f32) or as two, of which the second is what rounding the first one lost (f64). docs/numerics.md has the
// proof.
#pragma once

#include "backends/cuda/exact/batches.cuh"
#include "backends/cuda/exact/lane_sums.cuh"
#include "backends/cuda/exact/terms.cuh"

namespace fanin::cuda {

/// All members but the constructor are called by whole warps.
template <class Terms, int Warps, int Most>
class window_sums {
  using T = typename Terms::element;
  using term = typename Terms::term;
  using terms = typename Terms::vector;
  static constexpr int batch_elements = Most * vector<T>::size;
  static constexpr int Power = Terms::power;
  using sums = chunk_sums<T, Power>;
  using block_sums = lane_sums<T, Warps, Power>;

 public:
  __device__ window_sums(const Terms& from, block_sums& block, sums* total)
      : from_(from), block_(block), total_(total) {}

  /// Whole batches that one warp can add, with one more and an element, without draining the block: each takes at
  /// most `batch_elements` additions and those of a flush, which are fewer.
  static constexpr int most_without_drain = block_sums::most_additions / (2 * batch_elements);

  /// Adds all of loaded_batches or copied_batches.
  template <class Batches>
  __device__ void add(Batches&& batches) {
    bool window_is_new = false;
    while (batches.there()) {
      if (wild_ == 0 && !window_is_ready()) {
        look(batches);
        window_is_new = true;
      }
      bool added = false;
      if (fits_) {
        added = add_if_it_fits(batches);
      } else {
        for_each_vector([&](int k) { batches.take(k); });
      }
      if (!added && numbers_) {
        fits_ = false;
        if (wild_ == 0 && !window_is_new) {
          batches.read_again();
          continue;
        }
        wild_ = wild_ == 0 ? wild_batches : wild_ - 1;
        add_wild(batches);
      }
      window_is_new = false;
      batches.advance();
    }
  }

  /// Adds the term of one element of each lane that has one.
  __device__ void add_end(const T* x, bool there) {
    will_add(1);
    if (!there) return;
    const term last = from_.load_one(x);
    block_.add(last);
    if (is_number(last)) block_.see(seen_bits::numbers);
  }

  /// Leaves everything with the block.
  __device__ void finish() {
    flush();
    if (numbers_) block_.see(seen_bits::numbers);
  }

 private:
  static constexpr unsigned all_lanes = 0xffffffffu;
  /// f32: what is left of each element below the first level has so few bits that a batch's can be added as they are.
  static constexpr bool adds_rests = sizeof(T) == 4 && Power == 1;
  static constexpr bool adds_pairs = sizeof(T) == 8 && Power == 2;
  static constexpr int levels = adds_rests ? 2 : 3;
  static constexpr int level_step = adds_rests ? 46 : 51;
  static constexpr int headroom = 8;  ///< binades
  /// Of any window: sums stay within the chunks, and f64 within its exponents. An f32 infinity has a window too, but
  /// leaves it in the first t.
  static constexpr int highest_top = sums::high + 1 + headroom < 1023 ? sums::high + 1 + headroom : 1023;
  /// Of a window for pairs: its last unit is over 2^-968, from where on a square's second double is exact.
  static constexpr int lowest_top = adds_pairs ? -812 : -4 * 1024;
  static constexpr int most_batches = 4032 / batch_elements;  ///< each element adds at most 2^51 units
  static constexpr int wild_batches = 15;                     ///< until a window is tried again
  static_assert(batch_elements <= 32 && batch_elements <= block_sums::most_additions);

  template <class F>
  __device__ static void for_each_vector(F f) {
#pragma unroll
    for (int k = 0; k < Most; ++k) f(k);
  }

  __device__ bool window_is_ready() const { return fits_ && batches_ < most_batches; }

  __device__ int exponent(int level) const {
    constexpr int least = (sums::low < -1074 ? -1074 : sums::low) + 52;
    return ::max(top_ - level * level_step, least);
  }
  __device__ double magic(int level) const { return __hiloint2double((exponent(level) + 1023) << 20 | 0x80000, 0); }

  /// Of the bits but the sign.
  __device__ static unsigned not_zero(double x) { return 2u * __double2hiint(x) | __double2loint(x); }

  /// Takes from `rest` what it has of whole units of a level and adds it to `part`. Returns the sum that did it.
  __device__ double extract(int level, double& rest, std::uint64_t& part) const {
    const double t = magic(level) + rest;
    part += static_cast<std::uint64_t>(__double_as_longlong(t));
    rest += magic(level) - t;  // +0 if nothing is left, of -0 too
    return t;
  }

  /// Takes a batch and adds it if all of the warp's fits into the window; else nothing.
  template <class Batches>
  __device__ bool add_if_it_fits(Batches& batches) {
    constexpr int levels_of_each = adds_rests ? 1 : levels;
    std::uint64_t part[levels] = {};
    double rests[vector<T>::size] = {};
    unsigned moved = 0, left = 0, least = ~0u;
    const unsigned first = __double2hiint(magic(0));
    for_each_vector([&](int k) {
      const terms v = batches.take(k);
#pragma unroll
      for (int i = 0; i < vector<T>::size; ++i) {
        const term one = v.at(i);
        double rest = value_of(one);
        [[maybe_unused]] double lost = 0;
        if constexpr (adds_pairs) {
          lost = __fma_rn(one.x, one.y, -rest);
          left |= 2u * __double2hiint(rest) == 0 ? ::min(not_zero(one.x), not_zero(one.y)) : 0;  // underflow
        }
        moved |= __double2hiint(extract(0, rest, part[0])) ^ first;
#pragma unroll
        for (int level = 1; level < levels_of_each; ++level) extract(level, rest, part[level]);
        if constexpr (adds_rests) {
          rests[i] += rest;
          least = ::min(least, 2 * detail::to_bits(one) - 1);  // 0 counts as large
        } else {
          if constexpr (adds_pairs) {  // the first level has no unit as small as `lost`
#pragma unroll
            for (int level = 1; level < levels; ++level) extract(level, lost, part[level]);
          }
          left |= __double2hiint(rest) | __double2loint(rest) | __double2hiint(lost) | __double2loint(lost);
        }
      }
    });
    if constexpr (adds_rests) {
      double rest = (rests[0] + rests[1]) + (rests[2] + rests[3]);
      extract(1, rest, part[1]);
      constexpr int below_top = 75, bias = 127;
      const int lowest = exponent(0) - below_top + bias;
      left = lowest > 1 && least < (static_cast<unsigned>(lowest) << 24) - 1;
    }
    constexpr unsigned sign_and_exponent = 0xfff00000u;
    if (!__all_sync(all_lanes, (moved & sign_and_exponent) == 0 && left == 0)) return false;
#pragma unroll
    for (int level = 0; level < levels; ++level) sum_[level] += part[level];
    ++batches_;
    return true;
  }

  template <class Batches>
  __device__ void add_wild(const Batches& batches) {
    will_add(batch_elements);
    batches.for_each_again([&](const terms& v) {
#pragma unroll
      for (int i = 0; i < vector<T>::size; ++i) block_.add(v.at(i));
    });
  }

  /// Chooses a window for a batch, and looks whether its terms are numbers.
  template <class Batches>
  __device__ void look(const Batches& batches) {
    using number = std::conditional_t<Power == 1, T, double>;
    using format = detail::float_format<number>;
    constexpr int below_leading = 8 * sizeof(number) - 32;
    flush();
    unsigned largest = 0;
    for_each_vector([&](int k) {
      const terms v = batches.at(k);
#pragma unroll
      for (int i = 0; i < vector<T>::size; ++i) {
        const auto bits = detail::to_bits(static_cast<number>(value_of(v.at(i))));
        largest = ::max(largest, static_cast<unsigned>(bits >> below_leading) & 0x7fffffffu);
        numbers_ |= is_number(v.at(i));
      }
    });
    numbers_ = __any_sync(all_lanes, numbers_);
    const int biased = static_cast<int>(warp_max(largest) >> (format::digits - 1 - below_leading));
    const int tightest = biased - format::high + 3;  // terms are below half of 2^tightest
    top_ = ::max(::min(tightest + headroom, highest_top), lowest_top);
    fits_ = numbers_ && tightest <= highest_top;
  }

  __device__ void flush() {
    if (batches_ == 0) return;
    will_add(levels);
#pragma unroll
    for (int level = 0; level < levels; ++level) {
      const int of_batch = adds_rests && level == 1 ? 1 : batch_elements * (adds_pairs && level > 0 ? 2 : 1);
      const int additions = batches_ * of_batch;
      const auto bits = static_cast<std::uint64_t>(__double_as_longlong(magic(level)));
      const auto total = static_cast<std::int64_t>(sum_[level] - static_cast<unsigned>(additions) * bits);
      const bool negative = total < 0;
      block_.template add<63>(negative ? 0 - static_cast<std::uint64_t>(total) : static_cast<std::uint64_t>(total),
                              exponent(level) - 52 - sums::low, negative);
      sum_[level] = 0;
    }
    batches_ = 0;
  }

  __device__ void will_add(int additions) {
    if (additions_ + additions > block_sums::most_additions) {
      block_.drain(total_);
      additions_ = 0;
    }
    additions_ += additions;
  }

  const Terms& from_;
  block_sums& block_;
  sums* total_;
  std::uint64_t sum_[levels] = {};
  int top_ = 0;
  int batches_ = 0;       ///< of this lane in sum_
  int additions_ = 0;     ///< to one word of the block, since this warp has drained it
  int wild_ = 0;          ///< batches to take without a window
  bool fits_ = false;     ///< whether there is a window
  bool numbers_ = false;  ///< whether there was anything but -0
};

}  // namespace fanin::cuda
