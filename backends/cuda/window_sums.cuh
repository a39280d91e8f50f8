// A thread's share of an exact sum while its elements fit into a window: the scheme of backends/leaf/exact.cpp, with
// one window for each warp. What does not fit goes to the block's lane_sums one by one.
#pragma once

#include "backends/cuda/lane_sums.cuh"
#include "backends/cuda/tuning.hpp"
#include "backends/cuda/vectors.cuh"

namespace fanin::cuda {

/// The vectors that a lane takes at once, `count` of them, of at most `most`.
template <class T>
struct batch {
  static constexpr int most = tuning::exact_shape.loads;
  static constexpr int elements = most * vector<T>::size;
  const vector<T>* first;
  std::uint64_t stride;
  int count;

  __device__ vector<T> at(int i) const { return i < count ? load(first + i * stride) : nothing<T>(); }
};

/// All members but the constructor are called by whole warps.
template <class T, int Warps>
class window_sums {
  using sums = chunk_sums<T>;

 public:
  __device__ window_sums(lane_sums<T, Warps>& block, sums* total) : block_(block), total_(total) {}

  /// Chooses a window for elements like these.
  __device__ void look_at(const vector<T> (&v)[batch<T>::most]) {
    look([&](int i) { return v[i]; });
  }

  /// Adds the batch x, which was loaded to `ahead` before. next(i) fills the place of each vector as soon as it is
  /// free.
  template <class Next>
  __device__ void add(const batch<T>& x, vector<T> (&ahead)[batch<T>::most], Next next) {
    const auto take = [&](int i) {
      const vector<T> taken = ahead[i];
      ahead[i] = next(i);
      return taken;
    };
    if (wild_ > 0) {
      --wild_;
      will_add(batch<T>::elements);
#pragma unroll
      for (int i = 0; i < batch<T>::most; ++i) add_wild(take(i));
    } else if (!add_windowed<batch<T>::most>(take)) {
      add_again(x);
    }
    if (!numbers_) look([&](int i) { return x.at(i); });
  }

  /// Adds one element of each lane that has one.
  __device__ void add_end(const T* x, bool there) {
    will_add(1);
    if (!there) return;
    block_.add(*x);
    if (detail::to_bits(*x) != sums::format::sign) block_.see(seen_bits::numbers);
  }

  /// Leaves everything with the block.
  __device__ void finish() {
    flush();
    if (numbers_) block_.see(seen_bits::numbers);
  }

 private:
  static constexpr int levels = sizeof(T) == 8 ? 3 : 2;
  static constexpr int level_step = 51;
  static constexpr int headroom = 8;  ///< binades
  /// Of any window, also where no window fits: sums stay within the chunks, and f64 within its exponents.
  static constexpr int highest_top =
      sums::format::high + 1 + headroom < 1023 ? sums::format::high + 1 + headroom : 1023;
  static constexpr int most_count = 4032;  ///< each adds at most 2^51 units
  static constexpr int wild_batches = 15;  ///< until the window is tried again
  static_assert(batch<T>::elements <= most_count && batch<T>::elements <= lane_sums<T, Warps>::most_additions);

  __device__ int exponent(int level) const {
    constexpr int least = sums::format::low + 52;
    return ::max(top_ - level * level_step, least);
  }
  __device__ double magic(int level) const { return __hiloint2double((exponent(level) + 1023) << 20 | 0x80000, 0); }

  /// Adds the vectors take(0), take(1), ... if all of the warp fit into the window; else nothing.
  template <int Unrolled, class Take>
  __device__ bool add_windowed(Take take) {
    std::uint64_t part[levels] = {};
    unsigned moved = 0, left = 0;
    const unsigned first = __double2hiint(magic(0));
#pragma unroll Unrolled
    for (int i = 0; i < batch<T>::most; ++i) {
      const vector<T> v = take(i);
#pragma unroll
      for (const T element : v.at) {
        double rest = element;
#pragma unroll
        for (int level = 0; level < levels; ++level) {
          const double t = magic(level) + rest;
          part[level] += static_cast<std::uint64_t>(__double_as_longlong(t));
          if (level == 0) moved |= __double2hiint(t) ^ first;
          rest += magic(level) - t;  // +0 if nothing is left, of -0 too
        }
        left |= __double2hiint(rest) | __double2loint(rest);
      }
    }
    constexpr unsigned sign_and_exponent = 0xfff00000u;
    if (!__all_sync(0xffffffffu, (moved & sign_and_exponent) == 0 && left == 0)) return false;
#pragma unroll
    for (int level = 0; level < levels; ++level) sum_[level] += part[level];
    count_ += batch<T>::elements;
    if (count_ > most_count - batch<T>::elements) flush();
    return true;
  }

  /// Adds a batch that did not fit, by a window of its own or element by element.
  __device__ void add_again(const batch<T>& x) {
    const auto take = [&](int i) { return x.at(i); };
    look(take);
    if (fits_ && add_windowed<2>(take)) return;
    wild_ = wild_batches;
    will_add(batch<T>::elements);
#pragma unroll 1
    for (int i = 0; i < batch<T>::most; ++i) add_wild(x.at(i));
  }

  __device__ void add_wild(const vector<T>& v) {
#pragma unroll
    for (const T x : v.at) block_.add(x);
  }

  /// Chooses a window for these elements, and looks whether they are numbers.
  template <class Take>
  __device__ void look(Take take) {
    flush();
    unsigned largest = 0;
#pragma unroll
    for (int i = 0; i < batch<T>::most; ++i) {
      const vector<T> v = take(i);
#pragma unroll
      for (const T element : v.at) {
        largest = ::max(largest, __double2hiint(double{element}) & 0x7fffffffu);
        numbers_ |= detail::to_bits(element) != sums::format::sign;
      }
    }
    for (unsigned distance = 16; distance > 0; distance /= 2) {
      largest = ::max(largest, __shfl_xor_sync(0xffffffffu, largest, distance));
    }
    numbers_ = __any_sync(0xffffffffu, numbers_);
    const int tightest = static_cast<int>(largest >> 20) - 1021;  // |x| < 2^(tightest - 1)
    fits_ = tightest <= highest_top;
    top_ = ::min(tightest + headroom, highest_top);
  }

  __device__ void flush() {
    if (count_ == 0) return;
    will_add(levels);
#pragma unroll
    for (int level = 0; level < levels; ++level) {
      const auto bits = static_cast<std::uint64_t>(__double_as_longlong(magic(level)));
      const auto total = static_cast<std::int64_t>(sum_[level] - static_cast<unsigned>(count_) * bits);
      const bool negative = total < 0;
      block_.template add<63>(negative ? 0 - static_cast<std::uint64_t>(total) : static_cast<std::uint64_t>(total),
                              exponent(level) - 52 - sums::format::low, negative);
      sum_[level] = 0;
    }
    count_ = 0;
  }

  __device__ void will_add(int additions) {
    if (additions_ + additions > lane_sums<T, Warps>::most_additions) {
      block_.drain(total_);
      additions_ = 0;
    }
    additions_ += additions;
  }

  lane_sums<T, Warps>& block_;
  sums* total_;
  std::uint64_t sum_[levels] = {};
  int top_ = 0;
  int count_ = 0;      ///< elements of this lane in sum_
  int additions_ = 0;  ///< to one word of the block, since this warp has drained it
  int wild_ = 0;
  bool fits_ = false;
  bool numbers_ = false;
};

}  // namespace fanin::cuda
