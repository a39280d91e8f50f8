// SPDX-License-Identifier: Apache-2.0
// The lanes of fanin/lanes.hpp. First come the lanes of the state, then the number of elements, which finish()
// needs.
#include <fanin/lanes.hpp>

#include <algorithm>
#include <array>
#include <string>

#include <fanin/short_lanes.hpp>
#include <fanin/state.hpp>

#include "backends/checks.hpp"
#include "backends/cpu/fold.hpp"
#include "backends/presence_rule.hpp"
#include "backends/short_sum.hpp"

namespace fanin {
namespace {

/// The lanes of a recipe, behind function pointers over untyped states.
struct merging {
  lane_format format;
  std::size_t state_bytes;
  void (*write)(const void* state, std::int64_t* out);
  void (*finish)(const std::int64_t* lanes, std::uint64_t count, element_type result, void* out);
  /// Writes the value of a sum's short words rounded once; null where that is not the value.
  void (*round_short_words)(const std::int64_t* words, element_type result, void* out);
};

constexpr std::size_t short_word_count = 20;

/// A number with the short words of a sum, whose first word has the unit 2^lowest, and one word more. The sum of
/// 20 lanes below 2^61 in magnitude does not fit into 20 words, but is below 2^670, and so fits into 21 with a
/// sign.
template <int Lowest>
using short_number = detail::fixed_point<Lowest, Lowest + 32 * static_cast<int>(short_word_count + 1) - 64>;

/// The words in the middle of the exponent range, of sums with many words.
template <class Lanes>
constexpr lane_format format_of() {
  lane_format format{Lanes::count + 1, Lanes::how};
  if constexpr (requires { Lanes::words; }) {
    if (Lanes::words > 2 * short_word_count) {
      constexpr int middle = -Lanes::lowest_exponent / 32;
      format.words = Lanes::words;
      format.first_short_word = static_cast<std::size_t>(middle) - short_word_count / 2;
      format.short_words = short_word_count;
    }
  }
  return format;
}

template <class Recipe>
constexpr auto rounding_of_short_words() -> decltype(merging::round_short_words) {
  constexpr operation_row row = row_of(Recipe::what);
  if constexpr (row.adds != summand::none && row.value == sum_value::total) {
    using state_lanes = accumulator::lanes<typename Recipe::accumulator>;
    constexpr lane_format format = format_of<state_lanes>();
    if constexpr (format.words > 0) {
      using number = short_number<state_lanes::lowest_exponent + 32 * static_cast<int>(format.first_short_word)>;
      static_assert(number::limb_count == short_word_count + 1);
      return [](const std::int64_t* words, element_type result, void* out) {
        std::int64_t wider[number::limb_count] = {};
        std::copy_n(words, short_word_count, wider);
        with_result<Recipe>(
            result, [&]<class R>(R) { *static_cast<R*>(out) = number::read_lanes(wider).template round<R>(); });
      };
    }
  }
  return nullptr;
}

template <class Recipe>
constexpr merging merging_of() {
  using A = typename Recipe::accumulator;
  using state = typename A::state;
  using state_lanes = accumulator::lanes<A>;
  static_assert(sizeof(state) <= sizeof(cpu::state_buffer) && state_lanes::count + 1 <= most_lanes);
  return {format_of<state_lanes>(), sizeof(state),
          [](const void* from, std::int64_t* out) { state_lanes::write(*static_cast<const state*>(from), out); },
          [](const std::int64_t* lanes, std::uint64_t count, element_type result, void* out) {
            with_result<Recipe>(result, [&]<class R>(R) {
              *static_cast<R*>(out) = A::template finish<R>(state_lanes::read(lanes), count);
            });
          },
          rounding_of_short_words<Recipe>()};
}

template <class Recipe>
constexpr merging merging_functions = merging_of<Recipe>();

using merging_table = std::array<std::array<const merging*, element_count>, operation_count>;

/// The merging of each operation and element type, or null.
merging_table all_mergings() {
  merging_table all;
  for (const operation what : all_operations) {
    for (const element_type type : all_element_types) {
      all[static_cast<std::size_t>(what)][static_cast<std::size_t>(type)] =
          with_recipe(what, type, method::exact, []<class Recipe>(Recipe) -> const merging* {
            using T = typename Recipe::element;
            if constexpr (Recipe::method == arithmetic_method(Recipe::what, type_of<T>, method::exact)) {
              constexpr operation_row row = row_of(Recipe::what);
              constexpr bool merges = row.merges && row.form != result_form::indexed;
              static_assert(accumulator::has_lanes<typename Recipe::accumulator> == merges);
              if constexpr (merges) return &merging_functions<Recipe>;
            }
            return nullptr;
          });
    }
  }
  return all;
}

const merging& find_merging(operation what, element_type type) {
  static const merging_table all = all_mergings();
  const bool exists = row_of(what).what == what && byte_size(type) > 0;  // otherwise the calls below throw
  const merging* const found = exists ? all[static_cast<std::size_t>(what)][static_cast<std::size_t>(type)] : nullptr;
  if (found != nullptr) return *found;
  throw unsupported("partial results of " + std::string(to_string(what)) + " of " + std::string(to_string(type)) +
                    " do not merge as lanes");
}

void check_lanes(const merging& m, std::size_t count) {
  if (count == m.format.count) return;
  throw invalid_argument("the reduction has " + std::to_string(m.format.count) + " lanes, and there are " +
                         std::to_string(count));
}

/// Checks all but the lanes, and returns how many elements they stand for.
std::uint64_t check_value(operation what, element_type type, std::span<const std::int64_t> merged,
                          const result_view& value) {
  check_result(what, value, {});
  if (!is_result(what, type, method::exact, value.type)) {
    throw invalid_argument("the memory for the result is of another type than the result");
  }
  const auto count = static_cast<std::uint64_t>(merged.back());
  check_count(what, count);
  return count;
}

/// The last lanes of a sum of words. They say whether an element was not -0, whether an element was -0, whether
/// there was a NaN, +infinity and -infinity, and how many elements there are.
enum : std::size_t { numbers = 0, minus_zeros = 1, specials = 2, count_lane = 5, trailing_lanes = 6 };

bool is_ordinary(std::span<const std::int64_t> short_lanes) {
  const auto last = short_lanes.last<trailing_lanes>();
  return last[numbers] > 0 && (last[specials] | last[specials + 1] | last[specials + 2]) == 0;
}

/// Adds x to the short words, if they can hold x. The first word has the unit 2^lowest.
bool add_to_words(std::int64_t* words, int lowest, double x) {
  using format = detail::float_format<double>;
  const auto [mantissa, exponent] = detail::unpack<double>(detail::to_bits(x) & ~format::sign);
  const int position = exponent - lowest;
  if (mantissa == 0) return true;
  if (position < 0 || position >= 32 * static_cast<int>(short_word_count - 2)) return false;
  const detail::uint128 shifted = static_cast<detail::uint128>(mantissa) << position % 32;
  const std::int64_t sign = x < 0 ? -1 : 1;
  std::int64_t* const word = words + position / 32;
  word[0] += sign * static_cast<std::int64_t>(static_cast<std::uint32_t>(shifted));
  word[1] += sign * static_cast<std::int64_t>(static_cast<std::uint32_t>(shifted >> 32));
  word[2] += sign * static_cast<std::int64_t>(shifted >> 64);
  return true;
}

/// Writes the short lanes of a sum of few doubles to `out`, which has room for these lanes. Returns false if the
/// sum is not found fast.
bool write_short_sum(const input_views& x, const options& chosen, std::span<std::int64_t> out, report& done) {
  double terms[2];
  if (!detail::short_exact_sum(x, chosen, terms, done)) return false;
  using all = accumulator::lanes<accumulator::exact_sum<double>>;
  constexpr int lowest = all::lowest_exponent + 32 * static_cast<int>(format_of<all>().first_short_word);
  std::ranges::fill(out, 0);
  if (!add_to_words(out.data(), lowest, terms[0]) || !add_to_words(out.data(), lowest, terms[1])) return false;
  const auto last = out.last<trailing_lanes>();
  const bool is_minus_zero = detail::to_bits(terms[0]) == detail::float_format<double>::sign && terms[1] == 0;
  last[is_minus_zero ? minus_zeros : numbers] = 1;
  last[count_lane] = static_cast<std::int64_t>(x.count());
  return true;
}

}  // namespace

lane_format lanes_of(operation what, element_type type) { return find_merging(what, type).format; }

report to_lanes(operation what, const input_views& inputs, std::span<std::int64_t> out, const options& chosen) {
  const element_type type = inputs.type();
  const merging& m = find_merging(what, type);
  check_lanes(m, out.size());
  options exactly = chosen;
  if (arithmetic_method(what, type, method::fast) == arithmetic_method(what, type, method::exact))
    exactly.method = {};
  cpu::state_buffer state;
  report done = detail::exact_state(what, type, inputs, state.bytes, m.state_bytes, exactly);
  m.write(state.bytes, out.data());
  const std::uint64_t count = inputs.count();
  out.back() = static_cast<std::int64_t>(finished_count(row_of(what).absent, count, count - done.absent));
  return done;
}

void from_lanes(operation what, element_type type, std::span<const std::int64_t> merged, const result_view& value) {
  const merging& m = find_merging(what, type);
  check_lanes(m, merged.size());
  const std::uint64_t count = check_value(what, type, merged, value);
  compute([&] { m.finish(merged.data(), count, value.type, value.data); });
}

bool detail::to_short_lanes(operation what, const input_views& inputs, std::span<std::int64_t> few,
                            std::span<std::int64_t> all, const options& chosen, report& done) {
  if (what == operation::sum && write_short_sum(inputs, chosen, few, done)) return true;
  done = to_lanes(what, inputs, all, chosen);
  const lane_format format = find_merging(what, inputs.type()).format;
  const auto any = [](std::span<const std::int64_t> words) {
    return std::ranges::any_of(words, [](std::int64_t word) { return word != 0; });
  };
  const auto words = all.first(format.words), behind = all.subspan(format.words);
  if (any(words.first(format.first_short_word)) || any(words.subspan(format.first_short_word + format.short_words)))
    return false;
  std::ranges::copy(words.subspan(format.first_short_word, format.short_words), few.begin());
  std::ranges::copy(behind, few.begin() + format.short_words);
  return true;
}

void detail::expand_lanes(const lane_format& format, std::span<const std::int64_t> few, std::span<std::int64_t> all) {
  std::ranges::fill(all.first(format.words), 0);
  std::ranges::copy(few.first(format.short_words), all.begin() + format.first_short_word);
  std::ranges::copy(few.subspan(format.short_words), all.begin() + format.words);
}

void detail::from_short_lanes(operation what, element_type type, std::span<const std::int64_t> merged,
                              const result_view& value) {
  const merging& m = find_merging(what, type);
  if (m.format.words == 0) return from_lanes(what, type, merged, value);
  if (m.round_short_words != nullptr && is_ordinary(merged)) {
    check_value(what, type, merged, value);
    compute([&] { m.round_short_words(merged.data(), value.type, value.data); });
    return;
  }
  std::int64_t all[most_lanes];
  const std::span<std::int64_t> lanes(all, m.format.count);
  expand_lanes(m.format, merged, lanes);
  from_lanes(what, type, lanes, value);
}

}  // namespace fanin
