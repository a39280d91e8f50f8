// SPDX-License-Identifier: Apache-2.0
// Exact sums of many groups by integers. A window of binades, the same for all groups, holds nearly all elements: in
// it an element is its mantissa times a power of two, which is added to two or three words of its group. Elements
// outside of the window are listed, and added to wide sums, which only their groups have.
#pragma once

#include <algorithm>
#include <cmath>

#include <fanin/accumulator/exact.hpp>
#include <fanin/cuda/atomic.cuh>
#include <fanin/cuda/fold_kernel.cuh>

#include "backends/cuda/batch/block_table.cuh"
#include "backends/cuda/batch/group_bins.hpp"
#include "backends/cuda/exact/mantissa.cuh"
#include "backends/cuda/numbers.hpp"
#include "backends/cuda/runtime/words.cuh"

namespace fanin::cuda {

/// The window: `words` words of 32 bits, as a signed number, hold the sum of 2^most_elements_log2 elements of
/// `binades` binades.
template <class T>
struct group_window;
template <>
struct group_window<float> {
  using sum = std::int64_t;
  static constexpr int words = 2, binades = 19;
};
template <>
struct group_window<double> {
  using sum = detail::int128;
  static constexpr int words = 3, binades = 22;
};
/// The zeros at the end of the mantissa of each number: a double that is the square of a float has 48 digits at most.
template <class T>
constexpr unsigned spare_bits_of(const element_rule& rule) {
  constexpr int spare = detail::float_format<double>::digits - 2 * detail::float_format<float>::digits;
  return sizeof(T) == 8 && rule.squares ? spare : 0;
}
/// The number of windows. The windows below the first one are for data with many elements outside of the first
/// one.
inline constexpr int window_count = 4;
template <class T>
inline constexpr bool sums_fit =
    detail::float_format<T>::digits + group_window<T>::binades + most_elements_log2 < 32 * group_window<T>::words;
static_assert(sums_fit<float> && sums_fit<double>);

/// The facts that kernels find out about a call's elements. They are in device memory, and 0 before the kernels
/// run.
struct group_notes {
  unsigned lowest;     ///< the biased exponent of the window's lowest binade
  unsigned in_order;   ///< not 0 if sampled keys ascend by bins
  unsigned scattered;  ///< not 0 if there are bins, and keys do not ascend by them
  /// Not 0 if there is an element of -0, or a result that changes if 0 is added: then marks say which groups have
  /// what.
  unsigned needs_marks;
  unsigned wide_sums;              ///< wide sums in use
  unsigned long long spill_count;  ///< elements outside of the window
};

/// The binades of a window, from the one with the biased exponent `lowest` on; none may be left above subnormal
/// numbers.
struct binades_of_window {
  unsigned lowest, count;
};
/// An element outside of the window.
template <class T>
struct spilled {
  std::uint32_t group;
  T x;
};

/// The sum of a group's elements outside of the window, in units of 2^low and with 32 bits to each limb, so that
/// 2^31 additions need no carries.
template <class T>
struct wide_sum {
  using sum = typename exact_accumulator<T>::sum_type;
  unsigned long long limb[sum::limb_count];
  unsigned special, padding;  ///< byte 7 of exact_accumulator::save()
};

/// The memory of a call. `words`, of the first window, `counts` and `marks` are 0 before.
template <class T>
struct group_sums {
  /// Bits of marks, above the number of the group's wide sum plus 1: an element of -0, and another one.
  static constexpr std::uint32_t has_minus_zero = 1u << 30, has_number = 1u << 31, number_mask = has_minus_zero - 1;

  std::uint32_t groups;
  unsigned long long* words;   ///< for each word of each window, an integer for each group
  unsigned long long* counts;  ///< null, or the elements of each group
  std::uint32_t* marks;
  wide_sum<T>* wide;
  spilled<T>* spills;
  std::uint64_t most_spills;
  group_notes* notes;
  /// The zeros at the end of each mantissa; 0 if T is float. The window has as many binades more.
  unsigned spare_bits;

  /// The number of binades of a window, the same for each window.
  FANIN_HOST_DEVICE unsigned binades() const { return group_window<T>::binades + spare_bits; }
  /// The binades of window `last`, or of windows `first` to `last` together.
  __device__ binades_of_window binades_of(int first, int last) const {
    const int of_window = static_cast<int>(binades()), lowest = static_cast<int>(notes->lowest);
    const int end = lowest - (first - 1) * of_window;
    const int begin = std::max(lowest - last * of_window, 1);
    return {static_cast<unsigned>(begin), static_cast<unsigned>(std::max(end - begin, 0))};
  }
  /// Word w of a window, of each group.
  FANIN_HOST_DEVICE unsigned long long* word(int window, int w) const {
    return words + std::uint64_t{groups} * static_cast<unsigned>(window * group_window<T>::words + w);
  }
  /// Whether more elements are outside of the first window than are listed.
  __device__ bool has_more_windows() const { return notes->spill_count > most_spills; }
};

/// Elements of groups as numbers of type T, which holds them: the elements, or by the rule their magnitudes or
/// squares.
template <class T>
struct keyed_numbers : keyed_words {
  element_rule rule;

  /// Four elements as they are loaded.
  using four_elements = std::conditional_t<sizeof(T) == 4, four_words<std::uint16_t, std::uint32_t>,
                                           four_words<std::uint16_t, std::uint32_t, std::uint64_t>>;

  __device__ std::uint64_t key(std::uint64_t i) const { return load_word(keys, key_bytes, i); }
  __device__ T at(std::uint64_t i) const {
    T x[1]{};
    with_type([&]<class Word>(Word) {
      x[0] = static_cast<T>(word_numbers<Word>::read(static_cast<const Word*>(words)[i], rule));
    });
    make_terms(x);
    return x[0];
  }
  __device__ four_elements load_elements(std::uint64_t i) const {
    four_elements loaded;
    loaded.load(words, word_bytes, i, *this);
    return loaded;
  }
  __device__ void read(const four_elements& loaded, T (&x)[4]) const {
    with_type([&]<class Word>(Word) {
      Word four[4];
      loaded.copy_to(four);
      typename word_numbers<Word>::number numbers[4];
      word_numbers<Word>::read_all(four, numbers, rule);
      for (int j = 0; j < 4; ++j) x[j] = static_cast<T>(numbers[j]);
    });
    make_terms(x);
  }

  /// Makes of elements what they add. A T of 8 bytes holds the squares of shorter elements. No others are asked for.
  template <int N>
  __device__ void make_terms(T (&x)[N]) const {
    if (sizeof(T) == 8 && rule.squares) {
      for (T& one : x) one = one * one;
    } else if (rule.magnitudes) {
      for (T& one : x) one = std::abs(one);
    }
  }

 private:
  template <class F>
  __device__ void with_type(const F& f) const {
    if constexpr (sizeof(T) == 4) {
      with_word<std::uint16_t, std::uint32_t>(word_bytes, f);
    } else {
      with_word<std::uint16_t, std::uint32_t, std::uint64_t>(word_bytes, f);
    }
  }
};

/// Four elements and their keys. The elements are numbers of type T themselves, and the keys are of type Key.
template <class T, class Key>
struct four_terms {
  four_keys<Key> keys;
  four<T> elements;
  __device__ void load(std::uint64_t i, const keyed_numbers<T>& from) {
    keys.load(i, from);
    elements = load_four(static_cast<const T*>(from.words), i, from.count, from.aligned);
  }
  __device__ void read(const keyed_numbers<T>&, T (&x)[4]) const { std::memcpy(x, &elements, sizeof x); }
};
/// The general case, in which a rule makes numbers of the elements.
template <class T>
struct four_terms<T, void> {
  four_keys<std::uint32_t, std::uint64_t> keys;
  typename keyed_numbers<T>::four_elements elements;
  __device__ void load(std::uint64_t i, const keyed_numbers<T>& from) {
    keys.load(i, from);
    elements = from.load_elements(i);
  }
  __device__ void read(const keyed_numbers<T>& from, T (&x)[4]) const { from.read(elements, x); }
};

/// The biased exponent of x: 0 for subnormal numbers and zeros.
template <class T>
__device__ unsigned biased_exponent(T x) {
  using format = detail::float_format<T>;
  return static_cast<unsigned>(detail::to_bits(x) >> (format::digits - 1)) & (2u * format::high - 1);
}

/// A normal x in the units of a window, which are 2^spare_bits times the last place of numbers in the window's lowest
/// binade. x is `place` binades above this binade, and a whole number of units. 0 unless `takes`.
__device__ inline std::int64_t in_units(float x, unsigned place, unsigned /*spare_bits*/, bool takes) {
  const unsigned bits = detail::to_bits(x), sign = static_cast<unsigned>(static_cast<int>(bits) >> 31 | 1);
  return signed_product(with_bit_23(bits), takes ? sign << place : 0);
}
__device__ inline detail::int128 in_units(double x, unsigned place, unsigned spare_bits, bool takes) {
  using format = detail::float_format<double>;
  const std::uint64_t bits = detail::to_bits(x);
  const std::uint64_t size = takes ? ((bits & (format::implicit_one - 1)) | format::implicit_one) >> spare_bits : 0;
  const auto mantissa = static_cast<std::int64_t>((bits & format::sign) != 0 ? 0 - size : size);
  place = takes ? place : 0;
  const std::int64_t high = mantissa >> (63 - place) >> 1;
  return static_cast<detail::int128>(high) << 64 | static_cast<std::uint64_t>(mantissa) << place;
}

/// Lists an element that is outside of the window, as long as there is room.
template <class T>
static __device__ __noinline__ void spill(const group_sums<T>& to, std::uint32_t group, T x) {
  if (device_code::load_relaxed(&to.notes->spill_count) > to.most_spills) return;
  const unsigned long long place = atomicAdd(&to.notes->spill_count, 1ull);
  if (place < to.most_spills) to.spills[place] = {group, x};
}

/// Looks at the elements x[j] whose bit j is set in `odd`: each is 0 or outside of the window. Lists the elements
/// outside if `spills`, and returns true if one of the zeros is -0. The numbers group[j] are counted from group
/// `first` on.
template <class T>
__device__ bool spill_odd(const group_sums<T>& to, unsigned odd, std::uint32_t first, const std::uint32_t (&group)[4],
                          const T (&x)[4], bool spills) {
  bool minus_zeros = false;
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    if ((odd >> j & 1) == 0) continue;
    if (x[j] == 0) {
      minus_zeros |= detail::to_bits(x[j]) != 0;
    } else if (spills) {
      spill(to, first + group[j], x[j]);
    }
  }
  return minus_zeros;
}

}  // namespace fanin::cuda
