// SPDX-License-Identifier: Apache-2.0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/presence.cpp"
#include <hwy/foreach_target.h>
// These headers have to come after foreach_target.h.
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "backends/cpu/blocks.hpp"
#include "backends/cpu/prefetch.hpp"
#include "backends/cpu/presence.hpp"

#ifndef FANIN_BACKENDS_CPU_PRESENCE_JOB
#define FANIN_BACKENDS_CPU_PRESENCE_JOB
namespace fanin::cpu {

/// Elements as words, and the bytes of their mask, or null.
struct word_job {
  const void* x;
  const void* y;
  const std::uint8_t* mask;
  std::size_t count;
  std::uint64_t largest_number;
};

}  // namespace fanin::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace fanin::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Words of type U, compared as signed numbers, which they are without their sign bits.
template <class U>
struct word_loops {
  static constexpr U without_sign = static_cast<U>(~U{0}) >> 1;
  static constexpr std::size_t width = hn::MaxLanes(hn::ScalableTag<U>());

  static HWY_INLINE auto numbers(const void* x, std::size_t i, U largest) {
    const hn::ScalableTag<U> d;
    const hn::RebindToSigned<decltype(d)> s;
    const auto magnitude = hn::And(hn::LoadU(d, static_cast<const U*>(x) + i), hn::Set(d, without_sign));
    return hn::RebindMask(d, hn::Not(hn::Gt(hn::BitCast(s, magnitude), hn::BitCast(s, hn::Set(d, largest)))));
  }
  static HWY_INLINE auto mask_words(const std::uint8_t* mask) {
    const hn::ScalableTag<U> d;
    if constexpr (sizeof(U) == 1) {
      return hn::LoadU(d, mask);
    } else {
      const hn::Rebind<std::uint8_t, decltype(d)> bytes;
      const auto v = hn::LoadU(bytes, mask);
      if constexpr (sizeof(U) == 8) {
        return hn::PromoteTo(d, hn::PromoteTo(hn::Rebind<std::uint32_t, decltype(d)>(), v));
      } else {
        return hn::PromoteTo(d, v);
      }
    }
  }
  /// The elements i, ..., i + width - 1 that take part, as a mask.
  static HWY_INLINE auto present(const word_job& job, std::size_t i) {
    const hn::ScalableTag<U> d;
    const U largest = static_cast<U>(job.largest_number);
    auto found = numbers(job.x, i, largest);
    if (job.y != nullptr) found = hn::And(found, numbers(job.y, i, largest));
    if (job.mask != nullptr) found = hn::And(found, hn::Ne(mask_words(job.mask + i), hn::Zero(d)));
    return found;
  }
  static bool is_present(const word_job& job, std::size_t i) {
    const auto is_number = [&](const void* x) {
      return (static_cast<const U*>(x)[i] & without_sign) <= static_cast<U>(job.largest_number);
    };
    return is_number(job.x) && (job.y == nullptr || is_number(job.y)) && (job.mask == nullptr || job.mask[i] != 0);
  }

  static std::size_t first(const word_job& job) {
    const hn::ScalableTag<U> d;
    std::size_t i = 0;
    while (i + width <= job.count && hn::AllFalse(d, present(job, i))) i += width;
    while (i < job.count && !is_present(job, i)) ++i;
    return i;
  }
  static std::size_t copy(const word_job& job, const std::uint64_t (*in_place)[2], void* out_x, void* out_y) {
    const hn::ScalableTag<U> d;
    const auto bits = [&](int input, std::size_t at) { return static_cast<U>(in_place[input][at % 2]); };
    const auto vector = [&](int input)
                            HWY_ATTR { return hn::OddEven(hn::Set(d, bits(input, 1)), hn::Set(d, bits(input, 0))); };
    const auto for_x = vector(0), for_y = vector(1);
    std::size_t found = 0, i = 0;
    const auto put = [&](const void* x, auto absent, auto is_there, void* out) HWY_ATTR {
      const auto v = hn::LoadU(d, static_cast<const U*>(x) + i);
      hn::StoreU(hn::IfThenElse(is_there, v, absent), d, static_cast<U*>(out) + i);
    };
    for (; i + width <= job.count; i += width) {
      const auto there = present(job, i);
      found += hn::CountTrue(d, there);
      prefetch_line(static_cast<const U*>(job.x) + i);
      if (job.y != nullptr) prefetch_line(static_cast<const U*>(job.y) + i);
      put(job.x, for_x, there, out_x);
      if (job.y != nullptr) put(job.y, for_y, there, out_y);
    }
    for (; i < job.count; ++i) {
      const bool there = is_present(job, i);
      found += there ? 1 : 0;
      static_cast<U*>(out_x)[i] = there ? static_cast<const U*>(job.x)[i] : bits(0, i);
      if (job.y != nullptr) static_cast<U*>(out_y)[i] = there ? static_cast<const U*>(job.y)[i] : bits(1, i);
    }
    return found;
  }
  /// Writes a mask of words. Both words of a pair take part if the mask of the pairs and both words say so.
  static void pair_words(const word_job& job, std::uint8_t* out) {
    for (std::size_t i = 0; i < job.count; ++i) {
      const bool in_mask = job.mask == nullptr || job.mask[i] != 0;
      const word_job all{job.x, job.y, nullptr, 0, job.largest_number};
      out[2 * i] = out[2 * i + 1] = in_mask && is_present(all, 2 * i) && is_present(all, 2 * i + 1);
    }
  }
};

/// Calls f with a word of `bytes` bytes.
template <class F>
std::size_t with_word(std::size_t bytes, F f) {
  return bytes == 1   ? f(std::uint8_t())
         : bytes == 2 ? f(std::uint16_t())
         : bytes == 4 ? f(std::uint32_t())
                      : f(std::uint64_t());
}
std::size_t first_word(const word_job& job, std::size_t bytes) {
  return with_word(bytes, [&]<class U>(U) { return word_loops<U>::first(job); });
}
std::size_t copy_words(const word_job& job, std::size_t bytes, const std::uint64_t (*in_place)[2], void* x, void* y) {
  return with_word(bytes, [&]<class U>(U) { return word_loops<U>::copy(job, in_place, x, y); });
}

void pair_mask(const word_job& job, std::size_t bytes, std::uint8_t* out) {
  bytes == 4 ? word_loops<std::uint32_t>::pair_words(job, out) : word_loops<std::uint64_t>::pair_words(job, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace fanin::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fanin::cpu {
namespace {

HWY_EXPORT(first_word);
HWY_EXPORT(copy_words);
HWY_EXPORT(pair_mask);

constexpr std::size_t copied_block_bytes = 16384;
static_assert(copied_block_bytes <= most_copied);

/// Writes `count` bits of a mask as bytes that are 0 or not. Eight bits become eight bytes at once: their byte is
/// copied to each, where one bit of it stays.
void write_bytes(const std::uint8_t* bits, std::uint64_t first, std::size_t count, std::uint8_t* out) {
  static_assert(std::endian::native == std::endian::little);
  const auto bit = [&](std::uint64_t i) { return static_cast<std::uint8_t>(bits[i / 8] >> (i % 8) & 1); };
  std::size_t i = 0;
  for (; i < count && (first + i) % 8 != 0; ++i) out[i] = bit(first + i);
  for (; i + 8 <= count; i += 8) {
    const std::uint64_t bytes = bits[(first + i) / 8] * 0x0101010101010101u & 0x8040201008040201u;
    std::memcpy(out + i, &bytes, 8);
  }
  for (; i < count; ++i) out[i] = bit(first + i);
}

}  // namespace

copied_part copy_present(const presence_rule& rule, const operands& data, const mask_view& mask, std::size_t count,
                         void* x, void* y, std::optional<std::uint64_t>& other) {
  std::uint8_t from_bits[most_copied];
  const auto* bytes = static_cast<const std::uint8_t*>(mask.data);
  if (mask && mask.form == mask_form::bits) {
    write_bytes(bytes, mask.first, count, from_bits);
    bytes = from_bits;
  } else if (mask) {
    bytes += mask.first;
  }
  word_job job{data.x, data.y, bytes, count, rule.largest_number};
  const std::size_t width = rule.word_bytes();
  if (rule.words == 2) {
    std::uint8_t of_words[2 * most_copied];
    HWY_DYNAMIC_DISPATCH(pair_mask)(job, width, of_words);
    job.mask = of_words;
    job.count = 2 * count;
    return {0, HWY_DYNAMIC_DISPATCH(copy_words)(job, width, rule.in_place, x, y) / 2};
  }
  if (rule.absent != stand_in::other) return {0, HWY_DYNAMIC_DISPATCH(copy_words)(job, width, rule.in_place, x, y)};
  std::size_t left_out = 0;
  if (!other) {
    left_out = HWY_DYNAMIC_DISPATCH(first_word)(job, width);
    if (left_out == count) return {count, 0};
    const operands rest = operands_from(data, left_out, width);
    job = {rest.x, rest.y, bytes != nullptr ? bytes + left_out : nullptr, count - left_out, rule.largest_number};
    std::memcpy(&other.emplace(0), rest.x, width);
  }
  const std::uint64_t in_place[most_inputs][2] = {{*other, *other}, {*other, *other}};
  return {left_out, HWY_DYNAMIC_DISPATCH(copy_words)(job, width, in_place, x, y)};
}

std::uint64_t accumulate_present(const arithmetic& f, const presence_rule& rule, const mask_view& mask,
                                 const operands& data, std::size_t count, void* state) {
  rule.require_stand_in();
  alignas(64) std::byte x[copied_block_bytes], y[copied_block_bytes];
  const std::size_t block =
      f.leaf_elements *
      std::max<std::size_t>(1, std::bit_floor(copied_block_bytes / f.element_bytes / f.leaf_elements));
  std::uint64_t present = 0;
  const auto fold_block = [&](std::size_t begin, std::size_t n, void* into) {
    const operands part = operands_from(data, begin, f.element_bytes);
    std::optional<std::uint64_t> other;
    const copied_part done = copy_present(rule, part, mask.from(part.first), n, x, y, other);
    present += done.present;
    f.accumulate({x, f.inputs == 2 ? y : nullptr, part.first + done.left_out}, n - done.left_out, into);
  };
  if (f.in_leaves()) {
    fold_blocks_in_order(f, block, 0, count, state, fold_block);
  } else {
    for (std::size_t begin = 0; begin < count; begin += block) {
      fold_block(begin, std::min(block, count - begin), state);
    }
  }
  return present;
}

void present_blocks::pass(const input_views& blocks) {
  if (rule_.absent != stand_in::other || other_ || blocks.count() == 0) return;
  std::memcpy(&other_.emplace(0), blocks[0].data, rule_.element_bytes);
}

input_views present_blocks::next(const input_views& part) {
  const operands data{part[0].data, part.size() == 2 ? part[1].data : nullptr};
  void* const x = copies_[0].data();
  void* const y = copies_[1].data();
  const copied_part done = copy_present(rule_, data, part.mask(), part.count(), x, y, other_);
  absent_ += part.count() - done.present;
  left_out_ += done.left_out;
  const array_view copy(x, part.count() - done.left_out, type_);
  return part.size() == 1 ? input_views(copy) : input_views(copy, array_view(y, copy.count, type_));
}

}  // namespace fanin::cpu
#endif  // HWY_ONCE
