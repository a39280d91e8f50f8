// SPDX-License-Identifier: Apache-2.0
// Results: a value, and a report with the backend that computed it, its error bound and its reproducibility.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fanin/error_bound.hpp>
#include <fanin/request.hpp>
#include <fanin/scalar.hpp>

namespace fanin {

/// The changes under which the bits of a result stay the same.
enum class reproducibility : std::uint8_t {
  exact,        ///< the same for any order (an index: for the same order), split, backend and machine
  fixed_order,  ///< the same for the same order, on any CPU backend, thread count and instruction set
  run_to_run,   ///< the same on the same device with the same build, if arrays are aligned alike to 128 bytes
  none,         ///< may differ from one call to the next
};
FANIN_API std::string_view to_string(reproducibility) noexcept;

/// Why a backend cannot be used, here or for this request.
enum class reason : std::uint8_t {
  usable,
  not_compiled,  ///< this build left it out
  no_driver,     ///< no GPU driver on this machine
  no_device,     ///< a driver, but no device it may use
  too_old,       ///< the driver, the device or the processor is too old for this build
  unsupported,   ///< usable, but not for this request
  failed,        ///< ran out of memory, or its device failed, while it served this request
  wrong_memory,  ///< the backend cannot read the memory that holds the data
};
FANIN_API std::string_view to_string(reason) noexcept;

/// A backend that stands before the chosen one in the list, or in the order of `auto`, but could not be used.
struct passed_over {
  std::string_view backend;
  reason why = reason::usable;
  std::string detail;  ///< one sentence
};

/// The part of a report that the backend itself returns.
struct outcome {
  std::string_view variant = {};
  fanin::method method = fanin::method::fast;
  fanin::reproducibility reproducibility = reproducibility::none;
  error_bound bound;
  std::uint64_t absent = 0;  ///< elements, or pairs, that did not take part
};

/// The backend, the variant and the method that computed a value, and what is guaranteed about the value. The names
/// are in static storage.
struct report {
  std::string_view backend;
  std::string_view variant;
  fanin::method method = fanin::method::fast;
  fanin::reproducibility reproducibility = reproducibility::none;
  error_bound bound;
  std::uint64_t absent = 0;           ///< elements, or pairs, that did not take part: skipped NaN, or by a mask
  std::vector<passed_over> fallback;  ///< in the order they were tried; empty if the first choice was taken

  // report is not an aggregate, because g++ 12 clears an aggregate by an instruction that takes longer than a
  // short sum.
  report() noexcept {}
  report(std::string_view by, const outcome& done, std::vector<passed_over> passed = {}) noexcept
      : backend(by),
        variant(done.variant),
        method(done.method),
        reproducibility(done.reproducibility),
        bound(done.bound),
        absent(done.absent),
        fallback(std::move(passed)) {}
  /// Takes the bound that `bound_of` returns, without a copy.
  template <std::invocable BoundOf>
  report(std::string_view by, std::string_view variant_name, fanin::method how, fanin::reproducibility same_bits,
         BoundOf bound_of)
      : backend(by), variant(variant_name), method(how), reproducibility(same_bits), bound(bound_of()) {}

  /// The results of result::error_bound() and result::why_unbounded() for `value`, which is the value of this
  /// report.
  FANIN_API double error_bound_of(const scalar& value) const noexcept;
  FANIN_API std::string_view why_unbounded(const scalar& value) const noexcept;
};

namespace detail {
/// The value as a scalar, if it is a number of the catalogue; a bool is a number too.
template <class Value>
requires std::constructible_from<scalar, Value> scalar as_number(const Value& value) { return scalar(value); }
inline scalar as_number(bool value) { return scalar(static_cast<std::uint8_t>(value)); }

/// The name of a part of a result's value. A result has this name too, so that the compiler says how to write it.
template <class Value>
struct part_of_value {
  constexpr part_of_value() = default;
  part_of_value(const part_of_value&) { refuse<Value>(); }
  template <class T>
  operator T() const {
    return refuse<T>();
  }
  template <class Stream>
  friend Stream& operator<<(Stream& out, const part_of_value&) {
    refuse<Stream>();
    return out;
  }

 private:
  template <class T>
  static T refuse() {
    static_assert(sizeof(T) == 0, "the parts of a result's value come after .value: argmax(x).value.index");
  }
};
template <class Value>
struct names_of_parts {};
template <class T>
struct names_of_parts<indexed<T>> {
  static constexpr part_of_value<T> index{};
};
template <class T>
struct names_of_parts<extremes<T>> {
  static constexpr part_of_value<T> min{}, max{};
};
}  // namespace detail

/// A result converts to its value: double total = fanin::sum(x).
template <class Value>
struct [[nodiscard]] result : detail::names_of_parts<Value> {
  Value value;
  fanin::report report;

  result() : value() {}
  result(Value v, fanin::report r) noexcept : value(std::move(v)), report(std::move(r)) {}
  /// Takes the value that `reduce(value)` writes, and the report that it returns.
  template <std::invocable<Value&> Reduce>
  explicit result(Reduce reduce) : value(), report(reduce(value)) {}
  operator Value() const { return value; }

  /// The largest possible error of this value: |value - exact result| <= error_bound(). For complex numbers it bounds
  /// the modulus of the error.
  /// - 0 if nothing was rounded.
  /// - Half of the distance to the next number if an exact result was rounded once.
  /// - Infinity if nothing is proven. why_unbounded() then has the reason as one sentence, and is empty otherwise.
  /// `fast` and `compensated` sums need options::bound for a finite number. Cost: a few operations.
  double error_bound() const requires requires(const Value& v) { detail::as_number(v); }
  { return report.error_bound_of(detail::as_number(value)); }
  std::string_view why_unbounded() const requires requires(const Value& v) { detail::as_number(v); }
  { return report.why_unbounded(detail::as_number(value)); }
};

}  // namespace fanin
