// SPDX-License-Identifier: Apache-2.0
// The sum of a group is word[0] * 2^u + word[1] * 2^(u + 40) + word[2] * 2^(u + 80), where the unit 2^u is the same
// for all groups. An element x is split into such words by additions of the constants c[j] = 1.5 * 2^(u + 40 j + 52),
// whose last bits are units of word j:
//
//   t = x + c[2]   and the rest   r = x - (t - c[2])       t holds the nearest multiple of 2^(u + 80)
//   s = r + c[1]   and the rest   q = r - (s - c[1])       |r| <= 2^(u + 79), and the subtractions do not round
//   w = q + c[0]                                           w holds q, if x is a multiple of 2^u
//
// The bits of t, s and w as integers are then those of the constants plus the words of x. They are added as they are,
// without carries, and the constants are subtracted at the end, since the number of elements is known. Words 0 and 1
// of an element are at most 2^39 in magnitude, so that 2^23 elements may be added before their carries go to the next
// word. Word 2 of an element is so small that no carry leaves the sum of all elements of the input. An element that
// is no multiple of the unit or too large, a NaN, an infinity and a -0 are added to a compact_sum of their group.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/batch/exact_states.cpp"
#include <hwy/foreach_target.h>
// after foreach_target.h
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include <fanin/compact_sum.hpp>

#include "backends/cpu/batch/exact_states.hpp"
#include "backends/cpu/leaf.hpp"
#include "backends/cpu/loads-inl.h"
#include "backends/cpu/state_memory.hpp"

#ifndef FANIN_BACKENDS_CPU_BATCH_EXACT_STATES
#define FANIN_BACKENDS_CPU_BATCH_EXACT_STATES
namespace fanin::cpu {

/// The sum of a group, and the number of elements in it.
struct exact_words {
  std::uint64_t word[3], count;
};

inline constexpr int word_bits = 40;
/// Elements that are split together. Their words stay in the L1 cache.
inline constexpr std::size_t split_block = 128;

/// How elements are split into words.
struct exact_window {
  int unit;  ///< u
  double constant[3];
  double limit;           ///< magnitudes are below this
  std::uint64_t ignored;  ///< bits that are cleared first: the sign, or none
  unsigned copies;        ///< the logarithm of the number of states of a group, which take its elements in turn
};

}  // namespace fanin::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace fanin::cpu {
namespace HWY_NAMESPACE {

/// Writes the words of x[0..count) to `words`, which has room for a vector more. Elements that do not fit have zeros,
/// and their places are in `misfits`, whose number is returned.
template <class T>
HWY_INLINE std::size_t split(const exact_window& window, const T* x, std::size_t count, exact_words* words,
                             std::uint8_t* misfits) {
  const hn::ScalableTag<double> d;
  const hn::RebindToUnsigned<decltype(d)> u;
  const auto c0 = hn::Set(d, window.constant[0]), c1 = hn::Set(d, window.constant[1]),
             c2 = hn::Set(d, window.constant[2]), limit = hn::Set(d, window.limit);
  const auto ignored = hn::BitCast(d, hn::Set(u, window.ignored)), minus_zero = hn::Set(d, -0.0);
  const auto one = hn::Set(u, 1);
  std::size_t found = 0;
  const auto split_vector = [&](std::size_t i, auto loaded) HWY_ATTR {
    const auto v = hn::AndNot(ignored, loaded);
    const auto t = hn::Add(v, c2), r = hn::Sub(v, hn::Sub(t, c2));
    const auto s = hn::Add(r, c1), q = hn::Sub(r, hn::Sub(s, c1));
    const auto w = hn::Add(q, c0);
    const auto fits = hn::And(hn::RebindMask(u, hn::And(hn::Eq(hn::Sub(w, c0), q), hn::Lt(hn::Abs(v), limit))),
                              hn::Ne(hn::BitCast(u, v), hn::BitCast(u, minus_zero)));
    const auto put = [&](auto w0, auto w1, auto w2, auto n)
                         HWY_ATTR { hn::StoreInterleaved4(w0, w1, w2, n, u, words[i].word); };
    if (hn::AllTrue(u, fits)) [[likely]] {
      return put(hn::BitCast(u, w), hn::BitCast(u, s), hn::BitCast(u, t), one);
    }
    const auto kept = [&](auto bits) HWY_ATTR { return hn::IfThenElseZero(fits, bits); };
    put(kept(hn::BitCast(u, w)), kept(hn::BitCast(u, s)), kept(hn::BitCast(u, t)), kept(one));
    for (std::size_t k = i; k < std::min(count, i + hn::Lanes(d)); ++k) {
      if (words[k].count == 0) misfits[found++] = static_cast<std::uint8_t>(k);
    }
  };
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) split_vector(i, load(d, x + i));
  if (i < count) {
    T rest[hn::MaxLanes(d)] = {};
    std::copy(x + i, x + count, rest);
    split_vector(i, load(d, rest));
  }
  return found;
}

/// Adds up to split_block elements to the states of their groups.
template <class T>
HWY_INLINE std::size_t add_block(const exact_window& window, const T* x, std::size_t count,
                                 const std::uint32_t* group, exact_words* states, std::uint8_t* misfits) {
  HWY_ALIGN exact_words words[split_block + hn::MaxLanes(hn::ScalableTag<double>())];
  const std::size_t found = split(window, x, count, words, misfits);
  const hn::CappedTag<std::uint64_t, 4> d;
  const std::size_t in_turn = (std::size_t{1} << window.copies) - 1;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t* const into = states[(std::size_t{group[i]} << window.copies) + (i & in_turn)].word;
    for (std::size_t k = 0; k < 4; k += hn::Lanes(d)) {
      hn::Store(hn::Add(hn::Load(d, into + k), hn::Load(d, words[i].word + k)), d, into + k);
    }
  }
  return found;
}
std::size_t add_doubles(const exact_window& window, const double* x, std::size_t count, const std::uint32_t* group,
                        exact_words* states, std::uint8_t* misfits) {
  return add_block(window, x, count, group, states, misfits);
}
std::size_t add_floats(const exact_window& window, const float* x, std::size_t count, const std::uint32_t* group,
                       exact_words* states, std::uint8_t* misfits) {
  return add_block(window, x, count, group, states, misfits);
}

}  // namespace HWY_NAMESPACE
}  // namespace fanin::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fanin::cpu {
namespace {

HWY_EXPORT(add_doubles);
HWY_EXPORT(add_floats);

template <class T>
class window_states final : public group_states {
 public:
  window_states(const request& request, const exact_window& window) : request_(request), window_(window) {}

  void add(const std::uint32_t* group, const void* data, std::size_t count, std::uint64_t) override {
    const auto* const x = static_cast<const T*>(data);
    for (std::size_t i = 0; i < count; i += split_block) {
      const std::size_t n = std::min(split_block, count - i);
      if (std::exchange(without_carries_, without_carries_ + n) > most_without_carries) carry_all();
      std::uint8_t misfits[split_block];
      std::size_t found;
      if constexpr (sizeof(T) == 8) {
        found = HWY_DYNAMIC_DISPATCH(add_doubles)(window_, x + i, n, group + i, states_, misfits);
      } else {
        found = HWY_DYNAMIC_DISPATCH(add_floats)(window_, x + i, n, group + i, states_, misfits);
      }
      for (std::size_t k = 0; k < found; ++k) add_misfit(group[i + misfits[k]], x[i + misfits[k]]);
    }
  }
  std::uint64_t count(std::uint32_t group) const override {
    std::uint64_t elements = group < misfits_.size() ? misfits_[group].count() : 0;
    for (const exact_words& one : of_group(group)) elements += one.count;
    return elements;
  }
  std::uint64_t finish(batch_results& results, std::size_t first_result, std::size_t begin, std::size_t end,
                       std::span<const std::unique_ptr<group_states>> others) override {
    std::uint64_t longest = 0;
    for (std::size_t g = begin; g < end; ++g) {
      const compact_sum<T> sum = sum_of(g, others);
      longest = std::max(longest, sum.count());
      write(results, first_result + g, sum);
    }
    return longest;
  }

 private:
  /// With fewer states an addition often waits for the addition before it, unless a group has several states.
  static constexpr std::size_t few_states = 256;
  /// 2^23 elements with words 0 and 1 of at most 2^39 add up to at most 2^62, next to what carries leave.
  static constexpr std::uint64_t most_without_carries = (std::uint64_t{1} << 23) - 2 * split_block;

  /// Words of several states: low + high * 2^80 units.
  struct total {
    detail::int128 low = 0, high = 0;
    std::uint64_t count = 0;
  };

  std::span<const exact_words> of_group(std::size_t group) const {
    return {states_ + (group << window_.copies), std::size_t{1} << window_.copies};
  }
  /// The words of a state without the constants.
  std::int64_t word(const exact_words& state, int j) const {
    return static_cast<std::int64_t>(state.word[j] - state.count * std::bit_cast<std::uint64_t>(window_.constant[j]));
  }
  void add_to(total& all, std::size_t group) const {
    for (const exact_words& one : of_group(group)) {
      all.low += word(one, 0) + (detail::int128{word(one, 1)} << word_bits);
      all.high += word(one, 2);
      all.count += one.count;
    }
  }

  /// The sum of a group in these states and in `others`.
  compact_sum<T> sum_of(std::size_t group, std::span<const std::unique_ptr<group_states>> others) const {
    total all;
    add_to(all, group);
    for (const auto& other : others) static_cast<const window_states&>(*other).add_to(all, group);
    const auto above = static_cast<detail::uint128>(all.high) << (2 * word_bits - 64);
    const auto below = static_cast<detail::uint128>(all.low >> 64) + above;
    auto sum = compact_sum<T>::of_words({static_cast<std::uint64_t>(all.low), static_cast<std::uint64_t>(below),
                                         static_cast<std::uint64_t>(below >> 64)},
                                        window_.unit, all.count);
    if (!misfits_.empty()) sum.merge(misfits_[group]);
    for (const auto& other : others) {
      const auto& states = static_cast<const window_states&>(*other);
      if (!states.misfits_.empty()) sum.merge(states.misfits_[group]);
    }
    return sum;
  }
  void carry_all() {
    for (std::size_t i = 0; i < state_count_; ++i) {
      for (int j = 0; j < 2; ++j) {
        const auto carry = static_cast<std::uint64_t>(word(states_[i], j) >> word_bits);
        states_[i].word[j] -= carry << word_bits;
        states_[i].word[j + 1] += carry;
      }
    }
    without_carries_ = 0;
  }
  FANIN_NOINLINE void add_misfit(std::uint32_t group, T x) {
    if (misfits_.empty()) misfits_.resize(groups() + 2);
    misfits_[group].add(window_.ignored != 0 ? std::fabs(x) : x);
  }

  template <class R>
  FANIN_NOINLINE void round(const compact_sum<T>& sum, std::byte* to) const {
    *reinterpret_cast<R*>(to) = request_.what == operation::mean ? sum.template mean<R>() : sum.template round<R>();
  }
  void write(batch_results& results, std::size_t i, const compact_sum<T>& sum) const {
    if (!request_.adds && sum.count() >= results.least()) {
      if (request_.result == element_type::f64) return round<double>(sum, results.at(i));
      if constexpr (sizeof(T) == 4) {
        if (request_.result == element_type::f32) return round<float>(sum, results.at(i));
      }
    }
    write_state(results, i, sum);
  }
  FANIN_NOINLINE void write_state(batch_results& results, std::size_t i, const compact_sum<T>& sum) const {
    auto state = sum.accumulator();
    results.finish(i, sum.count(), sum.count(), &state);
  }

  void reset(std::size_t states) override {
    window_.copies = states <= few_states ? 2 : 0;
    state_count_ = states << window_.copies;
    states_ = reinterpret_cast<exact_words*>(memory_.get(state_count_ * sizeof(exact_words)));
    std::fill_n(states_, state_count_, exact_words{});
    without_carries_ = 0;
    misfits_.clear();
  }

  const request& request_;
  exact_window window_;
  state_memory memory_;
  exact_words* states_ = nullptr;
  std::size_t state_count_ = 0;
  std::uint64_t without_carries_ = 0;
  std::vector<compact_sum<T>> misfits_;
};

/// Up to some 1024 elements from all parts of x, as doubles.
std::vector<double> sample_of(const array_view& x) {
  constexpr std::size_t most = 1024;
  std::vector<double> sample;
  const std::size_t bytes = byte_size(x.type);
  for (std::size_t i = 0; i < x.count; i += x.count / most + 1) {
    const void* const at = static_cast<const std::byte*>(x.data) + i * bytes;
    float narrow;
    if (bytes == 8) {
      sample.push_back(*static_cast<const double*>(at));
    } else if (bytes == 4) {
      sample.push_back(*static_cast<const float*>(at));
    } else {
      widen(at, 1, x.type, &narrow);
      sample.push_back(narrow);
    }
  }
  return sample;
}

/// A window for the elements, or nothing if too many of a sample do not fit.
std::optional<exact_window> find_window(const array_view& x) {
  struct bit_range {
    int leading, last;  ///< the exponents of the leading and of the last bit
  };
  std::vector<bit_range> sample;
  const std::vector<double> sampled = sample_of(x);
  std::size_t misfits = 0;
  for (const double value : sampled) {
    if (value == 0) continue;
    if (!std::isfinite(value)) {
      ++misfits;
      continue;
    }
    const auto [mantissa, exponent] = detail::unpack<double>(std::bit_cast<std::uint64_t>(std::fabs(value)));
    const auto digits = static_cast<int>(std::bit_width(mantissa));
    sample.push_back({exponent + digits - 1, exponent + std::countr_zero(mantissa)});
  }
  int leading = 0;
  if (!sample.empty()) {
    const auto most = sample.end() - 1 - static_cast<std::ptrdiff_t>(sample.size() / 64);
    std::nth_element(sample.begin(), most, sample.end(),
                     [](const bit_range& a, const bit_range& b) { return a.leading < b.leading; });
    leading = most->leading;
  }
  // Word 2 of all elements together stays below 2^62.
  const int bits = 2 * word_bits + std::min(word_bits - 2, 61 - static_cast<int>(std::bit_width(x.count)));
  constexpr int above = 8;  ///< the room for elements that are larger than those of the sample
  const int lowest =
      x.type == element_type::f64 ? detail::float_format<double>::low : detail::float_format<float>::low;
  exact_window window{};
  window.unit = std::max(leading + 1 + above - bits, lowest);
  if (window.unit + 2 * word_bits + 53 >= detail::float_format<double>::high) return std::nullopt;
  for (int j = 0; j < 3; ++j) window.constant[j] = std::ldexp(1.5, window.unit + j * word_bits + 52);
  window.limit = std::ldexp(1, window.unit + bits);
  for (const bit_range& one : sample) {
    misfits += one.leading >= window.unit + bits || one.last < window.unit ? 1 : 0;
  }
  if (misfits > sampled.size() / 16) return std::nullopt;
  return window;
}

template <class T>
group_states_factory window_states_of(const request& request, const exact_window& window) {
  return {sizeof(exact_words), [&request, window] { return std::make_unique<window_states<T>>(request, window); }};
}

}  // namespace

group_states_factory exact_states(const request& request, const array_view& x) {
  const bool adds_elements = request.what == operation::sum || request.what == operation::mean ||
                             request.what == operation::sum_of_magnitudes;
  if (request.method != method::exact || !adds_elements || !is_floating(x.type)) return {};
  std::optional<exact_window> window = find_window(x);
  if (!window) return {};
  if (request.what == operation::sum_of_magnitudes) window->ignored = detail::float_format<double>::sign;
  return x.type == element_type::f64 ? window_states_of<double>(request, *window)
                                     : window_states_of<float>(request, *window);
}

}  // namespace fanin::cpu
#endif  // HWY_ONCE
