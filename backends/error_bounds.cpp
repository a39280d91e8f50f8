// SPDX-License-Identifier: Apache-2.0
// The bound of one value as a number; docs/numerics.md has the proofs.
#include "backends/error_bounds.hpp"

#include <cmath>
#include <limits>
#include <string_view>

#include <fanin/accumulator/bounds.hpp>

#include "backends/as_scalar.hpp"
#include "backends/checks.hpp"

namespace fanin {
namespace {

using accumulator::round_up;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double least = std::numeric_limits<double>::denorm_min();

struct proven_error {
  double most;
  std::string_view unproven = "";  ///< why `most` is infinite; it ends in a null character
};

/// The magnitude of a number, rounded up.
double magnitude_of(const scalar& value) {
  return visit(
      []<class R>(const R& number) -> double {
        if constexpr (complex_number<R>) {
          const std::complex<double> wide(number);
          return std::hypot(wide.real(), wide.imag()) * round_up;
        } else if constexpr (element<R>) {
          return std::fabs(static_cast<double>(number));
        } else {
          return infinity;
        }
      },
      value);
}

/// Half of the distance from `size` to the next number of the type whose rounding `bound` describes.
double half_of_last_digit(const error_bound& bound, double size) {
  const double of_normal = size == 0 ? 0 : std::ldexp(bound.of_result, std::ilogb(size));
  return std::max(of_normal, bound.absolute);
}

proven_error error_of(const report& how, const scalar& value) {
  const error_bound& bound = how.bound;
  if (bound.of_result == 0 && bound.of_magnitudes == 0 && bound.absolute == 0) return {0};
  const double size = magnitude_of(value);
  if (!std::isfinite(size)) return {infinity, "the value is not finite"};
  if (bound.in_range_only) return {infinity, "it is not known whether a product on the way over- or underflowed"};
  if (!(bound.of_result < 1) || std::isinf(bound.absolute) || std::isinf(bound.of_magnitudes)) {
    return {infinity, "nothing is proven for so many elements, or of such size, in the precision of their type"};
  }
  if (bound.of_magnitudes != 0) {
    return {infinity, "the bound depends on the sum of the magnitudes, which the option `bound` has computed"};
  }
  if (how.method == method::exact && !is_complex(value.type())) return {half_of_last_digit(bound, size)};
  // The exact result is at most the value and its error.
  const double most = (bound.of_result * size + bound.absolute) / (1 - bound.of_result) * round_up;
  return {most + least};
}

/// A value that its own report bounds, rounded up.
double upper(const result<scalar>& found) {
  return (magnitude_of(found.value) + found.error_bound()) * round_up + least;
}

double largest_of(element_type type) {
  if (part_type(type) == element_type::f64) return std::numeric_limits<double>::max();
  return std::numeric_limits<float>::max();
}

/// M of the bound of a result, rounded up, and the most that M may be: before its division, and for a standard
/// deviation without the factor of the root.
struct magnitudes {
  double sum = infinity, premise = 0;
  bool hold() const { return sum <= premise; }
};

/// `total(what, inputs)`: another reduction of the same elements, `exact` where it can be.
template <class Total>
magnitudes magnitudes_of(operation what, const input_views& inputs, const Total& total) {
  const element_type type = inputs.type();
  const auto one = [&](int i) { return input_views(inputs[i]).where(inputs.mask()); };
  switch (row_of(what).adds) {
    case summand::elements:
      return {upper(total(operation::sum_of_magnitudes, inputs)), largest_of(type) / 2};
    case summand::products: {  // The sum of |x y| is at most the product of the norms [Cauchy, Schwarz].
      const double norms = upper(total(operation::norm2, one(0))) * upper(total(operation::norm2, one(1)));
      return {norms * round_up + least, largest_of(type) / (is_complex(type) ? 4 : 2)};
    }
    case summand::deviations:
      return {upper(total(operation::sum_of_squares, inputs)), std::numeric_limits<double>::max() / 128};
    default:
      return {};
  }
}

/// The part of the error that the magnitudes bring, `part` times M.
double error_of_magnitudes(double part, const magnitudes& all, operation what, double value, double count) {
  const operation_row& row = row_of(what);
  if (!all.hold()) return infinity;
  if (row.value == sum_value::total) return part * all.sum * round_up + least;
  const double divisor = row.adds == summand::deviations && least_count(what) > 1 ? count - 1 : count;
  const double of_mean = part * (all.sum / divisor) * round_up + least;
  if (row.value == sum_value::mean) return of_mean;
  // The root of a variance that is off by e is off by at most e divided by the root, and by the root of e.
  constexpr double of_root = 1 + 0x1p-20;
  return (value > 0 ? of_mean / value : std::sqrt(of_mean)) * of_root + least;
}

/// Whether the product of any choice of elements that take part is in the range of normal numbers of N. The
/// margins are a factor of two for the roundings, and the errors of the logarithms and of their sums.
template <class N, class T>
bool stays_in_range(const input_views& inputs) {
  double above = 0, below = 0;
  const auto count = inputs.count();
  for (std::size_t i = 0; i < count; ++i) {
    const double size = std::fabs(static_cast<double>(static_cast<const T*>(inputs[0].data)[i]));
    if (size == 0 || !std::isfinite(size) || !takes_part(inputs.mask(), i)) continue;
    const double power = std::log2(size);
    (power > 0 ? above : below) += std::fabs(power);
  }
  const double error = 1 + 0x1p-40 + static_cast<double>(count) * 0x1p-52;
  return above * error <= std::numeric_limits<N>::max_exponent - 1 &&
         below * error <= -std::numeric_limits<N>::min_exponent;
}

bool products_stay_in_range(const input_views& inputs) {
  if (inputs.place() != memory::host) return false;
  return with_element(inputs.type(), [&]<class T>() {
    if constexpr (floating<T>) {
      return stays_in_range<std::conditional_t<std::same_as<T, double>, double, float>, T>(inputs);
    } else {
      return false;
    }
  });
}

}  // namespace

double report::error_bound_of(const scalar& value) const noexcept {
  const detail::environment_guard guard;
  return error_of(*this, value).most;
}

std::string_view report::why_unbounded(const scalar& value) const noexcept {
  const detail::environment_guard guard;
  return error_of(*this, value).unproven;
}

report reduce_with_bound(operation what, const input_views& inputs, const result_view& value, options chosen,
                         std::string_view backend, const reduce_function& reduce) {
  chosen.bound = false;
  report done = reduce(what, inputs, value, chosen);
  if (done.bound.in_range_only) done.bound.in_range_only = !compute([&] { return products_stay_in_range(inputs); });
  if (done.bound.of_magnitudes == 0) return done;
  const options exactly{.backend = backend, .threads = chosen.threads, .nan = chosen.nan, .devices = chosen.devices};
  const auto total = [&](operation other, const input_views& of) {
    const bool is_wider = is_result(other, of.type(), default_method(other, of.type()), element_type::f64);
    const element_type type = is_wider ? element_type::f64 : default_result(other, of.type());
    return as_scalar(other, type, [&](const result_view& out) { return reduce(other, of, out, exactly); });
  };
  const magnitudes all = magnitudes_of(what, inputs, total);
  const double size = magnitude_of(scalar_at(value)), count = static_cast<double>(inputs.count() - done.absent);
  done.bound.absolute +=
      compute([&] { return error_of_magnitudes(done.bound.of_magnitudes, all, what, size, count); });
  done.bound.of_magnitudes = 0;
  return done;
}

}  // namespace fanin
