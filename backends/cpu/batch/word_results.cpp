// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/batch/word_results.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <type_traits>

#include "backends/cpu/batch/word.hpp"
#include "backends/cpu/integers.hpp"

namespace fanin::cpu {
namespace {

using accumulator::int128;
using accumulator::uint128;

/// The numbers whose keys are in the wide numbers of a column, as bits of U.
template <class U>
struct found_words {
  U greatest, least;
  bool has_nan;

  found_words(const word_plan::step& step, const std::uint64_t* wide)
      : greatest(word_of(step.rule, wide[0])), least(word_of(step.rule, ~wide[1])) {
    has_nan = is_nan(step.rule, greatest) || (step.kernel == word_kernel::extrema && is_nan(step.rule, least));
    if (has_nan) greatest = least = static_cast<U>(step.rule.nan);
  }

 private:
  static constexpr U sign = static_cast<U>(U{1} << (8 * sizeof(U) - 1));
  static U word_of(const word_rule& rule, std::uint64_t key) {
    const auto word = static_cast<U>(key ^ rule.flipped);
    return static_cast<U>((word & sign) != 0 ? word ^ rule.negated : word);
  }
  static bool is_nan(const word_rule& rule, U word) { return (word & (sign - 1)) > rule.largest_number; }
};

/// The largest magnitude of floats as their bits, and of integers as a number.
template <class U>
std::uint64_t magnitude_of(const found_words<U>& found, bool is_float, bool is_signed) {
  if (!is_signed) return found.greatest;
  const auto size = [&](U word) {
    const std::int64_t number = std::make_signed_t<U>(word);
    if (is_float) return word & ~std::uint64_t{0} >> (65 - 8 * sizeof(U));
    return number < 0 ? 0 - static_cast<std::uint64_t>(number) : static_cast<std::uint64_t>(number);
  };
  return std::max(size(found.greatest), size(found.least));
}

/// Writes an extremum, or several numbers of it.
template <class U>
void write_extremum(operation what, const word_plan& plan, const std::uint64_t* wide, std::byte* out) {
  const found_words<U> found(plan.steps[0], wide);
  switch (what) {
    case operation::min:
      std::memcpy(out, &found.least, sizeof(U));
      break;
    case operation::max:
      std::memcpy(out, &found.greatest, sizeof(U));
      break;
    case operation::minmax:
      std::memcpy(out, &found.least, sizeof(U));
      std::memcpy(out + sizeof(U), &found.greatest, sizeof(U));
      break;
    case operation::max_magnitude: {
      const bool is_float = is_floating(plan.type), is_signed = plan.steps[0].rule.flipped == 0;
      const std::uint64_t size = magnitude_of(found, is_float, is_signed);
      const U bits = static_cast<U>(size);
      is_float ? std::memcpy(out, &bits, sizeof(U)) : std::memcpy(out, &size, sizeof size);
      break;
    }
    default:  // an element and its index
      std::memcpy(out, &found.greatest, sizeof(U));
      std::memcpy(out + 8, wide + 1, sizeof(std::uint64_t));
  }
}

void write_count(operation what, std::uint64_t zeros, std::uint64_t count, std::byte* out) {
  const std::uint64_t nonzero = count - zeros;
  if (what == operation::count_nonzero) {
    std::memcpy(out, &nonzero, sizeof nonzero);
  } else {
    *out = std::byte{what == operation::any ? nonzero > 0 : zeros == 0};
  }
}

/// The sum of the words, of which `wide` has the sum, or the sums of the low and the high halves.
int128 sum_of(const word_plan::step& step, const std::uint64_t* wide, std::uint64_t count) {
  int128 sum = wide[0];
  if (step.loops->outputs == 2) sum += int128{wide[1]} << 32;
  return sum - static_cast<int128>(step.rule.flipped) * static_cast<int128>(count);
}
square_total squares_of(const word_plan::step& step, const std::uint64_t* wide) {
  const auto of_halves = [&](int i) { return wide[i] + (uint128{wide[i + 1]} << 32); };
  if (step.loops->outputs == 1) return {wide[0], 0};
  if (step.loops->outputs == 2) return {of_halves(0), 0};
  const uint128 low = of_halves(0) + (of_halves(2) << 33), high = of_halves(4), all = low + (high << 64);
  return {all, static_cast<std::uint64_t>(high >> 64) + (all < low ? 1 : 0)};
}

/// Writes the state of the operation's recipe.
void write_state(const operation_row& row, const integer_total& total, void* state) {
  const auto& [sum, squares] = total;
  using A = accumulator::integer_square_sum<std::int64_t>;
  if (row.adds == summand::deviations || row.value == sum_value::root) {
    ::new (state) accumulator::integer_moments{sum, squares.low, squares.high};
  } else if (row.adds == summand::squares) {
    ::new (state) uint128(squares.high != 0 || squares.low > A::limit ? A::limit : squares.low);
  } else {
    ::new (state) int128(sum);
  }
}

void write_sums(const word_plan& plan, const std::uint64_t* wide, std::size_t columns, std::uint64_t count,
                batch_results& results, std::size_t first, std::size_t distance) {
  constexpr std::size_t most = detail::arithmetic::most_runs;
  const request& asked = results.asked();
  const word_plan::step &step = plan.steps[0], &last = plan.steps[plan.count - 1];
  const std::uint64_t* const squares = plan.count == 1 ? wide : wide + columns * step.loops->outputs;
  const std::size_t outputs = step.loops->outputs, outputs_of_squares = last.loops->outputs;
  integer_total totals[most];
  std::uint64_t found[most];
  std::size_t counts[most];
  std::fill_n(counts, most, count);
  for (std::size_t begin = 0; begin < columns; begin += most) {
    const std::size_t n = std::min(most, columns - begin);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t c = begin + i;
      totals[i] = {};
      if (step.kernel == word_kernel::sum) totals[i].sum = sum_of(step, wide + c * outputs, count);
      if (last.kernel == word_kernel::squares) totals[i].squares = squares_of(last, squares + c * outputs_of_squares);
    }
    const std::uint64_t left = finish_integers_each(asked.what, totals, counts, n, asked.result, found);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t at = first + (begin + i) * distance;
      if ((left >> i & 1) == 0) {
        std::memcpy(results.at(at), found + i, sizeof found[i]);
      } else {
        state_buffer state;
        write_state(row_of(asked.what), totals[i], state.bytes);
        results.finish(at, count, count, state.bytes);
      }
    }
  }
}

/// Writes the product, or reports that it does not fit.
void write_product_of(const std::uint64_t* wide, std::uint64_t count, batch_results& results, std::size_t at) {
  using A = accumulator::integer_product<std::int64_t>;
  accumulator::integer_product_state product = read_product(wide);
  const bool fits =
      results.asked().result == element_type::u64 ? A::fits<std::uint64_t>(product) : A::fits<std::int64_t>(product);
  if (!fits) return results.finish(at, count, count, &product);
  const auto value = A::wrapped<std::uint64_t>(product);
  std::memcpy(results.at(at), &value, sizeof value);
}

}  // namespace

void finish_words(const word_plan& plan, const std::uint64_t* wide, std::size_t columns, std::uint64_t count,
                  batch_results& results, std::size_t first, std::size_t distance) {
  const operation what = results.asked().what;
  switch (plan.steps[0].kernel) {
    case word_kernel::sum:
    case word_kernel::squares:
      return write_sums(plan, wide, columns, count, results, first, distance);
    case word_kernel::product:
      for (std::size_t c = 0; c < columns; ++c) write_product_of(wide + 2 * c, count, results, first + c * distance);
      return;
    case word_kernel::zeros:
      for (std::size_t c = 0; c < columns; ++c) write_count(what, wide[c], count, results.at(first + c * distance));
      return;
    default:
      with_word(byte_size(plan.type), [&]<class U>(U) {
        if constexpr (std::is_integral_v<U>) {
          for (std::size_t c = 0; c < columns; ++c) {
            write_extremum<U>(what, plan, wide + 2 * c, results.at(first + c * distance));
          }
        }
      });
  }
}

}  // namespace fanin::cpu
