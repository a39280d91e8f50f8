// SPDX-License-Identifier: Apache-2.0
// The lanes of fanin/lanes.hpp. First come the lanes of the state, then the number of elements, which finish()
// needs.
#include <fanin/lanes.hpp>

#include <algorithm>
#include <string>

#include <fanin/short_lanes.hpp>
#include <fanin/state.hpp>

#include "backends/checks.hpp"
#include "backends/lane_functions_of.hpp"
#include "backends/presence_rule.hpp"
#include "backends/recipe_functions.hpp"
#include "backends/short_sum.hpp"

namespace fanin {
namespace {

const recipe_functions& find_merging(operation what, element_type type) {
  const recipe_functions* const found = find_functions(what, type, method::exact);
  if (found != nullptr && found->lanes != nullptr) return *found;
  throw unsupported("partial results of " + std::string(to_string(what)) + " of " + std::string(to_string(type)) +
                    " cannot be merged as lanes");
}

void check_lanes(const lane_functions& m, std::size_t count) {
  if (count == m.format.count) return;
  throw invalid_argument("the reduction has " + std::to_string(m.format.count) + " lanes, not " +
                         std::to_string(count));
}

/// Checks all but the lanes, and returns how many elements they stand for.
std::uint64_t check_value(operation what, element_type type, std::span<const std::int64_t> merged,
                          const result_view& value) {
  check_result(what, value, {});
  if (!is_result(what, type, method::exact, value.type)) {
    throw invalid_argument("the memory for the result has another type than the result");
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

lane_format lanes_of(operation what, element_type type) { return find_merging(what, type).lanes->format; }

report to_lanes(operation what, const input_views& inputs, std::span<std::int64_t> out, const options& chosen) {
  const element_type type = inputs.type();
  const lane_functions& m = *find_merging(what, type).lanes;
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
  const recipe_functions& recipe = find_merging(what, type);
  check_lanes(*recipe.lanes, merged.size());
  const std::uint64_t count = check_value(what, type, merged, value);
  compute([&] {
    cpu::state_buffer state;
    recipe.lanes->read(merged.data(), state.bytes);
    recipe.arithmetic.finish(state.bytes, count, value.type, value.data);
  });
}

bool detail::to_short_lanes(operation what, const input_views& inputs, std::span<std::int64_t> few,
                            std::span<std::int64_t> all, const options& chosen, report& done) {
  if (what == operation::sum && write_short_sum(inputs, chosen, few, done)) return true;
  done = to_lanes(what, inputs, all, chosen);
  const lane_format format = find_merging(what, inputs.type()).lanes->format;
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
  const recipe_functions& recipe = find_merging(what, type);
  const lane_format& format = recipe.lanes->format;
  if (format.words == 0) return from_lanes(what, type, merged, value);
  if (recipe.round_short_words != nullptr && is_ordinary(merged)) {
    check_value(what, type, merged, value);
    compute([&] { recipe.round_short_words(merged.data(), value.type, value.data); });
    return;
  }
  std::int64_t all[most_lanes];
  const std::span<std::int64_t> lanes(all, format.count);
  expand_lanes(format, merged, lanes);
  from_lanes(what, type, lanes, value);
}

}  // namespace fanin
