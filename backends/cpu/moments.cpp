// SPDX-License-Identifier: Apache-2.0
// The leaves of rounded variances: sums of elements and of their squares in double (accumulator/dispersion.hpp).
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/moments.cpp"
#include <hwy/foreach_target.h>
// These headers have to come after foreach_target.h.
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <type_traits>

#include "backends/cpu/leaf.hpp"
#include "backends/cpu/moments-inl.h"
#include "backends/cpu/prefetch.hpp"
#include "backends/cpu/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fanin::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using doubles = hn::ScalableTag<double>;
using vector = double_vector;
constexpr std::size_t width = hn::MaxLanes(doubles());

/// Half of the vector registers hold states.
constexpr std::size_t state_registers = HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64 ? 16 : 8;

template <class T>
HWY_INLINE vector load(const T* x) {
  if constexpr (std::is_same_v<T, double>) {
    return hn::LoadU(doubles(), x);
  } else {
    return hn::PromoteTo(doubles(), hn::LoadU(hn::Rebind<float, doubles>(), x));
  }
}

/// Adds elements as plain_moments<float> does.
struct plain_leaf {
  static constexpr std::size_t registers = 2;
  plain_states s;

  HWY_INLINE void begin(const float*, std::size_t, std::size_t) {
    for (vector& v : s.plane) v = hn::Zero(doubles());
  }
  HWY_INLINE void add(vector x) { s.add(x); }
  HWY_INLINE plain_states end() const { return s; }
};

/// Adds elements as compensated_moments<T> does.
template <class T>
struct compensated_leaf {
  static constexpr std::size_t registers = 4;
  compensated_states s;

  HWY_INLINE void begin(const T*, std::size_t, std::size_t) {
    for (vector& v : s.plane) v = hn::Zero(doubles());
  }
  HWY_INLINE void add(vector x) {
    const vector e = two_sum(s.plane[0], x);
    s.plane[1] = hn::Add(s.plane[1], e);
    const vector square = hn::Mul(x, x);
    vector of_square = two_sum(s.plane[2], square);
    if constexpr (std::is_same_v<T, double>) {
      of_square = hn::Add(of_square, error_of_product(doubles(), x, x, square));
    }
    s.plane[3] = hn::Add(s.plane[3], of_square);
  }
  HWY_INLINE compensated_states end() const { return s; }
};

/// Adds elements as shifted_states do, whose origins are looked for first.
struct shifted_leaf {
  static constexpr std::size_t registers = 4;
  shifted_states s;

  HWY_INLINE void begin(const double* x, std::size_t rows, std::size_t row_width) {
    for (vector& v : s.plane) v = hn::Zero(doubles());
    for (std::size_t row = 0; row < rows && s.look_for_origins(hn::LoadU(doubles(), x + row * row_width)); ++row) {
    }
  }
  HWY_INLINE void add(vector x) { s.add(x); }
  HWY_INLINE compensated_states end() const { return s.end(); }
};

/// Folds rows into the planes of a row of states. The number of vectors that are folded at a time is the number
/// for which there are registers.
template <class Leaf, std::size_t RowWidth, class T>
HWY_INLINE void fold_rows(const T* x, std::size_t rows, double* planes) {
  constexpr std::size_t unroll = state_registers / Leaf::registers;
  static_assert(RowWidth % (unroll * width) == 0);
  for (std::size_t j = 0; j < RowWidth; j += unroll * width) {
    Leaf leaf[unroll];
    for (std::size_t v = 0; v < unroll; ++v) leaf[v].begin(x + j + v * width, rows, RowWidth);
    const T* there = x + j;
    for (std::size_t row = 0; row < rows; ++row, there += RowWidth) {
      for (std::size_t b = 0; b < unroll * width * sizeof(T); b += 64) {
        prefetch_line(reinterpret_cast<const char*>(there) + b);
      }
      HWY_UNROLL(8)
      for (std::size_t v = 0; v < unroll; ++v) leaf[v].add(load(there + v * width));
    }
    for (std::size_t v = 0; v < unroll; ++v) {
      const auto s = leaf[v].end();
      for (std::size_t p = 0; p < s.planes; ++p)
        hn::StoreU(s.plane[p], doubles(), planes + p * RowWidth + j + v * width);
    }
  }
}

/// Merges a row of states, whose planes are `count` numbers long, into another.
template <class States>
HWY_INLINE void merge_rows(const double* from, std::size_t count, double* into) {
  for (std::size_t j = 0; j < count; j += width) {
    States s, other;
    for (std::size_t p = 0; p < s.planes; ++p) {
      s.plane[p] = hn::LoadU(doubles(), into + p * count + j);
      other.plane[p] = hn::LoadU(doubles(), from + p * count + j);
    }
    s.merge(other);
    for (std::size_t p = 0; p < s.planes; ++p) hn::StoreU(s.plane[p], doubles(), into + p * count + j);
  }
}

static_assert(width <= moment_states_left);
/// Merges state j of a row of states, whose planes are `count` numbers long, with state j + count / 2, and so on down
/// to moment_states_left states.
template <class States>
HWY_INLINE void collapse_rows(const double* from, std::size_t count, double* into) {
  double room[States::planes * detail::row_bytes / sizeof(float) / 2];
  for (std::size_t half = count / 2; half >= moment_states_left; half /= 2) {
    double* const to = half == moment_states_left ? into : room;
    for (std::size_t j = 0; j < half; j += width) {
      States s, other;
      for (std::size_t p = 0; p < s.planes; ++p) {
        s.plane[p] = hn::LoadU(doubles(), from + p * count + j);
        other.plane[p] = hn::LoadU(doubles(), from + p * count + half + j);
      }
      s.merge(other);
      for (std::size_t p = 0; p < s.planes; ++p) hn::StoreU(s.plane[p], doubles(), to + p * half + j);
    }
    from = to;
    count = half;
  }
}

/// Merges states of plain_moments<float>.
struct plain_merge {
  static constexpr int planes = 2;
  template <class D, class S>
  static HWY_INLINE void merge(D, S& s, const S& other) {
    for (int p = 0; p < planes; ++p) s.plane[p] = hn::Add(s.plane[p], other.plane[p]);
  }
};

template <class T>
constexpr std::size_t row_width = detail::row_bytes / sizeof(T);

/// Folds rows to one state, half of a row after the other half: state j is merged with state j + row_width / 2, then
/// with j + row_width / 4, and so on. The last row is `last`, unless that is null.
HWY_INLINE accumulator::double_moments total_of_rows(const float* x, std::size_t rows, const float* last) {
  constexpr std::size_t half = row_width<float> / width / 2;
  plain_states s[half];
  HWY_UNROLL(8)
  for (std::size_t v = 0; v < half; ++v) {
    plain_leaf low, high;
    low.begin(x, 0, 0);
    high.begin(x, 0, 0);
    const auto add = [&](const float* row) HWY_ATTR {
      low.add(load(row + v * width));
      high.add(load(row + (v + half) * width));
    };
    for (std::size_t row = 0; row < rows; ++row) add(x + row * row_width<float>);
    if (last != nullptr) add(last);
    s[v] = low.s;
    s[v].merge(high.s);
  }
  HWY_UNROLL(4)
  for (std::size_t n = half / 2; n > 0; n /= 2) {
    HWY_UNROLL(4)
    for (std::size_t v = 0; v < n; ++v) s[v].merge(s[v + n]);
  }
  double total[plain_merge::planes];
  collapse<plain_merge>(doubles(), vector_states<doubles, plain_merge::planes>{{s[0].plane[0], s[0].plane[1]}},
                        total);
  return {total[0], total[1]};
}
/// Folds arrays of up to a leaf. A row that is not whole is filled up with zeros, which change no sum.
void total_each(const operands* runs, const std::size_t* counts, std::size_t number,
                accumulator::double_moments* totals) {
  for (std::size_t i = 0; i < number; ++i) {
    const auto* const x = static_cast<const float*>(runs[i].x);
    const std::size_t rows = counts[i] / row_width<float>, rest = counts[i] % row_width<float>;
    HWY_ALIGN float last[row_width<float>];
    if (rest > 0) std::fill(std::copy_n(x + counts[i] - rest, rest, last), last + row_width<float>, 0.0f);
    if (counts[i] <= detail::leaf_of<accumulator::plain_moments<float>>) {
      totals[i] = total_of_rows(x, rows, rest > 0 ? last : nullptr);
    }
  }
}

void fold_plain(const float* x, std::size_t rows, double* out) {
  fold_rows<plain_leaf, row_width<float>>(x, rows, out);
}
void fold_compensated_f32(const float* x, std::size_t rows, double* out) {
  fold_rows<compensated_leaf<float>, row_width<float>>(x, rows, out);
}
void fold_compensated_f64(const double* x, std::size_t rows, double* out) {
  fold_rows<compensated_leaf<double>, row_width<double>>(x, rows, out);
}
void fold_shifted(const double* x, std::size_t rows, double* out) {
  fold_rows<shifted_leaf, row_width<double>>(x, rows, out);
}
void collapse_plain(const double* from, std::size_t count, double* into) {
  collapse_rows<plain_states>(from, count, into);
}
void collapse_compensated(const double* from, std::size_t count, double* into) {
  collapse_rows<compensated_states>(from, count, into);
}
void merge_plain(const double* from, std::size_t count, double* into) { merge_rows<plain_states>(from, count, into); }
void merge_compensated(const double* from, std::size_t count, double* into) {
  merge_rows<compensated_states>(from, count, into);
}

}  // namespace HWY_NAMESPACE
}  // namespace fanin::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fanin::cpu {
namespace {

HWY_EXPORT(fold_plain);
HWY_EXPORT(fold_compensated_f32);
HWY_EXPORT(fold_compensated_f64);
HWY_EXPORT(fold_shifted);
HWY_EXPORT(merge_plain);
HWY_EXPORT(merge_compensated);
HWY_EXPORT(collapse_plain);
HWY_EXPORT(collapse_compensated);
HWY_EXPORT(total_each);

/// Folds whole rows by the best instruction set of this machine.
template <class A>
void fold_rows(const typename A::element* x, std::size_t rows, double* out) {
  if constexpr (std::is_same_v<A, accumulator::plain_moments<float>>) {
    HWY_DYNAMIC_DISPATCH(fold_plain)(x, rows, out);
  } else if constexpr (std::is_same_v<A, accumulator::compensated_moments<float>>) {
    HWY_DYNAMIC_DISPATCH(fold_compensated_f32)(x, rows, out);
  } else if constexpr (std::is_same_v<A, accumulator::compensated_moments<double>>) {
    HWY_DYNAMIC_DISPATCH(fold_compensated_f64)(x, rows, out);
  } else {
    HWY_DYNAMIC_DISPATCH(fold_shifted)(x, rows, out);
  }
}

/// A row that is not whole is filled up with zeros, which change no sum.
template <class A>
void fold_leaf(const typename A::element* x, std::size_t count, moment_row<A>& out) {
  using T = typename A::element;
  constexpr std::size_t row_width = moment_row<A>::row_width;
  static_assert(row_width * sizeof(T) == detail::row_bytes);
  const std::size_t rows = (count + row_width - 1) / row_width;
  if (count == rows * row_width) return fold_rows<A>(x, rows, out.plane[0]);
  T room[detail::leaf_of<A>];
  std::fill(std::copy_n(x, count, room), room + rows * row_width, T{0});
  fold_rows<A>(room, rows, out.plane[0]);
}

}  // namespace

template <class A>
void moment_row<A>::merge(const moment_row& from) {
  if constexpr (planes == 2) {
    HWY_DYNAMIC_DISPATCH(merge_plain)(from.plane[0], row_width, plane[0]);
  } else {
    HWY_DYNAMIC_DISPATCH(merge_compensated)(from.plane[0], row_width, plane[0]);
  }
}

template <class A>
typename A::state moment_row<A>::total() const {
  double left[planes * moment_states_left];
  if constexpr (planes == 2) {
    HWY_DYNAMIC_DISPATCH(collapse_plain)(plane[0], row_width, left);
  } else {
    HWY_DYNAMIC_DISPATCH(collapse_compensated)(plane[0], row_width, left);
  }
  state states[moment_states_left];
  for (std::size_t i = 0; i < moment_states_left; ++i) {
    std::array<double, planes> numbers;
    for (std::size_t p = 0; p < planes; ++p) numbers[p] = left[p * moment_states_left + i];
    states[i] = std::bit_cast<state>(numbers);
  }
  for (std::size_t half = moment_states_left / 2; half > 0; half /= 2) {
    for (std::size_t j = 0; j < half; ++j) A::merge(states[j], states[j + half]);
  }
  return states[0];
}

template <class A>
void fold_moments(const typename A::element* x, std::size_t count, moment_row<A>& out) {
  constexpr std::size_t leaf = detail::leaf_of<A>;
  if (count <= leaf) return fold_leaf(x, count, out);
  const std::size_t left = leaf * std::bit_floor((count - 1) / leaf);
  moment_row<A> right;
  fold_moments(x, left, out);
  fold_moments(x + left, count - left, right);
  out.merge(right);
}

void fold_moments_each(const detail::operands* runs, const std::size_t* counts, std::size_t number,
                       accumulator::double_moments* totals) {
  using A = accumulator::plain_moments<float>;
  HWY_DYNAMIC_DISPATCH(total_each)(runs, counts, number, totals);
  for (std::size_t i = 0; i < number; ++i) {
    if (counts[i] <= detail::leaf_of<A>) continue;
    moment_row<A> row;
    fold_moments(static_cast<const float*>(runs[i].x), counts[i], row);
    totals[i] = row.total();
  }
}

#define FANIN_INSTANTIATE(ACCUMULATOR, T)                  \
  template struct moment_row<accumulator::ACCUMULATOR<T>>; \
  template void fold_moments(const T*, std::size_t, moment_row<accumulator::ACCUMULATOR<T>>&);
FANIN_INSTANTIATE(plain_moments, float)
FANIN_INSTANTIATE(compensated_moments, float)
FANIN_INSTANTIATE(compensated_moments, double)
FANIN_INSTANTIATE(shifted_moments, double)

}  // namespace fanin::cpu
#endif  // HWY_ONCE
