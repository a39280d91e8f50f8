// SPDX-License-Identifier: Apache-2.0
// Compensated sums of elements and of their squares for groups. A vector has both sums of a group.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/batch/keyed_moments.cpp"
#include <hwy/foreach_target.h>
// These headers have to come after foreach_target.h.
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "backends/cpu/batch/keyed_addition.hpp"
#include "backends/cpu/error_free-inl.h"
#include "backends/cpu/loads-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fanin::cpu {
namespace HWY_NAMESPACE {

/// The states of so many elements ahead are prefetched. Those of many groups are in no near cache.
constexpr std::size_t ahead = 16;

/// Writes the elements as doubles and their squares, and the rounding errors of the squares, if squares are rounded.
template <class T>
HWY_INLINE void write_squares(const T* x, std::size_t count, double* terms, double* errors) {
  const hn::ScalableTag<double> d;
  T whole[term_block];
  if (count % hn::Lanes(d) != 0) {
    std::fill(std::copy(x, x + count, whole), std::end(whole), T{0});
    x = whole;
  }
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    const auto v = load(d, x + i);
    const auto square = hn::Mul(v, v);
    hn::StoreInterleaved2(v, square, d, terms + 2 * i);
    if constexpr (sizeof(T) == sizeof(double)) {
      hn::StoreInterleaved2(hn::Zero(d), error_of_product(d, v, v, square), d, errors + 2 * i);
    }
  }
}

template <class T>
HWY_INLINE void add_moments(double* states, const std::uint32_t* group, const T* x, std::size_t count) {
  const hn::FixedTag<double, 2> pair;
  HWY_ALIGN double terms[2 * term_block];
  HWY_ALIGN double errors[2 * term_block];
  write_squares(x, count, terms, errors);
  for (std::size_t i = 0; i < count; ++i) {
    __builtin_prefetch(states + std::size_t{group[std::min(i + ahead, count - 1)]} * 5, 1);
    double* const state = states + std::size_t{group[i]} * 5;
    const auto of_sum = hn::LoadU(pair, state), of_squares = hn::LoadU(pair, state + 2);
    auto sums = hn::InterleaveLower(pair, of_sum, of_squares);
    auto e = two_sum(sums, hn::Load(pair, terms + 2 * i));
    if constexpr (sizeof(T) == sizeof(double)) e = hn::Add(e, hn::Load(pair, errors + 2 * i));
    const auto lost = hn::Add(hn::InterleaveUpper(pair, of_sum, of_squares), e);
    hn::StoreU(hn::InterleaveLower(pair, sums, lost), pair, state);
    hn::StoreU(hn::InterleaveUpper(pair, sums, lost), pair, state + 2);
    std::uint64_t elements;
    std::memcpy(&elements, state + 4, sizeof elements);
    ++elements;
    std::memcpy(state + 4, &elements, sizeof elements);
  }
}
void add_moments_of_floats(double* states, const std::uint32_t* group, const float* x, std::size_t count) {
  add_moments(states, group, x, count);
}
void add_moments_of_doubles(double* states, const std::uint32_t* group, const double* x, std::size_t count) {
  add_moments(states, group, x, count);
}

}  // namespace HWY_NAMESPACE
}  // namespace fanin::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fanin::cpu {

HWY_EXPORT(add_moments_of_floats);
HWY_EXPORT(add_moments_of_doubles);
template <>
void add_compensated_moments(void* states, const std::uint32_t* group, const float* x, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(add_moments_of_floats)(static_cast<double*>(states), group, x, count);
}
template <>
void add_compensated_moments(void* states, const std::uint32_t* group, const double* x, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(add_moments_of_doubles)(static_cast<double*>(states), group, x, count);
}

}  // namespace fanin::cpu
#endif  // HWY_ONCE
