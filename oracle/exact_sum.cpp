// SPDX-License-Identifier: Apache-2.0
#include "oracle/exact_sum.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <thread>
#include <type_traits>
#include <vector>

#include "base/threads.hpp"

namespace fanin::oracle {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

template <class T>
void add(exact_accumulator<double>& to, T x, bool negated = false) {
  if constexpr (std::is_integral_v<T> && sizeof(T) == 8) {
    const auto low = static_cast<double>(x & 0xffffffff), high = static_cast<double>(x >> 32) * 0x1p32;
    to.add(negated ? -high : high);
    to.add(negated ? -low : low);
  } else {
    const auto wide = static_cast<double>(x);
    to.add(negated ? -wide : wide);
  }
}

struct partial {
  exact_accumulator<double> sum, magnitudes;

  template <class T>
  void fold(const T* x, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      add(sum, x[i]);
      if constexpr (floating<T>) {
        if (!std::isfinite(x[i])) continue;
      }
      add(magnitudes, x[i], std::numeric_limits<T>::is_signed && std::signbit(static_cast<double>(x[i])));
    }
  }
  void fold(const array_view& input, std::size_t begin, std::size_t count) {
    with_element(input.type, [&]<class T>() {
      if constexpr (!complex_number<T>) fold(static_cast<const T*>(input.data) + begin, count);
    });
  }
};

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// Whether both are of one type and have the same bits; unlike ==, this tells -0 from +0, and a NaN is equal to
/// itself.
bool same_bits(const scalar& a, const scalar& b) {
  const auto bytes = [](const auto& x) { return std::bit_cast<std::array<std::byte, sizeof x>>(x); };
  return are_alike(a, b) && fanin::visit(
                                [&]<class R>(const R& x) {
                                  if constexpr (element<R>) return bytes(x) == bytes(fanin::get<R>(b));
                                  return x == fanin::get<R>(b);
                                },
                                a);
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
  fanin::visit(
      [&]<class R>(const R& x) {
        if constexpr (element<R> && !complex_number<R>) add(difference, x, true);
      },
      value);
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
