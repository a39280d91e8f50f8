// SPDX-License-Identifier: Apache-2.0
#include "cli/quantile/selection.hpp"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include <fanin/accumulator/exact.hpp>
#include <fanin/accumulator/ordered.hpp>
#include <fanin/catalog.hpp>
#include <fanin/error.hpp>

#include "cli/kit/errors.hpp"
#include "cli/kit/text.hpp"

namespace fanin::cli {

namespace {

/// A place among sorted elements: that of an element, and how far towards the next one, in parts of the denominator.
struct sorted_place {
  std::size_t element;
  std::uint64_t parts;
};

sorted_place place_of(const exact_share& q, std::size_t count) {
  const auto product = static_cast<detail::uint128>(count - 1) * q.numerator;
  return {static_cast<std::size_t>(product / q.denominator), static_cast<std::uint64_t>(product % q.denominator)};
}

/// Puts the keys at those places where they stand when all are sorted.
void select(std::vector<std::int64_t>& keys, std::span<const sorted_place> places) {
  std::vector<std::size_t> wanted;
  for (const sorted_place& one : places) {
    wanted.push_back(one.element);
    if (one.parts > 0) wanted.push_back(one.element + 1);
  }
  std::ranges::sort(wanted);
  auto first = keys.begin();
  for (const std::size_t place : wanted) {
    const auto at = keys.begin() + static_cast<std::ptrdiff_t>(place);
    if (at < first) continue;  // It was wanted twice.
    std::nth_element(first, at, keys.end());
    first = at + 1;
  }
}

/// Adds x times the weight, which is at most 10^18.
template <class T>
void add_weighted(exact_accumulator<double>& sum, T x, std::uint64_t weight) {
  if constexpr (std::integral<T>) {
    sum.add_scaled(static_cast<detail::int128>(x) * static_cast<detail::int128>(weight), 0);
  } else {
    using format = detail::float_format<double>;
    const std::uint64_t bits = detail::to_bits(static_cast<double>(static_cast<computed_as<T>>(x)));
    const auto [mantissa, exponent] = detail::unpack<double>(bits & ~format::sign);
    const auto product = static_cast<detail::int128>(mantissa) * static_cast<detail::int128>(weight);
    sum.add_scaled((bits & format::sign) != 0 ? -product : product, exponent);
  }
}

/// The number that is parts / denominator of the way from x to y, rounded once.
template <class R, class T>
R between(T x, T y, std::uint64_t parts, std::uint64_t denominator) {
  if constexpr (!std::integral<T>) {
    const double first = static_cast<computed_as<T>>(x), last = static_cast<computed_as<T>>(y);
    if (std::isinf(first) && std::isinf(last)) return std::numeric_limits<R>::quiet_NaN();  // x is below y
    if (std::isinf(first) || std::isinf(last)) return static_cast<R>(std::isinf(first) ? first : last);
  }
  exact_accumulator<double> sum;
  add_weighted(sum, x, denominator - parts);
  add_weighted(sum, y, parts);
  return sum.template mean<R>(denominator);
}

template <class T, class R>
found_quantiles quantiles_of(std::span<const T> elements, std::span<const exact_share> shares, nan_policy nan) {
  constexpr std::int64_t of_nan = std::numeric_limits<std::int64_t>::max();
  std::vector<std::int64_t> keys;
  keys.reserve(elements.size());
  std::size_t nans = 0;
  for (const T x : elements) {
    const std::int64_t key = accumulator::ordered(x, of_nan);
    if (!std::integral<T> && key == of_nan) {
      ++nans;
    } else {
      keys.push_back(key);
    }
  }
  found_quantiles found{.values = {}, .absent = nan == nan_policy::skip ? nans : 0};
  if (found.absent < nans) {
    found.values.assign(shares.size(), std::numeric_limits<R>::quiet_NaN());
    return found;
  }
  if (keys.empty()) {
    throw invalid_argument(found.absent == 0 ? "quantile of an empty array"
                                             : "quantile of no elements: all are left out");
  }
  std::vector<sorted_place> places;
  for (const exact_share& q : shares) places.push_back(place_of(q, keys.size()));
  select(keys, places);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto [element, parts] = places[i];
    const T x = accumulator::of_ordered<T>(keys[element]);
    const bool is_element = parts == 0 || keys[element] == keys[element + 1];
    found.values.push_back(
        is_element ? static_cast<R>(static_cast<computed_as<T>>(x))
                   : between<R>(x, accumulator::of_ordered<T>(keys[element + 1]), parts, shares[i].denominator));
  }
  return found;
}

}  // namespace

exact_share parse_share(const std::string& text) {
  constexpr std::size_t most_digits = 18;  // 10^18 times an element or a place fits in 128 bits.
  const std::size_t point = std::min(text.find('.'), text.size());
  const std::string whole = text.substr(0, point);
  std::string fraction = text.substr(std::min(point + 1, text.size()));
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  bool is_share = (!whole.empty() || !fraction.empty()) && std::ranges::all_of(fraction, is_digit);
  fraction.erase(fraction.find_last_not_of('0') + 1);
  is_share = is_share && (whole == "1" ? fraction.empty() : whole.empty() || whole == "0");
  if (!is_share || fraction.size() > most_digits) {
    throw usage_error(fmt::format("a quantile is a number from 0 to 1 as 0.5, with at most {} digits, not '{}'",
                                  most_digits, printable(text)));
  }
  exact_share q{text, whole == "1", 1};
  for (const char digit : fraction) {
    q.numerator = 10 * q.numerator + static_cast<std::uint64_t>(digit - '0');
    q.denominator *= 10;
  }
  return q;
}

found_quantiles quantiles(const array_view& elements, std::span<const exact_share> shares, nan_policy nan) {
  return with_element(elements.type, [&]<class T>() -> found_quantiles {
    if constexpr (complex_number<T>) {
      throw invalid_argument(fmt::format("quantiles are of real numbers; these are {}", to_string(elements.type)));
    } else {
      using R = element_of_type<default_result(operation::mean, type_of<T>)>;
      return quantiles_of<T, R>({static_cast<const T*>(elements.data), elements.count}, shares, nan);
    }
  });
}

}  // namespace fanin::cli
