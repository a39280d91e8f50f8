// SPDX-License-Identifier: Apache-2.0
#include "cli/quantile/selection.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <iterator>
#include <limits>
#include <span>

#include <fmt/format.h>

#include <fanin/accumulator/exact.hpp>
#include <fanin/accumulator/ordered.hpp>
#include <fanin/catalog.hpp>

#include "cli/kit/errors.hpp"
#include "cli/kit/text.hpp"
#include "cli/reduce/element_forms.hpp"

namespace fanin::cli {

namespace {

/// A place among sorted elements. It is the place of an element and the distance from it towards the next element,
/// in parts of the denominator.
struct sorted_place {
  std::size_t element;
  std::uint64_t parts;
};

sorted_place place_of(const exact_share& q, std::size_t count) {
  const auto product = static_cast<detail::uint128>(count - 1) * q.numerator;
  return {static_cast<std::size_t>(product / q.denominator), static_cast<std::uint64_t>(product % q.denominator)};
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
    throw usage_error(fmt::format("a quantile is a number from 0 to 1 such as 0.5, with at most {} digits, not '{}'",
                                  most_digits, printable(text)));
  }
  exact_share q{text, whole == "1", 1};
  for (const char digit : fraction) {
    q.numerator = 10 * q.numerator + static_cast<std::uint64_t>(digit - '0');
    q.denominator *= 10;
  }
  return q;
}

void selection::convert(element_type type) {
  with_element(type_, [&]<class From>() {
    with_element(type, [&]<class To>() {
      if constexpr (std::integral<From> && (std::same_as<To, double> || std::same_as<To, std::uint64_t>)) {
        for (std::int64_t& key : keys_)
          key = accumulator::ordered(static_cast<To>(accumulator::of_ordered<From>(key)));
      }
    });
  });
  type_ = type;
}

bool selection::push(const array_view& elements) {
  element_forms more(elements);
  if (keys_.empty()) type_ = elements.type;
  if (type_ != elements.type) {
    const bool has_negative =
        type_ == element_type::i64 && std::ranges::any_of(keys_, [](auto key) { return key < 0; });
    const auto had = [&](element_type type) {
      return type == type_ || (type_ == element_type::i64 && (type == element_type::f64 || !has_negative)) ||
             (type_ == element_type::u64 && type == element_type::f64);
    };
    constexpr std::array types = {element_type::u64, element_type::f64};
    const auto common = std::ranges::find_if(types, [&](element_type one) { return had(one) && more.has(one); });
    if (common == types.end()) return false;
    if (*common != type_) convert(*common);
  }
  const array_view same = more.as(type_);
  if (keys_.empty()) keys_.reserve(same.count);
  with_element(type_, [&]<class T>() {
    if constexpr (!complex_number<T>) {
      constexpr std::int64_t of_nan = std::numeric_limits<std::int64_t>::max();
      for (const T x : std::span(static_cast<const T*>(same.data), same.count)) {
        const std::int64_t key = accumulator::ordered(x, of_nan);
        if (!std::integral<T> && key == of_nan) {
          ++nans_;
        } else {
          keys_.push_back(key);
        }
      }
    }
  });
  return true;
}
std::int64_t selection::at(std::size_t place) {
  const auto above = placed_.lower_bound(place);
  if (above == placed_.end() || *above != place) {
    const auto key = [this](std::size_t i) { return keys_.begin() + static_cast<std::ptrdiff_t>(i); };
    const std::size_t first = above == placed_.begin() ? 0 : *std::prev(above) + 1;
    std::nth_element(key(first), key(place), above == placed_.end() ? keys_.end() : key(*above));
    placed_.insert(above, place);
  }
  return keys_[place];
}

scalar selection::quantile(const exact_share& q) {
  return with_element(type_, [&]<class T>() -> scalar {
    using R = element_of_type<default_result(operation::mean, type_of<T>)>;
    if constexpr (!complex_number<T>) {
      if (absent() == nans_ && !keys_.empty()) {
        const auto [element, parts] = place_of(q, keys_.size());
        const std::int64_t key = at(element), next = parts == 0 ? key : at(element + 1);
        const T x = accumulator::of_ordered<T>(key);
        if (key == next) return static_cast<R>(static_cast<computed_as<T>>(x));
        return between<R>(x, accumulator::of_ordered<T>(next), parts, q.denominator);
      }
    }
    return std::numeric_limits<R>::quiet_NaN();
  });
}

}  // namespace fanin::cli
