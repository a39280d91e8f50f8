// SPDX-License-Identifier: Apache-2.0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/batch/keyed_terms.cpp"
#include <hwy/foreach_target.h>
// These headers have to come after foreach_target.h.
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstring>
#include <iterator>
#include <limits>

#include "backends/cpu/batch/keyed_terms.hpp"
#include "backends/cpu/leaf.hpp"

HWY_BEFORE_NAMESPACE();
namespace fanin::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using integers = hn::ScalableTag<std::int64_t>;

template <std::signed_integral T>
HWY_INLINE hn::Vec<integers> load_wide(const T* x) {
  const auto loaded = hn::LoadU(hn::Rebind<T, integers>(), x);
  if constexpr (sizeof(T) == 8) {
    return loaded;
  } else if constexpr (sizeof(T) == 4) {
    return hn::PromoteTo(integers(), loaded);
  } else {
    return hn::PromoteTo(integers(), hn::PromoteTo(hn::Rebind<std::int32_t, integers>(), loaded));
  }
}

template <std::signed_integral T>
HWY_NOINLINE void write_terms(const term_form& form, const T* x, std::size_t count, std::int64_t* terms) {
  T whole[term_block];
  if (count % hn::Lanes(integers()) != 0) {
    std::fill(std::copy(x, x + count, whole), std::end(whole), T{0});
    x = whole;
  }
  const auto kept = hn::Set(integers(), form.kept), reversed = hn::Set(integers(), form.reversed);
  const auto flipped = hn::Set(integers(), form.flipped), magnitude = hn::Set(integers(), form.magnitude);
  const auto largest = hn::Set(integers(), form.largest);
  const auto nan = hn::Set(integers(), std::numeric_limits<std::int64_t>::max());
  for (std::size_t i = 0; i < count; i += hn::Lanes(integers())) {
    const auto v = hn::And(load_wide(x + i), kept);
    const auto key = hn::Xor(hn::Xor(v, hn::And(hn::BroadcastSignBit(v), reversed)), flipped);
    if (form.as_doubles) {
      hn::Store(hn::BitCast(integers(), hn::ConvertTo(hn::RebindToFloat<integers>(), v)), integers(), terms + i);
      continue;
    }
    const auto is_nan = hn::Gt(hn::And(v, magnitude), largest);
    hn::Store(hn::IfThenElse(is_nan, nan, key), integers(), terms + i);
  }
}
void write_terms_of(const term_form& form, const void* x, std::size_t count, std::int64_t* terms) {
  switch (form.bytes) {
    case 1:
      return write_terms(form, static_cast<const std::int8_t*>(x), count, terms);
    case 2:
      return write_terms(form, static_cast<const std::int16_t*>(x), count, terms);
    case 4:
      return write_terms(form, static_cast<const std::int32_t*>(x), count, terms);
    default:
      return write_terms(form, static_cast<const std::int64_t*>(x), count, terms);
  }
}

void write_groups(const std::uint64_t* keys, std::size_t count, std::uint64_t first, std::uint32_t outside,
                  std::uint32_t* group) {
  const hn::ScalableTag<std::uint64_t> of_keys;
  const hn::Repartition<std::uint32_t, decltype(of_keys)> of_groups;
  const auto begin = hn::Set(of_keys, first);
  const auto end = hn::Set(of_groups, outside);
  constexpr std::size_t width = hn::MaxLanes(of_groups);
  std::uint64_t last[width] = {};
  for (std::size_t i = 0; i < count; i += width) {
    const std::uint64_t* from = keys + i;
    if (count - i < width) {
      std::copy_n(from, count - i, last);
      from = last;
    }
    const auto half = [&](std::size_t j)
                          HWY_ATTR { return hn::BitCast(of_groups, hn::Sub(hn::LoadU(of_keys, from + j), begin)); };
    const auto low = half(0), high = half(width / 2);
    const auto is_small = hn::Eq(hn::ConcatOdd(of_groups, high, low), hn::Zero(of_groups));
    const auto smaller = hn::Min(hn::ConcatEven(of_groups, high, low), end);
    hn::StoreU(hn::IfThenElse(is_small, smaller, end), of_groups, group + i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace fanin::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fanin::cpu {

HWY_EXPORT(write_terms_of);
HWY_EXPORT(write_groups);

term_form::term_form(term_kind kind, element_type type_) : type(type_) {
  bool is_float = false, is_unsigned = false;
  with_element(type, [&]<class T>() {
    is_float = floating<T>;
    is_unsigned = std::unsigned_integral<T>;
    bytes = std::min(sizeof(T), sizeof(std::int64_t));
  });
  is_narrow_float = is_widened(type);
  if (is_narrow_float) bytes = sizeof(float);
  const bool is_key = kind == term_kind::keys || kind == term_kind::inverted_keys;
  as_doubles = kind == term_kind::doubles;
  copies = kind != term_kind::elements && (is_key || is_float || as_doubles || bytes < sizeof(std::int64_t));
  const std::uint64_t bits = ~std::uint64_t{0} >> (64 - 8 * bytes);
  const auto below_sign = static_cast<std::int64_t>(bits >> 1);
  if (is_unsigned) kept = static_cast<std::int64_t>(bits);
  if (is_float && kind == term_kind::nonzero) kept = below_sign;
  if (!is_key) return;
  if (is_float) {
    reversed = magnitude = below_sign;
    largest = bytes == sizeof(double) ? std::bit_cast<std::int64_t>(std::numeric_limits<double>::infinity())
                                      : std::bit_cast<std::int32_t>(std::numeric_limits<float>::infinity());
  }
  if (is_unsigned && bytes == sizeof(std::int64_t)) flipped = std::numeric_limits<std::int64_t>::min();
  if (kind == term_kind::inverted_keys) flipped = ~flipped;
}

const void* term_form::terms_of(const void* x, std::size_t count, std::byte* terms) const {
  float wide[term_block];
  if (is_narrow_float) {
    auto* const floats = copies ? wide : reinterpret_cast<float*>(terms);
    widen(x, count, type, floats);
    if (!copies) return terms;
    x = floats;
  }
  if (!copies) return x;
  HWY_DYNAMIC_DISPATCH(write_terms_of)(*this, x, count, reinterpret_cast<std::int64_t*>(terms));
  return terms;
}

bool term_form::is_nan(std::int64_t key) const {
  return magnitude != 0 && key == std::numeric_limits<std::int64_t>::max();
}
std::int64_t term_form::bits_of(std::int64_t key) const {
  if (is_nan(key)) return magnitude;
  const std::int64_t bits = key ^ flipped;
  return bits < 0 ? bits ^ reversed : bits;
}

void find_groups(const std::uint32_t* keys, std::size_t count, std::uint64_t first, std::uint32_t outside,
                 std::uint32_t* group) {
  const auto begin = static_cast<std::uint32_t>(first);
  for (std::size_t i = 0; i < count; ++i) group[i] = std::min(keys[i] - begin, outside);
}
void find_groups(const std::uint64_t* keys, std::size_t count, std::uint64_t first, std::uint32_t outside,
                 std::uint32_t* group) {
  HWY_DYNAMIC_DISPATCH(write_groups)(keys, count, first, outside, group);
}

static_assert(std::endian::native == std::endian::little);  // The first bytes of a word are its lowest ones.
void write_state(const term_rule& rule, const term_form& form, const std::byte* from, std::byte* state) {
  std::int64_t word[2];
  std::memcpy(word, from, (std::size_t{rule.keys} + rule.sums) * sizeof *word);
  for (std::size_t j = 0; j < rule.sums; ++j) {
    const std::int64_t wide[] = {word[j], word[j] >> 63};
    std::memcpy(state + j * sizeof wide, wide, sizeof wide);
  }
  std::memcpy(state + rule.sums * 2 * sizeof *word, from + rule.sums * sizeof *word, rule.words * sizeof *word);
  if (rule.keys == 0) return;
  if (form.is_nan(word[rule.keys - 1])) word[0] = word[rule.keys - 1];
  for (std::size_t j = 0; j < rule.keys; ++j) {
    const std::int64_t bits = form.bits_of(word[j]);
    std::memcpy(state + j * form.bytes, &bits, form.bytes);
  }
  if (rule.has_index) std::memcpy(state + sizeof *word, from + sizeof *word, sizeof(std::uint64_t));
}

}  // namespace fanin::cpu
#endif  // HWY_ONCE
