// SPDX-License-Identifier: Apache-2.0
#include "oracle/exact_sum.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <limits>
#include <span>
#include <thread>
#include <vector>

#include "base/threads.hpp"
#include "oracle/wide_numbers.hpp"

namespace fanin::oracle {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// An integer is added as two numbers that doubles hold.
template <class W>
void add(exact_accumulator<double>& to, W x, bool negated = false) {
  if constexpr (std::integral<W>) {
    const auto low = static_cast<double>(x & 0xffffffff), high = static_cast<double>(x >> 32) * 0x1p32;
    to.add(negated ? -high : high);
    to.add(negated ? -low : low);
  } else {
    to.add(negated ? -x : x);
  }
}

struct partial {
  exact_accumulator<double> sum, magnitudes;

  template <class W>
  void fold_as(const array_view& input, std::size_t begin, std::size_t end) {
    std::array<W, piece_size> piece;
    for (; begin < end; begin += piece_size) {
      const std::span<W> part(piece.data(), std::min(piece_size, end - begin));
      read(input, begin, part);
      for (const W x : part) {
        add(sum, x);
        if constexpr (std::same_as<W, double>) {
          if (std::isfinite(x)) add(magnitudes, std::fabs(x));
        } else {
          add(magnitudes, x, x < 0);
        }
      }
    }
  }
  void fold(const array_view& input, std::size_t begin, std::size_t count) {
    // A double holds every integer of 32 bits, and is added faster.
    if (byte_size(input.type) <= 4) return fold_as<double>(input, begin, begin + count);
    with_wide_number(input.type, [&]<class W>() { fold_as<W>(input, begin, begin + count); });
  }
};

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// Returns true if two floats are of one type and have the same bits. -0 differs from +0, and a NaN equals itself.
bool same_bits(const scalar& a, const scalar& b) {
  return are_alike(a, b) && std::memcmp(a.data(), b.data(), byte_size(a.type())) == 0;
}

}  // namespace

double as_double(const scalar& value) {
  const auto number = []<class T>(const T& x) {
    if constexpr (complex_number<T>) return std::hypot(static_cast<double>(x.real()), static_cast<double>(x.imag()));
    if constexpr (!complex_number<T>) return static_cast<double>(x);
  };
  return fanin::visit(
      [&]<class R>(const R& x) {
        if constexpr (result_traits<R>::form == result_form::number) return number(x);
        if constexpr (result_traits<R>::form == result_form::indexed) return number(x.value);
        if constexpr (result_traits<R>::form == result_form::extremes) return number(x.max);
      },
      value);
}

exact_sum::exact_sum(const array_view& input, unsigned threads) {
  constexpr std::size_t worth_a_thread = 1 << 16;
  const std::size_t parts = startable_threads(
      static_cast<unsigned>(std::clamp<std::size_t>(input.count / worth_a_thread, 1, std::max(threads, 1u))));
  std::vector<partial> partials(parts);
  std::vector<std::jthread> workers;
  const std::size_t share = input.count / parts;
  for (std::size_t i = 1; i < parts; ++i) {
    const std::size_t count = i + 1 == parts ? input.count - i * share : share;
    workers.emplace_back([&partials, &input, i, share, count] { partials[i].fold(input, i * share, count); });
  }
  partials[0].fold(input, 0, parts == 1 ? input.count : share);
  workers.clear();
  for (std::size_t i = 1; i < parts; ++i) {
    partials[0].sum.merge(partials[i].sum);
    partials[0].magnitudes.merge(partials[i].magnitudes);
  }
  sum_ = partials[0].sum;
  facts_ = {sum_.round<double>(), partials[0].magnitudes.round<double>()};
}

scalar exact_sum::rounded(element_type type) const {
  const double head = facts_.result;
  if (type == element_type::f64) return head;
  if (is_floating(type)) {
    return with_element(type, [&]<class T>() -> scalar {
      if constexpr (!floating<T>) return {};
      if constexpr (floating<T>) return sum_.round<T>();
    });
  }

  exact_accumulator<double> rest = sum_;
  rest.add(-head);
  const auto whole = static_cast<__int128>(head) + static_cast<__int128>(rest.round<double>());
  if (type == element_type::u64) {
    if (whole < 0 || whole > std::numeric_limits<std::uint64_t>::max()) throw overflow("the sum does not fit in u64");
    return static_cast<std::uint64_t>(whole);
  }
  if (whole < std::numeric_limits<std::int64_t>::min() || whole > std::numeric_limits<std::int64_t>::max()) {
    throw overflow("the sum does not fit in i64");
  }
  return static_cast<std::int64_t>(whole);
}

double exact_sum::condition() const {
  return facts_.result == 0 ? infinity : facts_.of_magnitudes / std::fabs(facts_.result);
}

double exact_sum::error_ulps(const scalar& value) const {
  const element_type type = value.type();
  const double got = as_double(value), best = as_double(rounded(type));
  if (is_floating(type) && same(got, best)) return 0;
  if (!std::isfinite(got) || !std::isfinite(best)) return infinity;
  return distance(value) / ulp(type);
}

double exact_sum::limit(element_type type, const error_bound& bound) const {
  return is_promised(bound, type, facts_) ? oracle::limit(bound, facts_) : infinity;
}

double exact_sum::bound_ulps(element_type type, const error_bound& bound) const {
  const double most = limit(type, bound);
  return most == 0 ? 0 : std::nextafter(most / ulp(type), infinity);
}

promise exact_sum::judge(const scalar& value, const report& how) const {
  const element_type type = value.type();
  if (how.method == method::exact && is_floating(type)) {
    return same_bits(value, rounded(type)) ? promise::kept : promise::broken;
  }
  return oracle::judge(how.bound, type, as_double(value), facts_, [&] { return distance(value); });
}

double exact_sum::distance(const scalar& value) const {
  exact_accumulator<double> difference = sum_;
  with_wide_number(value.type(), [&]<class W>() {
    W number{};
    read({value.data(), 1, value.type()}, 0, {&number, 1});
    add(difference, number, true);
  });
  return std::fabs(difference.round<double>());
}

double exact_sum::ulp(element_type type) const {
  if (!is_floating(type)) return 1;
  return with_element(type, [&]<class T>() {
    constexpr int digits = std::numeric_limits<T>::digits, lowest = std::numeric_limits<T>::min_exponent - 1;
    const int exponent = facts_.result == 0 ? lowest : std::max(std::ilogb(facts_.result), lowest);
    return std::ldexp(1.0, exponent - digits + 1);
  });
}

}  // namespace fanin::oracle
