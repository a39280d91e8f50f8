// SPDX-License-Identifier: Apache-2.0
#include "oracle/complex_truth.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <span>

#include <fanin/accumulator/dot.hpp>
#include <fanin/accumulator/exact.hpp>

namespace fanin::oracle {

namespace {

using wide_complex = std::complex<long double>;

/// More than the relative error of a sum or a product of so many terms or factors, and of moduli, in long double.
constexpr double every_rounding(std::size_t count) { return static_cast<double>(count + 8) * 0x1p-62; }

template <class Z>
long double moduli(std::span<const Z> x) {
  long double sum = 0;
  for (const Z& z : x) sum += std::abs(wide_complex(z));
  return sum;
}

/// An exact result, as it is rounded to any floating type.
struct rounded_by {
  exact_accumulator<double> re, im;
  exact_dot_accumulator<double> dot_re, dot_im;
  exact_square_accumulator<double> squares;
  std::uint64_t count;

  template <class Z>
  rounded_by(operation what, std::span<const Z> x, std::span<const Z> y) : count(x.size()) {
    const double sign = what == operation::vdot ? 1 : -1;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double a = x[i].real(), b = x[i].imag();
      if (what == operation::norm2) {
        squares.add(a);
        squares.add(b);
      } else if (y.empty()) {
        re.add(a);
        im.add(b);
      } else {
        const double c = y[i].real(), d = y[i].imag();
        dot_re.add(a, c);
        dot_re.add(sign * b, d);
        dot_im.add(a, d);
        dot_im.add(-sign * b, c);
      }
    }
  }
  template <class P>
  std::complex<P> to(operation what) const {
    if (what == operation::sum) return {re.template round<P>(), im.template round<P>()};
    if (what == operation::mean) return {re.template mean<P>(count), im.template mean<P>(count)};
    if (what == operation::norm2) return squares.template root<P>();
    return {dot_re.template round<P>() + 0, dot_im.template round<P>() + 0};
  }
};

template <class Z>
wide_complex product(std::span<const Z> x) {
  wide_complex all = 1;
  for (const Z& z : x) all *= wide_complex(z);
  return all;
}

bool same_number(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

}  // namespace

complex_truth::complex_truth(operation what, const array_view& x) {
  const operation_row& row = row_of(what);
  if (!is_complex(x.type) || !row.of_complex.fast) throw unsupported("there is no such operation of complex numbers");
  with_element(x.type, [&]<class Z>() {
    if constexpr (complex_number<Z>) {
      using P = part_of<Z>;
      const std::size_t count = x.count / static_cast<std::size_t>(row.inputs);
      const std::span<const Z> first(static_cast<const Z*>(x.data), count);
      const std::span<const Z> second(first.data() + count, row.inputs == 2 ? count : 0);
      const auto set = [&](const std::complex<double>& exact, const std::complex<P>& rounded) {
        exact_ = exact;
        rounded_ = default_result(what, x.type) == x.type ? scalar(rounded) : scalar(rounded.real());
      };
      if (what == operation::product || what == operation::sum_of_magnitudes) {
        const wide_complex value = what == operation::product ? product(first) : wide_complex(moduli(first));
        set(std::complex<double>(value), std::complex<P>(value));
        error_ += every_rounding(count);
      } else {
        const rounded_by exact(what, first, second);
        set(exact.to<double>(what), exact.to<P>(what));
      }
      long double magnitudes = moduli(first);
      if (what == operation::mean) magnitudes /= static_cast<long double>(count);
      if (what == operation::norm2) magnitudes = std::norm(wide_complex(exact_));
      if (what == operation::product) magnitudes = std::abs(exact_);
      if (row.inputs == 2) {
        magnitudes = 0;
        for (std::size_t i = 0; i < count; ++i)
          magnitudes += std::abs(wide_complex(first[i])) * std::abs(wide_complex(second[i]));
      }
      of_magnitudes_ = static_cast<double>(magnitudes) * (1 + every_rounding(count) + 0x1p-52);
    }
  });
}

promise complex_truth::judge(const scalar& value, const report& how) const {
  const auto verdict = [](bool kept) { return kept ? promise::kept : promise::broken; };
  return fanin::visit(
      [&]<class R>(const R& got) {
        if constexpr (complex_number<R> || std::floating_point<R>) {
          const auto bytes = [](const R& x) { return std::bit_cast<std::array<std::byte, sizeof(R)>>(x); };
          const R* const rounded = fanin::get_if<R>(&rounded_);
          if (rounded == nullptr) return promise::broken;
          if (how.method == method::exact) return verdict(bytes(got) == bytes(*rounded));
          const std::complex<double> z(got);
          error_bound bound = how.bound;
          bound.of_result += error_;
          const exact_facts exact{std::abs(exact_), of_magnitudes_};
          if (!is_promised(bound, type_of<part_of<R>>, exact)) return promise::none;
          if (!std::isfinite(exact_.real()) || !std::isfinite(exact_.imag())) {
            return verdict(same_number(z.real(), exact_.real()) && same_number(z.imag(), exact_.imag()));
          }
          return verdict(std::abs(z - exact_) <= limit(bound, exact));
        }
        return promise::broken;
      },
      value);
}

}  // namespace fanin::oracle
