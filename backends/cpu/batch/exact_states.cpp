// SPDX-License-Identifier: Apache-2.0
// Words 0 to 2 of an element or of a square are at most 2^40 in magnitude, so that 2^22 elements may be added before
// carries go from each word to the next. The last word of an element is so small that no carry leaves the sum of all
// elements of the input. An element that is no multiple of the unit or too large, a NaN and an infinity, and for sums
// without squares a -0, are misfits of their group. Words of columns are added to words without carries
// (exact_split.hpp). Words of short sums have 44 bits, and large ones are moved to sums of 128 bits.
#include "backends/cpu/batch/exact_states.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <type_traits>
#include <vector>

#include "backends/cpu/batch/exact_rows.hpp"
#include "backends/cpu/batch/exact_totals.hpp"
#include "backends/cpu/estimates.hpp"
#include "backends/cpu/state_memory.hpp"

namespace fanin::cpu {
namespace {

/// The elements of each group that fit in no words, as a list. An accumulator for each group would have up to 2 KiB.
template <class T>
class misfit_lists {
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
  template <class F>
  void for_each(std::size_t group, const F& f) const {
    if (last_.empty()) return;
    for (std::size_t i = last_[group]; i != 0; i = misfits_[i - 1].before) f(misfits_[i - 1].x);
  }

 private:
  struct misfit {
    T x;
    std::size_t before;  ///< the place of the group's misfit before this one, plus 1
  };
  std::vector<std::size_t> last_;  ///< the place of each group's last misfit, plus 1
  std::vector<misfit> misfits_;
};

template <exact_terms Terms, class T>
class window_states final : public rows_in_words<T> {
  using rows_in_words<T>::request_;
  using rows_in_words<T>::window_;
  using rows_in_words<T>::split_;
  using group_states::groups;
  static constexpr bool has_squares = have_squares(Terms), is_short = are_short(Terms);
  static constexpr std::size_t words = state_words(Terms), sum_words = is_short ? 1 : 3;
  static constexpr std::size_t count_word = cpu::count_word(Terms), square_word = first_square_word(Terms);
  static constexpr std::size_t square_words = has_squares ? (is_short ? 2 : 4) : 0;

 public:
  window_states(const request& request, const exact_window& window) : rows_in_words<T>(request, window, Terms) {
    for (std::size_t j = 0; j < sum_words; ++j) constants_[j] = std::bit_cast<std::uint64_t>(window.constant[j]);
    for (std::size_t j = 0; j < square_words; ++j) {
      const bool is_twice = sizeof(T) == 8 && j < 3;  // once for a product, and once for its rounding error
      constants_[square_word + j] = std::bit_cast<std::uint64_t>(window.square_constant[j]) << is_twice;
    }
  }

  void add(const std::uint32_t* group, const void* data, std::size_t count, std::uint64_t) override {
    const auto* const x = static_cast<const T*>(data);
    for (std::size_t i = 0; i < count; i += split_block) {
      const std::size_t n = std::min(split_block, count - i);
      if (std::exchange(without_carries_, without_carries_ + n) > most_without_carries) carry_all();
      std::uint8_t misfits[split_block];
      const std::size_t found = split_.add(window_, x + i, n, group + i, copies_, prefetches_, states_, misfits);
      for (std::size_t k = 0; k < found; ++k) {
        const T misfit = x[i + misfits[k]];
        misfits_.add(groups() + 2, group[i + misfits[k]], window_.ignored != 0 ? std::fabs(misfit) : misfit);
      }
    }
  }
  std::uint64_t count(std::uint32_t group) const override {
    std::uint64_t elements = 0;
    misfits_.for_each(group, [&](T) { ++elements; });
    for_each_state(group, [&](const std::uint64_t* state) { elements += state[count_word]; });
    return moved_.empty() ? elements : elements + moved_[group].count;
  }
  std::uint64_t finish(batch_results& results, std::size_t first_result, std::size_t begin, std::size_t end,
                       std::span<const std::unique_ptr<group_states>> others) override {
    std::uint64_t longest = 0;
    for (std::size_t g = begin; g < end; ++g) {
      totals all;
      add_to(all, g);
      for (const auto& other : others) of(other).add_to(all, g);
      longest = std::max(longest, finish_group(results, first_result + g, g, all, others));
    }
    return longest;
  }

 private:
  /// With fewer states an addition often waits for the addition before it, unless a group has several states.
  static constexpr std::size_t few_states = 256;
  /// More states may not stay in an L2 cache.
  static constexpr std::size_t cached_states_bytes = std::size_t{1} << 18;
  /// 2^22 elements with words of at most 2^40 add up to at most 2^62, next to what carries leave. 2^18 elements with
  /// words of at most 2^44 do so next to those of most_left elements, which are not moved.
  static constexpr std::uint64_t most_left = std::uint64_t{1} << 17;
  static constexpr std::uint64_t most_without_carries = (std::uint64_t{1} << (is_short ? 18 : 22)) - 2 * split_block;

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
  void add_short_words(totals& all, const std::uint64_t* state) const {
    all.elements.low += word(state, 0);
    if constexpr (has_squares) {
      all.squares.low += word(state, square_word) + (detail::int128{word(state, square_word + 1)} << short_word_bits);
    }
    all.count += state[count_word];
  }
  FANIN_NOINLINE void add_to(totals& all, std::size_t group) const {
    if constexpr (is_short) {
      for_each_state(group, [&](const std::uint64_t* state) { add_short_words(all, state); });
      if (moved_.empty()) return;
      all.elements.low += moved_[group].elements.low;
      all.squares.low += moved_[group].squares.low;
      all.count += moved_[group].count;
      return;
    }
    for_each_state(group, [&](const std::uint64_t* state) {
      const auto add_words = [&](total& sum, std::size_t first, bool has_fourth) {
        sum.low += word(state, first) + (detail::int128{word(state, first + 1)} << word_bits);
        sum.high += word(state, first + 2);
        if (has_fourth) sum.high += detail::int128{word(state, first + 3)} << word_bits;
      };
      add_words(all.elements, 0, false);
      if constexpr (has_squares) add_words(all.squares, square_word, true);
      all.count += state[count_word];
    });
  }
  /// The states get no carries before the next addition.
  void add_planes(std::size_t columns) override {
    if constexpr (is_short) return;
    if (without_carries_ > 0) carry_all();
    constexpr std::size_t of_element = column_words<T>;
    for (std::size_t c = 0; c < columns; ++c) {
      std::uint64_t* const state = states_ + (c << copies_) * words;
      const auto plane = [&](std::size_t i) { return this->take_from_plane(i, c); };
      const std::uint64_t count = plane(of_element);
      state[count_word] += count;
      for (std::size_t j = 0; j < 3; ++j) state[j] += j < of_element ? plane(j) : count * constants_[j];
      for (std::size_t j = 0; j < square_words; ++j) {
        const std::size_t i = square_word + j;
        state[i] += j < 2 * of_element ? plane(of_element + 1 + j) : count * constants_[i];
      }
    }
    without_carries_ = most_without_carries + 1;
  }
  void carry_all() {
    without_carries_ = 0;
    if constexpr (is_short) return move_large_words();
    for (std::uint64_t* state = states_; state < states_ + state_count_ * words; state += words) {
      for (std::size_t j = 0; j + 1 < words; ++j) {
        if (j == count_word - 1 || j == count_word) continue;
        const auto carry = static_cast<std::uint64_t>(word(state, j) >> word_bits);
        state[j] -= carry << word_bits;
        state[j + 1] += carry;
      }
    }
  }
  void move_large_words() {
    moved_.resize(groups() + 2);
    for (std::size_t i = 0; i < state_count_; ++i) {
      std::uint64_t* const state = states_ + i * words;
      if (state[count_word] < most_left) continue;
      add_short_words(moved_[i >> copies_], state);
      std::fill_n(state, words, std::uint64_t{0});
    }
  }

  /// Writes the value of a sum that words hold to `to`. Returns false for results that need more than words, and for
  /// some narrow floats.
  bool write(const batch_results& results, const totals& all, std::byte* to) const {
    if (request_.adds || all.count < results.least()) return false;
    const auto write_as = [&]<class R>(R& value) {
      if constexpr (has_squares) {
        value = value_of_moments<R>(all, window_.unit, request_.what);
        return true;
      } else {
        return all.elements.round_short(window_.unit, is_quotient(row_of(request_.what).value) ? all.count : 1,
                                        value);
      }
    };
    if (request_.result == element_type::f64) return write_as(*reinterpret_cast<double*>(to));
    if constexpr (sizeof(T) == 4) {
      if (request_.result == element_type::f32) return write_as(*reinterpret_cast<float*>(to));
      double nearest;
      if (!write_as(nearest)) return false;
      // The middle of two narrow floats is a float. A nearest double that is no float is on the same side of each
      // middle as the value.
      const bool may_be_middle = nearest == static_cast<float>(nearest);
      const estimate found{nearest, 0, may_be_middle ? std::fabs(nearest) * 0x1p-53 : 0};
      return round_estimates(&found, 1, request_.result, to) == 0;
    }
    return false;
  }

  /// Writes a result of the elements in words and of misfits, and returns their number.
  FANIN_NOINLINE std::uint64_t finish_group(batch_results& results, std::size_t i, std::size_t group, totals& all,
                                            std::span<const std::unique_ptr<group_states>> others) const {
    const auto for_each_misfit = [&](const auto& f) {
      misfits_.for_each(group, f);
      for (const auto& other : others) of(other).misfits_.for_each(group, f);
    };
    std::uint64_t misfits = 0, zeros = 0;
    for_each_misfit([&](T x) {
      ++misfits;
      zeros += x == 0 ? 1 : 0;
    });
    const std::uint64_t count = all.count + misfits;
    // -0 changes no sum but that of -0 alone.
    if (misfits == 0 || (misfits == zeros && all.count > 0)) {
      all.count = count;
      if (write(results, all, results.at(i))) return count;
      all.count -= misfits;
    }
    std::conditional_t<has_squares, exact_moments_accumulator<T>, exact_accumulator<T>> state;
    void* summed = &state;
    if constexpr (has_squares) {
      all.elements.add_to(state.sum, window_.unit, all.count);
      all.squares.add_to(state.squares, 2 * window_.unit, all.count);
      if (row_of(request_.what).adds == summand::squares) summed = &state.squares;
    } else {
      all.elements.add_to(state, window_.unit, all.count);
    }
    for_each_misfit([&](T x) { state.add(x); });
    results.finish(i, count, count, summed);
    return count;
  }

  void reset(std::size_t states) override {
    copies_ = states <= few_states ? 2 : 0;
    state_count_ = states << copies_;
    states_ = reinterpret_cast<std::uint64_t*>(memory_.get(state_count_ * words * sizeof(std::uint64_t)));
    std::fill_n(states_, state_count_ * words, std::uint64_t{0});
    prefetches_ = state_count_ * words * sizeof(std::uint64_t) > cached_states_bytes;
    without_carries_ = 0;
    moved_.clear();
    misfits_.clear();
  }

  std::uint64_t constants_[words] = {};  ///< what each element adds to each word beside its own words
  state_memory memory_;
  std::uint64_t* states_ = nullptr;
  std::size_t state_count_ = 0;
  unsigned copies_ = 0;  ///< the logarithm of the number of states of a group, which take its elements in turn
  bool prefetches_ = false;
  std::uint64_t without_carries_ = 0;
  std::vector<totals> moved_;  ///< what was moved from the states of each group
  misfit_lists<T> misfits_;
};

}  // namespace

std::optional<exact_terms> exact_terms_of(const request& request) {
  if (request.method != method::exact || !is_floating(request.inputs.type())) return std::nullopt;
  const operation_row& row = row_of(request.what);
  switch (row.adds) {
    case summand::elements:
    case summand::magnitudes:
      return exact_terms::elements;
    case summand::squares:
      if (is_quotient(row.value)) return std::nullopt;  // value_of_moments() has no mean of squares
      return exact_terms::moments;
    case summand::deviations:
      return exact_terms::moments;
    default:
      return std::nullopt;
  }
}

std::optional<exact_window> window_for(const request& request, const std::vector<double>& sample, std::size_t count,
                                       bool in_columns) {
  const exact_terms terms = *exact_terms_of(request);
  const element_type type = request.inputs.type();
  std::optional<exact_window> window;
  if (!in_columns && type != element_type::f64) {
    const exact_terms in_short = have_squares(terms) ? exact_terms::short_moments : exact_terms::short_elements;
    window = find_window(sample, type, in_short, bits_of_groups(in_short, count), 512);
  }
  if (!window) {
    const int bits = in_columns ? bits_of_columns(terms, type, count) : bits_of_groups(terms, count);
    window = find_window(sample, type, terms, bits, in_columns ? 512 : 16);
  }
  if (window && row_of(request.what).adds == summand::magnitudes)
    window->ignored = detail::float_format<double>::sign;
  return window;
}

std::unique_ptr<exact_states> make_exact_states(const request& request, const exact_window& window) {
  const auto make = [&]<exact_terms Terms>() -> std::unique_ptr<exact_states> {
    if constexpr (!are_short(Terms)) {
      if (request.inputs.type() == element_type::f64) {
        return std::make_unique<window_states<Terms, double>>(request, window);
      }
    }
    return std::make_unique<window_states<Terms, float>>(request, window);
  };
  switch (window.terms) {
    case exact_terms::elements:
      return make.template operator()<exact_terms::elements>();
    case exact_terms::moments:
      return make.template operator()<exact_terms::moments>();
    case exact_terms::short_elements:
      return make.template operator()<exact_terms::short_elements>();
    default:
      return make.template operator()<exact_terms::short_moments>();
  }
}

group_states_factory exact_group_states(const request& request, const array_view& x) {
  if (!exact_terms_of(request)) return {};
  const auto sample = sample_of(
      x.count, x.type, [&](std::size_t i) { return static_cast<const std::byte*>(x.data) + i * byte_size(x.type); });
  const auto window = window_for(request, sample, x.count, false);
  if (!window) return {};
  return {state_words(window->terms) * sizeof(std::uint64_t), term_kind::elements,
          [&request, window = *window] { return make_exact_states(request, window); }};
}

}  // namespace fanin::cpu
