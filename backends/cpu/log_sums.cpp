// SPDX-License-Identifier: Apache-2.0
// The leaves of log_sum_exp, with the arithmetic of accumulator/log_sum.hpp in vectors, and the same bits.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/log_sums.cpp"
#include <hwy/foreach_target.h>
// These headers have to come after foreach_target.h.
#include <hwy/highway.h>

#include <algorithm>
#include <iterator>
#include <type_traits>

#include "backends/cpu/exponentials-inl.h"
#include "backends/cpu/leaf.hpp"
#include "backends/cpu/prefetch.hpp"
#include "backends/cpu/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fanin::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// States of accumulator::log_sum.
struct states {
  vector largest[unrolled], sum[unrolled];

  HWY_INLINE bool have_no_elements() const {
    const doubles d;
    const auto least = hn::Set(d, accumulator::log_sum<double>::identity().largest);
    auto has_none = hn::Eq(largest[0], least);
    for_each_vector([&](std::size_t v) {
      has_none = hn::And(has_none, hn::And(hn::Eq(largest[v], least), hn::Eq(sum[v], hn::Zero(d))));
    });
    return hn::AllTrue(d, has_none);
  }
  /// Does what merge() does to states without elements.
  HWY_INLINE void begin(const double* other_largest, const vector (&other_sum)[unrolled]) {
    for_each_vector([&](std::size_t v) {
      const vector other = hn::LoadU(doubles(), other_largest + v * width);
      const auto is_nan = hn::IsNaN(other);
      sum[v] = hn::IfThenElse(is_nan, other, other_sum[v]);
      largest[v] = hn::IfThenElse(is_nan, largest[v], other);
    });
  }
  HWY_INLINE void merge(const double* other_largest, const vector (&other_sum)[unrolled]) {
    vector factor[unrolled], other[unrolled];
    for_each_vector([&](std::size_t v) {
      other[v] = hn::LoadU(doubles(), other_largest + v * width);
      const vector distance = hn::Abs(hn::Sub(largest[v], other[v]));
      factor[v] = hn::Neg(hn::IfThenZeroElse(hn::Eq(largest[v], other[v]), distance));
    });
    exponentiate_negatives(factor);
    for_each_vector([&](std::size_t v) {
      const auto grows = hn::Gt(other[v], largest[v]);
      const vector below = hn::IfThenElse(grows, sum[v], other_sum[v]);
      const vector above = hn::IfThenElse(grows, other_sum[v], sum[v]);
      sum[v] = hn::Add(above, hn::Mul(below, factor[v]));
      largest[v] = hn::IfThenElse(grows, other[v], largest[v]);
    });
  }
};

/// merge_log_sums() of leaf.hpp.
void merge_rows(const double* largest, const double* sum, std::size_t rows, std::ptrdiff_t step,
                std::size_t row_width, double* into_largest, double* into_sum) {
  const doubles d;
  for (std::size_t j = 0; j < row_width; j += unrolled * width) {
    states s;
    vector other_sum[unrolled];
    for_each_vector([&](std::size_t v) {
      s.largest[v] = hn::LoadU(d, into_largest + j + v * width);
      s.sum[v] = hn::LoadU(d, into_sum + j + v * width);
      other_sum[v] = sum != nullptr ? hn::LoadU(d, sum + j + v * width) : hn::Set(d, 1);
    });
    const double* there = largest + j;
    std::size_t row = 0;
    if (rows > 0 && s.have_no_elements()) {
      s.begin(there, other_sum);
      ++row;
      there += step;
    }
    for (; row < rows; ++row, there += step) {
      for_each_vector([&](std::size_t v) { prefetch_line(there + v * width); });
      s.merge(there, other_sum);
    }
    for_each_vector([&](std::size_t v) {
      hn::StoreU(s.largest[v], d, into_largest + j + v * width);
      hn::StoreU(s.sum[v], d, into_sum + j + v * width);
    });
  }
}

/// The largest magnitudes of U times two_halves numbers of type T, as bits.
template <class T>
using bits_of = hn::ScalableTag<magnitude_bits<T>>;
template <class T, std::size_t U>
struct magnitudes {
  static constexpr std::size_t lanes = hn::MaxLanes(bits_of<T>()), vectors = 2 * U * width / lanes;
  hn::Vec<bits_of<T>> of[vectors];
  HWY_INLINE magnitudes() {
    for_each_vector<vectors>([&](std::size_t v) HWY_ATTR { of[v] = hn::Zero(bits_of<T>()); });
  }
  HWY_INLINE hn::Vec<hn::ScalableTag<T>> load(const T* x, std::size_t v) {
    const auto elements = hn::LoadU(hn::ScalableTag<T>(), x + v * lanes);
    of[v] = hn::Max(of[v], hn::BitCast(bits_of<T>(), hn::Abs(elements)));
    return elements;
  }
};

/// Writes the exponentials of near numbers.
template <std::size_t U>
HWY_INLINE void exponentials_of(const float* x, magnitudes<float, U>& largest, two_halves (&out)[U]) {
  hn::Vec<floats> elements[U];
  for_each_vector<U>([&](std::size_t v) HWY_ATTR { elements[v] = largest.load(x, v); });
  near_exponentials(elements, out);
}
template <std::size_t U>
HWY_INLINE void exponentials_of(const double* x, magnitudes<double, U>& largest, two_halves (&out)[U]) {
  vector elements[2 * U];
  for_each_vector<2 * U>([&](std::size_t v) HWY_ATTR { elements[v] = largest.load(x, v); });
  exponentiate(elements);
  for_each_vector<U>([&](std::size_t v) HWY_ATTR { out[v] = {elements[2 * v], elements[2 * v + 1]}; });
}

/// Adds the exponentials of U times two_halves columns to `sum`.
template <std::size_t U, class T>
HWY_INLINE magnitudes<T, U> add_columns(const T* x, std::size_t rows, std::ptrdiff_t step, std::ptrdiff_t ahead,
                                        double* sum) {
  const doubles d;
  magnitudes<T, U> largest;
  two_halves sums[U], powers[U];
  for_each_vector<U>([&](std::size_t v) HWY_ATTR {
    sums[v] = {hn::LoadU(d, sum + 2 * v * width), hn::LoadU(d, sum + (2 * v + 1) * width)};
  });
  for (; rows > 0; --rows, x += step) {
    for_each_vector<U>([&](std::size_t v) HWY_ATTR { prefetch_line(x + ahead + 2 * v * width); });
    exponentials_of(x, largest, powers);
    for_each_vector<U>([&](std::size_t v) HWY_ATTR { sums[v].add(powers[v]); });
  }
  for_each_vector<U>([&](std::size_t v) HWY_ATTR {
    hn::StoreU(sums[v].low, d, sum + 2 * v * width);
    hn::StoreU(sums[v].high, d, sum + (2 * v + 1) * width);
  });
  return largest;
}

/// log_sum_values() of leaf.hpp for whole vectors.
void values_of(const accumulator::scaled_sum* states, std::size_t count, double* out) {
  const doubles d;
  for (std::size_t i = 0; i < count; i += width) {
    vector largest, sum;
    hn::LoadInterleaved2(d, &states[i].largest, largest, sum);
    hn::StoreU(hn::IfThenElse(hn::IsNaN(sum), sum, hn::Add(largest, log_of_sums(sum))), d, out + i);
  }
}

/// add_near_rows() of leaf.hpp for rows of a multiple of 16 numbers.
template <class T>
HWY_INLINE void near_rows(const T* x, std::size_t rows, std::ptrdiff_t step, std::size_t row_width, double* sum,
                          magnitude_bits<T>* most, bool together, std::ptrdiff_t ahead) {
  const bits_of<T> i;
  std::size_t j = 0;
  const auto add = [&]<std::size_t Columns>(std::integral_constant<std::size_t, Columns>) HWY_ATTR {
    const auto largest = add_columns<Columns / width / 2>(x + j, rows, step, ahead, sum + j);
    for_each_vector<largest.vectors>([&](std::size_t v) HWY_ATTR {
      const std::size_t column = j + v * largest.lanes;
      auto* const to = most + (together ? column % 16 : column);
      hn::StoreU(hn::Max(hn::LoadU(i, to), largest.of[v]), i, to);
    });
    j += Columns;
  };
  if constexpr (sizeof(T) == sizeof(double)) {
    while (j + 32 <= row_width) add(std::integral_constant<std::size_t, 32>());
  }
  while (j < row_width) add(std::integral_constant<std::size_t, 16>());
}
void near_rows_of_floats(const float* x, std::size_t rows, std::ptrdiff_t step, std::size_t row_width, double* sum,
                         std::int32_t* most, bool together, std::ptrdiff_t ahead) {
  near_rows(x, rows, step, row_width, sum, most, together, ahead);
}
void near_rows_of_doubles(const double* x, std::size_t rows, std::ptrdiff_t step, std::size_t row_width, double* sum,
                          std::int64_t* most, bool together, std::ptrdiff_t ahead) {
  near_rows(x, rows, step, row_width, sum, most, together, ahead);
}

/// exponentiate_block() of leaf.hpp for whole vectors.
bool exponentiate_floats(const float* x, std::size_t count, double* out) {
  const floats f;
  auto near = hn::Eq(hn::Zero(f), hn::Zero(f));
  for (std::size_t i = 0; i < count; i += 4 * width) {
    hn::Vec<floats> elements[2];
    two_halves powers[2];
    for_each_vector<2>([&](std::size_t v) HWY_ATTR {
      elements[v] = hn::LoadU(f, x + i + 2 * v * width);
      near = hn::And(near, hn::Le(hn::Abs(elements[v]), hn::Set(f, accumulator::most_near)));
    });
    near_exponentials(elements, powers);
    for_each_vector<2>([&](std::size_t v) HWY_ATTR {
      hn::StoreU(powers[v].low, doubles(), out + i + 2 * v * width);
      hn::StoreU(powers[v].high, doubles(), out + i + (2 * v + 1) * width);
    });
  }
  return hn::AllTrue(f, near);
}
bool exponentiate_doubles(const double* x, std::size_t count, double* out) {
  const doubles d;
  auto near = hn::Eq(hn::Zero(d), hn::Zero(d));
  for (std::size_t i = 0; i < count; i += unrolled * width) {
    vector t[unrolled];
    for_each_vector([&](std::size_t v) {
      t[v] = hn::LoadU(d, x + i + v * width);
      near = hn::And(near, hn::Le(hn::Abs(t[v]), hn::Set(d, accumulator::most_near)));
    });
    exponentiate(t);
    for_each_vector([&](std::size_t v) { hn::StoreU(t[v], d, out + i + v * width); });
  }
  return hn::AllTrue(d, near);
}

struct sum_merge {
  static constexpr int planes = 1;
  template <class D, class S>
  static HWY_INLINE void merge(D, S& s, const S& other) {
    s.plane[0] = hn::Add(s.plane[0], other.plane[0]);
  }
};

/// Merges state j of a row with state j + row_width / 2, and so on. All references are 0.
template <std::size_t U>
HWY_INLINE double total_of(two_halves (&sums)[U]) {
  HWY_UNROLL(4)
  for (std::size_t n = U / 2; n > 0; n /= 2) {
    HWY_UNROLL(8)
    for (std::size_t v = 0; v < n; ++v) sums[v].add(sums[v + n]);
  }
  double total;
  collapse<sum_merge>(doubles(), vector_states<doubles, 1>{{hn::Add(sums[0].low, sums[0].high)}}, &total);
  return total;
}
double plain_total(const double* sum) {
  constexpr std::size_t row_width = log_sum_row<double>::row_width;
  two_halves sums[row_width / width / 2];
  for_each_vector<std::size(sums)>([&](std::size_t v) HWY_ATTR {
    const double* const from = sum + 2 * v * width;
    sums[v] = {hn::LoadU(doubles(), from), hn::LoadU(doubles(), from + width)};
  });
  return total_of(sums);
}

/// total_of_near_leaf() of leaf.hpp.
template <class T>
HWY_INLINE bool near_total(const T* x, std::size_t count, double& total) {
  const doubles d;
  constexpr std::size_t row_width = log_sum_row<T>::row_width, units = row_width / width / 2;
  constexpr std::size_t at_once = std::min<std::size_t>(units, 32 / width / 2);
  const std::size_t rows = count / row_width, left = count % row_width;
  HWY_ALIGN T last[row_width];
  if (left > 0) std::fill(std::copy_n(x + rows * row_width, left, last), last + row_width, T{0});
  magnitudes<T, at_once> largest;
  two_halves sums[units];
  HWY_UNROLL(1)
  for (std::size_t first = 0; first < units; first += at_once) {
    const std::size_t j = 2 * first * width, all = rows + (j < left ? 1 : 0);
    two_halves sum[at_once], powers[at_once];
    for_each_vector<at_once>([&](std::size_t v) HWY_ATTR { sum[v] = {hn::Zero(d), hn::Zero(d)}; });
    for (std::size_t r = 0; r < all; ++r) {
      exponentials_of(r < rows ? x + r * row_width + j : last + j, largest, powers);
      if (r == rows) {
        const auto keep = [&](std::size_t at, vector& v) HWY_ATTR {
          v = hn::IfThenElseZero(hn::FirstN(d, std::min(left - std::min(left, at), width)), v);
        };
        for_each_vector<at_once>([&](std::size_t v) HWY_ATTR {
          keep(j + 2 * v * width, powers[v].low);
          keep(j + (2 * v + 1) * width, powers[v].high);
        });
      }
      for_each_vector<at_once>([&](std::size_t v) HWY_ATTR { sum[v].add(powers[v]); });
    }
    for_each_vector<at_once>([&](std::size_t v) HWY_ATTR { sums[first + v] = sum[v]; });
  }
  total = total_of(sums);
  auto most = largest.of[0];
  for (const auto& of : largest.of) most = hn::Max(most, of);
  return is_near<T>(hn::GetLane(hn::MaxOfLanes(bits_of<T>(), most)));
}
bool near_total_of_floats(const float* x, std::size_t count, double& total) { return near_total(x, count, total); }
bool near_total_of_doubles(const double* x, std::size_t count, double& total) { return near_total(x, count, total); }

}  // namespace HWY_NAMESPACE
}  // namespace fanin::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fanin::cpu {
namespace {

HWY_EXPORT(merge_rows);
HWY_EXPORT(near_rows_of_floats);
HWY_EXPORT(near_rows_of_doubles);
HWY_EXPORT(exponentiate_floats);
HWY_EXPORT(exponentiate_doubles);
HWY_EXPORT(near_total_of_floats);
HWY_EXPORT(near_total_of_doubles);
HWY_EXPORT(plain_total);
HWY_EXPORT(values_of);

/// Calls f(x, count, out) for elements that fill whole vectors.
template <class T, class F>
bool with_whole_vectors(const T* x, std::size_t count, double* out, const F& f) {
  constexpr std::size_t in_vectors = 32;
  if (count % in_vectors == 0) return f(x, count, out);
  T whole[exponentiated_together];
  std::fill(std::copy_n(x, count, whole), std::end(whole), T{0});
  return f(whole, (count / in_vectors + 1) * in_vectors, out);
}

/// The compiler makes vectors of so many.
void add_eight(const double* __restrict from, double* __restrict to) {
  for (int k = 0; k < 8; ++k) to[k] += from[k];
}

}  // namespace

void merge_log_sums(const double* largest, const double* sum, std::size_t rows, std::ptrdiff_t step,
                    std::size_t row_width, double* into_largest, double* into_sum) {
  HWY_DYNAMIC_DISPATCH(merge_rows)(largest, sum, rows, step, row_width, into_largest, into_sum);
}

namespace {

/// Adds the rows by add(x, rows, step, row_width, sum, most, ahead). Rows that end within 16 numbers are copied.
template <class T, class Add>
void add_whole_rows(const T* x, std::size_t rows, std::ptrdiff_t step, std::size_t row_width, double* sum,
                    magnitude_bits<T>* most, bool together, std::ptrdiff_t ahead, const Add& add) {
  const std::size_t whole = row_width / 16 * 16;
  if (whole < row_width) {
    T padded[detail::rows_in_leaf * 16] = {};
    const T* row = x + whole;
    for (std::size_t r = 0; r < rows; ++r, row += step) std::copy_n(row, row_width - whole, padded + r * 16);
    add(padded, rows, 16, 16, sum + whole, most + (together ? 0 : whole), together, 0);
  }
  add(x, rows, step, whole, sum, most, together, ahead);
}

}  // namespace

void add_near_rows(const float* x, std::size_t rows, std::ptrdiff_t step, std::size_t row_width, double* sum,
                   std::int32_t* most, bool together, std::ptrdiff_t ahead) {
  add_whole_rows(x, rows, step, row_width, sum, most, together, ahead, [](auto... some) {
    HWY_DYNAMIC_DISPATCH(near_rows_of_floats)(some...);
  });
}
void add_near_rows(const double* x, std::size_t rows, std::ptrdiff_t step, std::size_t row_width, double* sum,
                   std::int64_t* most, bool together, std::ptrdiff_t ahead) {
  add_whole_rows(x, rows, step, row_width, sum, most, together, ahead, [](auto... some) {
    HWY_DYNAMIC_DISPATCH(near_rows_of_doubles)(some...);
  });
}

bool exponentiate_block(const float* x, std::size_t count, double* out) {
  return with_whole_vectors(x, count, out,
                            [](auto... block) { return HWY_DYNAMIC_DISPATCH(exponentiate_floats)(block...); });
}
bool exponentiate_block(const double* x, std::size_t count, double* out) {
  return with_whole_vectors(x, count, out,
                            [](auto... block) { return HWY_DYNAMIC_DISPATCH(exponentiate_doubles)(block...); });
}
bool total_of_near_leaf(const float* x, std::size_t count, double& total) {
  return HWY_DYNAMIC_DISPATCH(near_total_of_floats)(x, count, total);
}
bool total_of_near_leaf(const double* x, std::size_t count, double& total) {
  return HWY_DYNAMIC_DISPATCH(near_total_of_doubles)(x, count, total);
}
void log_sum_values(accumulator::scaled_sum* states, std::size_t count, double* out) {
  static_assert(sizeof(accumulator::scaled_sum) == 2 * sizeof(double));
  for (std::size_t i = count; i % 8 != 0; ++i) states[i] = {0, 1};
  HWY_DYNAMIC_DISPATCH(values_of)(states, count, out);
}
double total_of_plain_row(const double* sum) { return HWY_DYNAMIC_DISPATCH(plain_total)(sum); }

void merge_states(bool plain, const double* largest, const double* sum, std::size_t row_width, double* into_largest,
                  double* into_sum) {
  if (!plain) return merge_log_sums(largest, sum, 1, 0, row_width, into_largest, into_sum);
  std::size_t j = 0;
  for (; j + 8 <= row_width; j += 8) add_eight(sum + j, into_sum + j);
  for (; j < row_width; ++j) into_sum[j] += sum[j];
}

}  // namespace fanin::cpu
#endif  // HWY_ONCE
