// SPDX-License-Identifier: Apache-2.0
// Words 0 to 2 of an element or of a square are at most 2^40 in magnitude, so that 2^22 elements may be added before
// carries go from each word to the next. The last word of an element is so small that no carry leaves the sum of all
// elements of the input. An element that is no multiple of the unit or too large, a NaN and an infinity, and for sums
// without squares a -0, are misfits of their group.
#include "backends/cpu/batch/exact_states.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <type_traits>
#include <vector>

#include <fanin/accumulator/moments.hpp>
#include <fanin/compact_sum.hpp>

#include "backends/cpu/batch/exact_split.hpp"
#include "backends/cpu/state_memory.hpp"

namespace fanin::cpu {
namespace {

/// Words of several states: low + high * 2^80 units.
struct total {
  detail::int128 low = 0, high = 0;

  /// The sum in two's complement.
  std::array<std::uint64_t, 3> words() const {
    const auto above = static_cast<detail::uint128>(high) << (2 * word_bits - 64);
    const auto below = static_cast<detail::uint128>(low >> 64) + above;
    return {static_cast<std::uint64_t>(low), static_cast<std::uint64_t>(below),
            static_cast<std::uint64_t>(below >> 64)};
  }
  /// The lowest words of a sum that is not negative.
  template <int N>
  void split(std::uint32_t (&magnitude)[N]) const {
    const auto all = words();
    for (std::size_t i = 0; i < N; ++i) magnitude[i] = static_cast<std::uint32_t>(all[i / 2] >> (32 * (i % 2)));
  }
  total magnitude() const { return (high + (low >> (2 * word_bits))) < 0 ? total{-low, -high} : *this; }
  /// Adds the sum of `count` elements or squares.
  template <class Accumulator>
  FANIN_NOINLINE void add_to(Accumulator& into, int unit, std::uint64_t count) const {
    if (count == 0) return;
    into.add_elements(count, [&](Accumulator& all) {
      all.add_scaled(low, unit);
      all.add_scaled(high, unit + 2 * word_bits);
    });
  }
};
struct totals {
  total elements, squares;
  std::uint64_t count = 0;
};

/// The elements of each group that fit in no words.
template <exact_terms Terms, class T>
class misfits_of;

/// A sum of 48 bytes for each group, which adds -0 as soon as any number.
template <class T>
class misfits_of<exact_terms::elements, T> {
 public:
  void clear() { sums_.clear(); }
  FANIN_NOINLINE void add(std::size_t states, std::size_t group, T x) {
    if (sums_.empty()) sums_.resize(states);
    sums_[group].add(x);
  }
  std::uint64_t count(std::size_t group) const { return sums_.empty() ? 0 : sums_[group].count(); }
  FANIN_NOINLINE void merge_to(compact_sum<T>& sum, std::size_t group) const {
    if (!sums_.empty()) sum.merge(sums_[group]);
  }

 private:
  std::vector<compact_sum<T>> sums_;
};

/// A list of elements for each group. The accumulator of moments has up to 2 KiB, and most misfits are rare.
template <class T>
class misfits_of<exact_terms::moments, T> {
 public:
  void clear() {
    last_.clear();
    misfits_.clear();
  }
  FANIN_NOINLINE void add(std::size_t states, std::size_t group, T x) {
    if (last_.empty()) last_.resize(states);
    misfits_.push_back({x, last_[group]});
    last_[group] = misfits_.size();
  }
  std::uint64_t count(std::size_t group) const {
    std::uint64_t found = 0;
    for_each(group, [&](T) { ++found; });
    return found;
  }
  FANIN_NOINLINE void add_to(exact_moments_accumulator<T>& moments, std::size_t group) const {
    for_each(group, [&](T x) { moments.add(x); });
  }

 private:
  struct misfit {
    T x;
    std::size_t before;  ///< the place of the group's misfit before this one, plus 1
  };
  template <class F>
  void for_each(std::size_t group, const F& f) const {
    if (last_.empty()) return;
    for (std::size_t i = last_[group]; i != 0; i = misfits_[i - 1].before) f(misfits_[i - 1].x);
  }

  std::vector<std::size_t> last_;  ///< the place of each group's last misfit, plus 1
  std::vector<misfit> misfits_;
};

dispersion_measure measure_of(operation what) {
  return {what == operation::standard_deviation || what == operation::sample_standard_deviation,
          what == operation::sample_variance || what == operation::sample_standard_deviation ? 1U : 0U};
}

template <class R, class T>
FANIN_NOINLINE R value_of_sum(const compact_sum<T>& sum, operation what) {
  return what == operation::mean ? sum.template mean<R>() : sum.template round<R>();
}
template <class R>
FANIN_NOINLINE R value_of_moments(const totals& all, int unit, operation what) {
  std::uint32_t squares[6], sum[4];
  all.squares.split(squares);
  switch (what) {
    case operation::sum_of_squares:
      return detail::from_bits<R>(detail::round_magnitude<R>(squares, 2 * unit, false));
    case operation::norm2:
      return detail::rounded_root<R>(squares, 2 * unit);
    default:
      all.elements.magnitude().split(sum);
      return detail::rounded_dispersion<R>(sum, squares, 2 * unit, all.count, measure_of(what));
  }
}

template <exact_terms Terms, class T>
class window_states final : public group_states {
  static constexpr bool has_squares = Terms == exact_terms::moments;
  static constexpr std::size_t words = state_words(Terms);

 public:
  window_states(const request& request, const exact_window& window) : request_(request), window_(window) {
    for (std::size_t j = 0; j < 3; ++j) constants_[j] = std::bit_cast<std::uint64_t>(window.constant[j]);
    for (std::size_t j = first_square_word; j < words; ++j) {
      const bool is_twice = sizeof(T) == 8 && j + 1 < words;  // once for a product, and once for its rounding error
      constants_[j] = std::bit_cast<std::uint64_t>(window.square_constant[j - first_square_word]) << is_twice;
    }
  }

  void add(const std::uint32_t* group, const void* data, std::size_t count, std::uint64_t) override {
    const auto* const x = static_cast<const T*>(data);
    for (std::size_t i = 0; i < count; i += split_block) {
      const std::size_t n = std::min(split_block, count - i);
      if (std::exchange(without_carries_, without_carries_ + n) > most_without_carries) carry_all();
      std::uint8_t misfits[split_block];
      const std::size_t found = add_split<Terms>(window_, x + i, n, group + i, copies_, states_, misfits);
      for (std::size_t k = 0; k < found; ++k) {
        const T misfit = x[i + misfits[k]];
        misfits_.add(groups() + 2, group[i + misfits[k]], window_.ignored != 0 ? std::fabs(misfit) : misfit);
      }
    }
  }
  std::uint64_t count(std::uint32_t group) const override {
    std::uint64_t elements = misfits_.count(group);
    for_each_state(group, [&](const std::uint64_t* state) { elements += state[count_word]; });
    return elements;
  }
  std::uint64_t finish(batch_results& results, std::size_t first_result, std::size_t begin, std::size_t end,
                       std::span<const std::unique_ptr<group_states>> others) override {
    std::uint64_t longest = 0;
    for (std::size_t g = begin; g < end; ++g) {
      totals all;
      add_to(all, g);
      for (const auto& other : others) of(other).add_to(all, g);
      if constexpr (has_squares) {
        longest = std::max(longest, finish_moments(results, first_result + g, g, all, others));
      } else {
        longest = std::max(longest, finish_sum(results, first_result + g, g, all, others));
      }
    }
    return longest;
  }

 private:
  /// With fewer states an addition often waits for the addition before it, unless a group has several states.
  static constexpr std::size_t few_states = 256;
  /// 2^22 elements with words of at most 2^40 add up to at most 2^62, next to what carries leave.
  static constexpr std::uint64_t most_without_carries = (std::uint64_t{1} << 22) - 2 * split_block;

  static const window_states& of(const std::unique_ptr<group_states>& states) {
    return static_cast<const window_states&>(*states);
  }
  template <class F>
  void for_each_state(std::size_t group, const F& f) const {
    for (std::size_t i = group << copies_; i < (group + 1) << copies_; ++i) f(states_ + i * words);
  }
  /// A word of a state without the constants.
  std::int64_t word(const std::uint64_t* state, std::size_t j) const {
    return static_cast<std::int64_t>(state[j] - state[count_word] * constants_[j]);
  }
  FANIN_NOINLINE void add_to(totals& all, std::size_t group) const {
    for_each_state(group, [&](const std::uint64_t* state) {
      const auto add_words = [&](total& sum, std::size_t first, bool has_fourth) {
        sum.low += word(state, first) + (detail::int128{word(state, first + 1)} << word_bits);
        sum.high += word(state, first + 2);
        if (has_fourth) sum.high += detail::int128{word(state, first + 3)} << word_bits;
      };
      add_words(all.elements, 0, false);
      if constexpr (has_squares) add_words(all.squares, first_square_word, true);
      all.count += state[count_word];
    });
  }
  void carry_all() {
    for (std::uint64_t* state = states_; state < states_ + state_count_ * words; state += words) {
      for (std::size_t j = 0; j + 1 < words; ++j) {
        if (j == count_word - 1 || j == count_word) continue;
        const auto carry = static_cast<std::uint64_t>(word(state, j) >> word_bits);
        state[j] -= carry << word_bits;
        state[j + 1] += carry;
      }
    }
    without_carries_ = 0;
  }

  /// Calls write(R()) for a result type R of at least the digits of T. Returns false for others, and for results that
  /// need more than the words of their elements.
  template <class Write>
  bool write(const batch_results& results, std::uint64_t count, const Write& write) const {
    if (request_.adds || count < results.least()) return false;
    if (request_.result == element_type::f64) {
      write(double());
      return true;
    }
    if constexpr (sizeof(T) == 4) {
      if (request_.result == element_type::f32) {
        write(float());
        return true;
      }
    }
    return false;
  }

  FANIN_NOINLINE std::uint64_t finish_sum(batch_results& results, std::size_t i, std::size_t group, const totals& all,
                                          std::span<const std::unique_ptr<group_states>> others) const {
    auto sum = compact_sum<T>::of_words(all.elements.words(), window_.unit, all.count);
    misfits_.merge_to(sum, group);
    for (const auto& other : others) of(other).misfits_.merge_to(sum, group);
    const bool written = write(results, sum.count(), [&]<class R>(R) {
      *reinterpret_cast<R*>(results.at(i)) = value_of_sum<R>(sum, request_.what);
    });
    if (!written) {
      auto state = sum.accumulator();
      results.finish(i, sum.count(), sum.count(), &state);
    }
    return sum.count();
  }

  FANIN_NOINLINE std::uint64_t finish_moments(batch_results& results, std::size_t i, std::size_t group,
                                              const totals& all,
                                              std::span<const std::unique_ptr<group_states>> others) const {
    std::uint64_t misfits = misfits_.count(group);
    for (const auto& other : others) misfits += of(other).misfits_.count(group);
    const bool written = misfits == 0 && write(results, all.count, [&]<class R>(R) {
                           *reinterpret_cast<R*>(results.at(i)) =
                               value_of_moments<R>(all, window_.unit, request_.what);
                         });
    if (!written) {
      exact_moments_accumulator<T> state;
      all.elements.add_to(state.sum, window_.unit, all.count);
      all.squares.add_to(state.squares, 2 * window_.unit, all.count);
      misfits_.add_to(state, group);
      for (const auto& other : others) of(other).misfits_.add_to(state, group);
      const bool is_of_squares = request_.what == operation::sum_of_squares || request_.what == operation::norm2;
      results.finish(i, all.count + misfits, all.count + misfits,
                     is_of_squares ? static_cast<void*>(&state.squares) : &state);
    }
    return all.count + misfits;
  }
  void reset(std::size_t states) override {
    copies_ = states <= few_states ? 2 : 0;
    state_count_ = states << copies_;
    states_ = reinterpret_cast<std::uint64_t*>(memory_.get(state_count_ * words * sizeof(std::uint64_t)));
    std::fill_n(states_, state_count_ * words, std::uint64_t{0});
    without_carries_ = 0;
    misfits_.clear();
  }

  const request& request_;
  exact_window window_;
  std::uint64_t constants_[words] = {};  ///< what each element adds to each word beside its own words
  state_memory memory_;
  std::uint64_t* states_ = nullptr;
  std::size_t state_count_ = 0;
  unsigned copies_ = 0;  ///< the logarithm of the number of states of a group, which take its elements in turn
  std::uint64_t without_carries_ = 0;
  misfits_of<Terms, T> misfits_;
};

std::optional<exact_terms> terms_of(operation what) {
  switch (what) {
    case operation::sum:
    case operation::mean:
    case operation::sum_of_magnitudes:
      return exact_terms::elements;
    case operation::sum_of_squares:
    case operation::norm2:
    case operation::variance:
    case operation::standard_deviation:
    case operation::sample_variance:
    case operation::sample_standard_deviation:
      return exact_terms::moments;
    default:
      return std::nullopt;
  }
}

template <exact_terms Terms, class T>
group_states_factory window_states_of(const request& request, const exact_window& window) {
  return {state_words(Terms) * sizeof(std::uint64_t),
          [&request, window] { return std::make_unique<window_states<Terms, T>>(request, window); }};
}

}  // namespace

group_states_factory exact_states(const request& request, const array_view& x) {
  const std::optional<exact_terms> terms = terms_of(request.what);
  if (request.method != method::exact || !terms || !is_floating(x.type)) return {};
  std::optional<exact_window> window = find_window(x, *terms);
  if (!window) return {};
  if (request.what == operation::sum_of_magnitudes) window->ignored = detail::float_format<double>::sign;
  const bool is_double = x.type == element_type::f64;
  if (*terms == exact_terms::elements) {
    return is_double ? window_states_of<exact_terms::elements, double>(request, *window)
                     : window_states_of<exact_terms::elements, float>(request, *window);
  }
  return is_double ? window_states_of<exact_terms::moments, double>(request, *window)
                   : window_states_of<exact_terms::moments, float>(request, *window);
}

}  // namespace fanin::cpu
