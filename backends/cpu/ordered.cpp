// SPDX-License-Identifier: Apache-2.0
// Leaves whose order of operations is part of the result: sums, dot products and products of f32 and f64, and
// compensated sums and dot products.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/ordered.cpp"
#include <hwy/foreach_target.h>
// These headers have to come after foreach_target.h.
#include <hwy/highway.h>

#include "backends/cpu/leaf.hpp"
#include "backends/cpu/ordered-inl.h"
#include "backends/cpu/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fanin::cpu {
namespace HWY_NAMESPACE {

template <class Kernel, class T>
HWY_INLINE input<T, Kernel::inputs> input_of(const operands& data) {
  const auto* const x = static_cast<const T*>(data.x);
  if constexpr (Kernel::inputs == 2) {
    return {{x}, {static_cast<const T*>(data.y)}};
  } else {
    return {x};
  }
}

template <class Kernel, class T>
std::array<T, Kernel::planes> collapse(const T* state) {
  row_state<Kernel, T> row;
  row.load(state);
  return collapse_row<Kernel, T>(row);
}

/// Folds each of several arrays into one state, long ones by Whole. States without elements are neutral, and short
/// arrays leave them out.
template <class Kernel, class T, std::array<T, Kernel::planes> (*Whole)(const operands&, std::size_t)>
void fold_arrays(const operands* runs, const std::size_t* counts, std::size_t number,
                 std::array<T, Kernel::planes>* totals) {
  using S = row_state<Kernel, T>;
  const typename S::D d;
  for (std::size_t i = 0; i < number; ++i) {
    const auto in = input_of<Kernel, T>(runs[i]);
    const std::size_t count = counts[i];
    if (count <= S::width) {
      vector_states<typename S::D, Kernel::planes> all;
      Kernel::reset(d, all);
      if (count == S::width) {
        in.template add<Kernel>(d, all, 0);
      } else {
        in.template add_part<Kernel>(d, all, 0, 0, count);
      }
      collapse<Kernel>(d, all, totals[i].data());
    } else if (count <= S::size) {
      leaf_fold<Kernel, T> leaf(in, count, 0);
      leaf.template add_rows<false>(leaf.rows());
      leaf.add_rest();
      totals[i] = collapse_row<Kernel, T>(leaf.row);
    } else {
      totals[i] = Whole(runs[i], count);
    }
  }
}

#define FANIN_FOLD(NAME, T)                                                       \
  void NAME##_##T(const operands& data, std::size_t count, T* state) {            \
    fold_to_row<NAME##_kernel>(input_of<NAME##_kernel, T>(data), count, state);   \
  }                                                                               \
  auto whole_##NAME##_##T(const operands& data, std::size_t count) {              \
    return fold_to_state<NAME##_kernel>(input_of<NAME##_kernel, T>(data), count); \
  }
#define FANIN_FOLD_EACH(NAME, T)                                                              \
  void each_##NAME##_##T(const operands* runs, const std::size_t* counts, std::size_t number, \
                         std::array<T, NAME##_kernel::planes>* totals) {                      \
    fold_arrays<NAME##_kernel, T, whole_##NAME##_##T>(runs, counts, number, totals);          \
  }
#define FANIN_COLLAPSE(NAME, T) \
  auto collapse_##NAME##_##T(const T* state) { return collapse<NAME##_kernel>(state); }
#define FANIN_LEAVES(T)               \
  FANIN_FOLD(sum, T)                  \
  FANIN_FOLD(magnitude, T)            \
  FANIN_FOLD(dot, T)                  \
  FANIN_FOLD(product, T)              \
  FANIN_FOLD(compensated_sum, T)      \
  FANIN_FOLD(compensated_dot, T)      \
  FANIN_FOLD_EACH(sum, T)             \
  FANIN_FOLD_EACH(magnitude, T)       \
  FANIN_FOLD_EACH(dot, T)             \
  FANIN_FOLD_EACH(product, T)         \
  FANIN_FOLD_EACH(compensated_sum, T) \
  FANIN_COLLAPSE(sum, T)              \
  FANIN_COLLAPSE(product, T)          \
  FANIN_COLLAPSE(compensated_sum, T)
FANIN_LEAVES(float)
FANIN_LEAVES(double)

}  // namespace HWY_NAMESPACE
}  // namespace fanin::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fanin::cpu {

#define FANIN_DISPATCH_FOLD(NAME, T, ACCUMULATOR)                                            \
  HWY_EXPORT(NAME##_##T);                                                                    \
  template <>                                                                                \
  void fold_to_states<ACCUMULATOR>(const operands& data, std::size_t count, T* state) {      \
    HWY_DYNAMIC_DISPATCH(NAME##_##T)(data, count, state);                                    \
  }                                                                                          \
  HWY_EXPORT(whole_##NAME##_##T);                                                            \
  template <>                                                                                \
  numbers_of<ACCUMULATOR> fold_whole<ACCUMULATOR>(const operands& data, std::size_t count) { \
    return HWY_DYNAMIC_DISPATCH(whole_##NAME##_##T)(data, count);                            \
  }
#define FANIN_DISPATCH_EACH(NAME, T, ACCUMULATOR)                                                  \
  HWY_EXPORT(each_##NAME##_##T);                                                                   \
  template <>                                                                                      \
  void fold_each<ACCUMULATOR>(const operands* runs, const std::size_t* counts, std::size_t number, \
                              numbers_of<ACCUMULATOR>* totals) {                                   \
    HWY_DYNAMIC_DISPATCH(each_##NAME##_##T)(runs, counts, number, totals);                         \
  }
#define FANIN_DISPATCH_COLLAPSE(NAME, T, ACCUMULATOR)                 \
  HWY_EXPORT(collapse_##NAME##_##T);                                  \
  template <>                                                         \
  numbers_of<ACCUMULATOR> total_of_row<ACCUMULATOR>(const T* state) { \
    return HWY_DYNAMIC_DISPATCH(collapse_##NAME##_##T)(state);        \
  }
#define FANIN_DISPATCH(T)                                                  \
  FANIN_DISPATCH_FOLD(sum, T, accumulator::plain_sum<T>)                   \
  FANIN_DISPATCH_FOLD(magnitude, T, magnitude_sum<T>)                      \
  FANIN_DISPATCH_FOLD(dot, T, accumulator::plain_dot<T>)                   \
  FANIN_DISPATCH_FOLD(product, T, accumulator::plain_product<T>)           \
  FANIN_DISPATCH_FOLD(compensated_sum, T, accumulator::compensated_sum<T>) \
  FANIN_DISPATCH_FOLD(compensated_dot, T, accumulator::compensated_dot<T>) \
  FANIN_DISPATCH_EACH(sum, T, accumulator::plain_sum<T>)                   \
  FANIN_DISPATCH_EACH(magnitude, T, magnitude_sum<T>)                      \
  FANIN_DISPATCH_EACH(dot, T, accumulator::plain_dot<T>)                   \
  FANIN_DISPATCH_EACH(product, T, accumulator::plain_product<T>)           \
  FANIN_DISPATCH_EACH(compensated_sum, T, accumulator::compensated_sum<T>) \
  FANIN_DISPATCH_COLLAPSE(sum, T, accumulator::plain_sum<T>)               \
  FANIN_DISPATCH_COLLAPSE(product, T, accumulator::plain_product<T>)       \
  FANIN_DISPATCH_COLLAPSE(compensated_sum, T, accumulator::compensated_sum<T>)
FANIN_DISPATCH(float)
FANIN_DISPATCH(double)
#undef FANIN_DISPATCH

}  // namespace fanin::cpu
#endif  // HWY_ONCE
