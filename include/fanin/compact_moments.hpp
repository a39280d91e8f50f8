// SPDX-License-Identifier: Apache-2.0
// Exact sums of elements and of their squares in 112 bytes, for many variances at once: one for each group, column or
// window.
//
//   std::vector<fanin::compact_moments<double>> spread(groups);
//   for (std::size_t i = 0; i < n; ++i) spread[key[i]].add(x[i]);
//   double first = spread[0].dispersion({.root = true, .ddof = 1});  // the sample standard deviation
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <fanin/accumulator/moments.hpp>
#include <fanin/compact_sum.hpp>

namespace fanin {

/// A compact_sum and a compact_square_sum of the same elements. T is float or double.
/// Accuracy: each result is rounded once. It has the bits of the exact result of the library.
/// Memory, reproducibility, threads: as for basic_compact_sum.
/// @throws as the members of basic_compact_sum. After std::bad_alloc the two sums may be of different elements.
template <class T>
class compact_moments {
 public:
  using value_type = T;

  static constexpr std::size_t saved_bytes = compact_sum<T>::saved_bytes + compact_square_sum<T>::saved_bytes;

  /// Adds x. Cost: about three dozen integer operations.
  void add(T x) {
    sum_.add(x);
    squares_.add(x);
  }

  /// Takes back x, which was added before.
  /// @throws invalid_argument if no elements are left, or if x is NaN or infinite
  void subtract(T x) {
    sum_.subtract(x);
    squares_.subtract(x);
  }

  /// Adds x[0], x[stride], ..., x[(count - 1) * stride], of which those take part whose bits are set in `valid`, as
  /// for basic_compact_sum. Memory: host.
  void add(const T* x, std::size_t count, std::ptrdiff_t stride = 1, const std::uint8_t* valid = nullptr) {
    detail::for_each_valid(x, count, stride, valid, [this](T element) { add(element); });
  }
  void add(std::span<const T> x) { add(x.data(), x.size()); }

  /// Adds everything that was added to `other`.
  /// @throws overflow if there would be more than 2^62 elements; these sums are then as they were
  void merge(const compact_moments& other) {
    sum_.merge(other.sum_);
    squares_.merge(other.squares_);
  }

  /// The number of elements.
  std::uint64_t count() const noexcept { return sum_.count(); }

  /// The sum of the elements. Its mean() is their mean.
  const compact_sum<T>& sum() const noexcept { return sum_; }
  /// The sum of the squares. Its root() is the norm.
  const compact_square_sum<T>& squares() const noexcept { return squares_; }

  /// The variance or standard deviation of the elements, rounded once to R. Equal elements give +0. Any NaN or
  /// infinity gives NaN. @throws invalid_argument if there are not more than wanted.ddof elements
  template <class R = T>
  R dispersion(dispersion_measure wanted = {}) const {
    if (count() <= wanted.ddof) throw invalid_argument("a variance needs more elements than its ddof");
    typename compact_sum<T>::magnitude_words sum;
    typename compact_square_sum<T>::magnitude_words squares;
    const int unit = squares_.unit_;
    if (!squares_.is_large() && sum_.split_in(unit / 2, sum)) {
      squares_.split(squares);
      return detail::rounded_dispersion<R>(sum, squares, unit, count(), wanted);
    }
    const exact_moments_accumulator<T> both{sum_.accumulator(), squares_.accumulator()};
    return both.template dispersion_of<R>(count(), wanted);
  }

  /// The bytes that save() of the sum writes, followed by the bytes of the sum of squares.
  std::array<std::byte, saved_bytes> save() const {
    std::array<std::byte, saved_bytes> out;
    std::ranges::copy(squares_.save(), std::ranges::copy(sum_.save(), out.begin()).out);
    return out;
  }

  /// The sums of bytes that save() wrote. Later subtractions are as for basic_compact_sum.
  /// @throws invalid_argument on other bytes, and if the two sums have different numbers of elements
  static compact_moments load(std::span<const std::byte> in) {
    if (in.size() != saved_bytes) throw invalid_argument("the saved exact sums have the wrong length");
    compact_moments loaded;
    loaded.sum_ = compact_sum<T>::load(in.first(compact_sum<T>::saved_bytes));
    loaded.squares_ = compact_square_sum<T>::load(in.subspan(compact_sum<T>::saved_bytes));
    if (loaded.sum_.count() != loaded.squares_.count()) {
      throw invalid_argument("the saved exact sums are not of the same elements");
    }
    return loaded;
  }

 private:
  compact_sum<T> sum_;
  compact_square_sum<T> squares_;
};

}  // namespace fanin
