// SPDX-License-Identifier: Apache-2.0
// The leaves of log_sum_exp, with the arithmetic of accumulator/log_sum.hpp in vectors, and the same bits.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/log_sums.cpp"
#include <hwy/foreach_target.h>
// These headers have to come after foreach_target.h.
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "backends/cpu/exponentials-inl.h"
#include "backends/cpu/integer_log_sums.hpp"
#include "backends/cpu/leaf.hpp"
#include "backends/cpu/prefetch.hpp"
#include "backends/cpu/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fanin::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Replaces each t, which is an integer from -255 to 0 or -infinity, by an entry of powers_of_e().
HWY_INLINE void look_up(const double* powers, vector (&t)[unrolled]) {
  const doubles d;
  const hn::RebindToSigned<doubles> words;
  for_each_vector([&](std::size_t v) {
    const vector distance = hn::Sub(hn::Set(d, 0x1p52), hn::Max(t[v], hn::Set(d, -least_power)));
    t[v] = hn::GatherIndex(d, powers, hn::And(hn::BitCast(words, distance), hn::Set(words, 511)));
  });
}

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
  /// If `ByTable`, exponentials are entries of `powers`.
  template <bool ByTable>
  HWY_INLINE void merge(const double* other_largest, const vector (&other_sum)[unrolled], const double* powers) {
    vector factor[unrolled], other[unrolled];
    for_each_vector([&](std::size_t v) {
      other[v] = hn::LoadU(doubles(), other_largest + v * width);
      const vector distance = hn::Abs(hn::Sub(largest[v], other[v]));
      factor[v] = hn::Neg(hn::IfThenZeroElse(hn::Eq(largest[v], other[v]), distance));
    });
    if constexpr (ByTable) {
      look_up(powers, factor);
    } else {
      exponentiate(factor);
    }
    for_each_vector([&](std::size_t v) {
      const auto grows = hn::Gt(other[v], largest[v]);
      const vector below = hn::IfThenElse(grows, sum[v], other_sum[v]);
      const vector above = hn::IfThenElse(grows, other_sum[v], sum[v]);
      sum[v] = hn::Add(above, hn::Mul(below, factor[v]));
      largest[v] = hn::IfThenElse(grows, other[v], largest[v]);
    });
  }
};

/// merge_log_sums() of leaf.hpp, or of states of integers of 8 bits.
template <bool ByTable>
HWY_INLINE void merge_rows_by(const double* powers, const double* largest, const double* sum, std::size_t rows,
                              std::ptrdiff_t step, std::size_t row_width, double* into_largest, double* into_sum) {
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
      s.template merge<ByTable>(there, other_sum, powers);
    }
    for_each_vector([&](std::size_t v) {
      hn::StoreU(s.largest[v], d, into_largest + j + v * width);
      hn::StoreU(s.sum[v], d, into_sum + j + v * width);
    });
  }
}

void merge_rows(const double* largest, const double* sum, std::size_t rows, std::ptrdiff_t step,
                std::size_t row_width, double* into_largest, double* into_sum) {
  merge_rows_by<false>(nullptr, largest, sum, rows, step, row_width, into_largest, into_sum);
}
void merge_states_of_bytes(const double* powers, const double* largest, const double* sum, std::size_t row_width,
                           double* into_largest, double* into_sum) {
  merge_rows_by<true>(powers, largest, sum, 1, 0, row_width, into_largest, into_sum);
}

/// add_rows_of_bytes() of integer_log_sums.hpp.
template <class T>
HWY_INLINE void add_rows(const double* powers, const T* x, std::size_t rows, std::ptrdiff_t step,
                         std::size_t row_width, double* largest, double* sum) {
  const doubles d;
  const hn::Repartition<std::int32_t, doubles> numbers;
  const hn::Half<decltype(numbers)> half;
  const hn::Rebind<T, decltype(numbers)> bytes;
  const hn::RebindToSigned<doubles> words;
  const vector one = hn::Set(d, 1);
  for (std::size_t j = 0; rows > 0 && j < row_width; j += 2 * width) {
    const T* row = x + j;
    auto most = hn::PromoteTo(numbers, hn::LoadU(bytes, row));
    vector low = one, high = one;
    std::size_t r = 1;
    if (sum[j] != 0) {  // There are elements already.
      const auto number_of = [&](const double* from) { return hn::DemoteTo(half, hn::LoadU(d, from)); };
      most = hn::Combine(numbers, number_of(largest + j + width), number_of(largest + j));
      low = hn::LoadU(d, sum + j);
      high = hn::LoadU(d, sum + j + width);
      r = 0;
    }
    for (row += static_cast<std::ptrdiff_t>(r) * step; r < rows; ++r, row += step) {
      prefetch_line(row);
      const auto element = hn::PromoteTo(numbers, hn::LoadU(bytes, row));
      const auto grown = hn::VecFromMask(numbers, hn::Gt(element, most));
      const auto distance = hn::Abs(hn::Sub(element, most));
      most = hn::Max(most, element);
      const auto add = [&](vector s, auto grown_half, auto distance_half) {
        const vector power = hn::GatherIndex(d, powers, hn::PromoteTo(words, distance_half));
        const auto grows = hn::MaskFromVec(hn::BitCast(d, hn::PromoteTo(words, grown_half)));
        const vector above = hn::IfThenElse(grows, one, s), below = hn::IfThenElse(grows, s, one);
        return hn::Add(above, hn::Mul(below, power));
      };
      low = add(low, hn::LowerHalf(half, grown), hn::LowerHalf(half, distance));
      high = add(high, hn::UpperHalf(half, grown), hn::UpperHalf(half, distance));
    }
    hn::StoreU(low, d, sum + j);
    hn::StoreU(high, d, sum + j + width);
    hn::StoreU(hn::PromoteTo(d, hn::LowerHalf(half, most)), d, largest + j);
    hn::StoreU(hn::PromoteTo(d, hn::UpperHalf(half, most)), d, largest + j + width);
  }
}
void add_rows_of_i8(const double* powers, const std::int8_t* x, std::size_t rows, std::ptrdiff_t step,
                    std::size_t row_width, double* largest, double* sum) {
  add_rows(powers, x, rows, step, row_width, largest, sum);
}
void add_rows_of_u8(const double* powers, const std::uint8_t* x, std::size_t rows, std::ptrdiff_t step,
                    std::size_t row_width, double* largest, double* sum) {
  add_rows(powers, x, rows, step, row_width, largest, sum);
}

/// The numbers of one vector of floats in a few rows.
HWY_INLINE void near_column(const float* x, std::size_t rows, std::ptrdiff_t step, std::ptrdiff_t ahead, double* sum,
                            std::int32_t* most) {
  const floats f;
  const hn::RebindToSigned<floats> i;
  two_halves sums{hn::LoadU(doubles(), sum), hn::LoadU(doubles(), sum + width)};
  auto largest = hn::LoadU(i, most);
  for (; rows > 0; --rows, x += step) {
    __builtin_prefetch(x + ahead, 0, 2);
    const auto v = hn::LoadU(f, x);
    largest = hn::Max(largest, hn::BitCast(i, hn::Abs(v)));
    sums.add(near_exponentials(v));
  }
  hn::StoreU(sums.low, doubles(), sum);
  hn::StoreU(sums.high, doubles(), sum + width);
  hn::StoreU(largest, i, most);
}

/// exponentiate_block() of leaf.hpp for whole vectors.
bool exponentiate_floats(const float* x, std::size_t count, double* out) {
  const floats f;
  auto near = hn::Eq(hn::Zero(f), hn::Zero(f));
  for (std::size_t i = 0; i < count; i += 2 * width) {
    const auto v = hn::LoadU(f, x + i);
    near = hn::And(near, hn::Le(hn::Abs(v), hn::Set(f, accumulator::most_near)));
    const two_halves powers = near_exponentials(v);
    hn::StoreU(powers.low, doubles(), out + i);
    hn::StoreU(powers.high, doubles(), out + i + width);
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

/// total_of_near_leaf() of leaf.hpp. State j of a row is merged with state j + row_width / 2, and so on.
bool near_total(const float* x, std::size_t count, double& total) {
  const floats f;
  const hn::RebindToSigned<floats> i;
  constexpr std::size_t row_width = log_sum_row<float>::row_width, in_vector = 2 * width;
  constexpr std::size_t half = row_width / in_vector / 2;
  const std::size_t rows = count / row_width, left = count % row_width;
  HWY_ALIGN float last[row_width];
  if (left > 0) std::fill(std::copy_n(x + rows * row_width, left, last), last + row_width, 0.0f);
  auto largest = hn::Zero(i);
  const auto exponentials = [&](hn::Vec<floats> v) HWY_ATTR {
    largest = hn::Max(largest, hn::BitCast(i, hn::Abs(v)));
    return near_exponentials(v);
  };
  const auto column = [&](std::size_t j) HWY_ATTR {
    two_halves sums{hn::Zero(doubles()), hn::Zero(doubles())};
    for (std::size_t r = 0; r < rows; ++r) sums.add(exponentials(hn::LoadU(f, x + r * row_width + j)));
    if (j >= left) return sums;
    const two_halves all = exponentials(hn::Load(f, last + j));
    const auto before_end = [&](std::size_t at, vector v) HWY_ATTR {
      const std::size_t n = std::min(left - std::min(left, at), width);
      return hn::IfThenElseZero(hn::FirstN(doubles(), n), v);
    };
    sums.add({before_end(j, all.low), before_end(j + width, all.high)});
    return sums;
  };
  two_halves sums[half];
  for (std::size_t v = 0; v < half; ++v) {
    sums[v] = column(v * in_vector);
    sums[v].add(column((v + half) * in_vector));
  }
  HWY_UNROLL(4)
  for (std::size_t n = half / 2; n > 0; n /= 2) {
    HWY_UNROLL(8)
    for (std::size_t v = 0; v < n; ++v) sums[v].add(sums[v + n]);
  }
  collapse<sum_merge>(doubles(), vector_states<doubles, 1>{{hn::Add(sums[0].low, sums[0].high)}}, &total);
  return is_near(hn::GetLane(hn::MaxOfLanes(i, largest)));
}

/// add_near_rows() of leaf.hpp for rows of a multiple of 16 floats.
void near_rows(const float* x, std::size_t rows, std::ptrdiff_t step, std::size_t row_width, double* sum,
               std::int32_t* most, bool together, std::ptrdiff_t ahead) {
  for (std::size_t j = 0; j < row_width; j += 2 * width) {
    near_column(x + j, rows, step, ahead, sum + j, most + (together ? j % 16 : j));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace fanin::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fanin::cpu {
namespace {

HWY_EXPORT(merge_rows);
HWY_EXPORT(near_rows);
HWY_EXPORT(exponentiate_floats);
HWY_EXPORT(exponentiate_doubles);
HWY_EXPORT(near_total);
HWY_EXPORT(merge_states_of_bytes);
HWY_EXPORT(add_rows_of_i8);
HWY_EXPORT(add_rows_of_u8);

/// accumulator::exp_of_negative() of 0, -1, ..., -255 and -infinity.
const double* powers_of_e() {
  static const auto powers = [] {
    std::array<double, least_power + 1> all;
    for (int i = 0; i < least_power; ++i) all[static_cast<std::size_t>(i)] = accumulator::exp_of_negative(-i);
    all[least_power] = 0;
    return all;
  }();
  return powers.data();
}

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

void add_rows_of_bytes(const std::int8_t* x, std::size_t rows, std::ptrdiff_t step, std::size_t row_width,
                       double* largest, double* sum) {
  HWY_DYNAMIC_DISPATCH(add_rows_of_i8)(powers_of_e(), x, rows, step, row_width, largest, sum);
}
void add_rows_of_bytes(const std::uint8_t* x, std::size_t rows, std::ptrdiff_t step, std::size_t row_width,
                       double* largest, double* sum) {
  HWY_DYNAMIC_DISPATCH(add_rows_of_u8)(powers_of_e(), x, rows, step, row_width, largest, sum);
}
void merge_log_sums_of_bytes(const double* largest, const double* sum, std::size_t row_width, double* into_largest,
                             double* into_sum) {
  HWY_DYNAMIC_DISPATCH(merge_states_of_bytes)(powers_of_e(), largest, sum, row_width, into_largest, into_sum);
}

void add_near_rows(const float* x, std::size_t rows, std::ptrdiff_t step, std::size_t row_width, double* sum,
                   std::int32_t* most, bool together, std::ptrdiff_t ahead) {
  const std::size_t whole = row_width / 16 * 16;
  if (whole < row_width) {
    float padded[detail::rows_in_leaf * 16] = {};
    const float* row = x + whole;
    for (std::size_t r = 0; r < rows; ++r, row += step) std::copy_n(row, row_width - whole, padded + r * 16);
    add_near_rows(padded, rows, 16, 16, sum + whole, most + (together ? 0 : whole), together, 0);
  }
  HWY_DYNAMIC_DISPATCH(near_rows)(x, rows, step, whole, sum, most, together, ahead);
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
  return HWY_DYNAMIC_DISPATCH(near_total)(x, count, total);
}

void merge_states(bool plain, const double* largest, const double* sum, std::size_t row_width, double* into_largest,
                  double* into_sum) {
  if (!plain) return merge_log_sums(largest, sum, 1, 0, row_width, into_largest, into_sum);
  std::size_t j = 0;
  for (; j + 8 <= row_width; j += 8) add_eight(sum + j, into_sum + j);
  for (; j < row_width; ++j) into_sum[j] += sum[j];
}

}  // namespace fanin::cpu
#endif  // HWY_ONCE
