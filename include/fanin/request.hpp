// What is asked for: operation, element type, method and options.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <fanin/export.hpp>

namespace fanin {

enum class operation : std::uint8_t { sum, product, min, max, sum_of_squares, mean, norm2, variance, dot };

enum class element_type : std::uint8_t { f32, f64, i32, i64, u32, u64 };

/// How floating-point sums are formed; docs/numerics.md has the bounds. Sums of integers, and min and max, are
/// exact with every method. Products of floats exist as `fast` only, norm2, variance and dot as `exact` only.
enum class method : std::uint8_t {
  fast,         ///< one addition per element, error <= g(d) sum|x|
  compensated,  ///< error-free transformations, error <= u |S| + (1 + u) g(d) g(d') sum|x|
  exact,        ///< the correctly rounded value: the same bits for any order, split, backend and machine
};

/// Where data lies. Never guessed from a pointer.
enum class memory : std::uint8_t { host, device };

/// The operations on one input. `dot` has two: fanin::dot.
inline constexpr operation all_operations[] = {operation::sum,   operation::product,        operation::min,
                                               operation::max,   operation::sum_of_squares, operation::mean,
                                               operation::norm2, operation::variance};
inline constexpr element_type all_element_types[] = {element_type::f32, element_type::f64, element_type::i32,
                                                     element_type::i64, element_type::u32, element_type::u64};
inline constexpr method all_methods[] = {method::fast, method::compensated, method::exact};

std::string_view to_string(operation) noexcept;
std::string_view to_string(element_type) noexcept;
std::string_view to_string(method) noexcept;
std::string_view to_string(memory) noexcept;

constexpr std::size_t size_of(element_type type) noexcept {
  return type == element_type::f64 || type == element_type::i64 || type == element_type::u64 ? 8 : 4;
}
constexpr bool is_floating(element_type type) noexcept {
  return type == element_type::f32 || type == element_type::f64;
}

template <class T>
concept element = std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, std::int32_t> ||
    std::same_as<T, std::int64_t> || std::same_as<T, std::uint32_t> || std::same_as<T, std::uint64_t>;

template <element T>
inline constexpr element_type type_of = std::same_as<T, float>           ? element_type::f32
                                        : std::same_as<T, double>        ? element_type::f64
                                        : std::same_as<T, std::int32_t>  ? element_type::i32
                                        : std::same_as<T, std::int64_t>  ? element_type::i64
                                        : std::same_as<T, std::uint32_t> ? element_type::u32
                                                                         : element_type::u64;

/// Whether the operation is one of floats with method::exact and no other.
constexpr bool is_exact_only(operation what) noexcept {
  return what == operation::norm2 || what == operation::variance || what == operation::dot;
}

/// The method that is used when nobody asks for another.
constexpr method default_method(operation what) noexcept {
  return is_exact_only(what) ? method::exact : method::fast;
}

/// The type a result has when nobody asks for another: sums and products of integers widen to 64 bits, means of
/// integers are f64, min and max keep the element type. norm2, variance and dot exist for floats only.
constexpr element_type default_result(operation what, element_type type) noexcept {
  if (is_floating(type) || what == operation::min || what == operation::max) return type;
  if (what == operation::mean || is_exact_only(what)) return element_type::f64;
  return type == element_type::u32 || type == element_type::u64 ? element_type::u64 : element_type::i64;
}

/// `count` elements of `type` at `data`, contiguous, aligned to the element at least. `data` may be null only if
/// `count` is 0.
struct array_view {
  const void* data = nullptr;
  std::size_t count = 0;
  element_type type = element_type::f64;
  memory place = memory::host;

  array_view() = default;
  array_view(const void* data_, std::size_t count_, element_type type_, memory place_ = memory::host) noexcept
      : data(data_), count(count_), type(type_), place(place_) {}
  template <element T>
  array_view(std::span<const T> values) noexcept : array_view(values.data(), values.size(), type_of<T>) {}

  std::size_t bytes() const noexcept { return count * size_of(type); }
};

/// The caller's choices. Every default is the one to use until something else is needed.
struct options {
  /// A backend's name ("serial"): that one or an error. "auto", or a comma list in order of preference
  /// ("cuda,tbb,serial"): the first that can serve, and the report says who was passed over and why.
  /// Empty: what the environment variable FANIN_BACKEND said when the process first asked, else "auto".
  std::string_view backend = {};
  /// One of the backend's variants by name ("kahan"); empty: the one it ships for the method.
  std::string_view variant = {};
  /// Empty: the variant's own method if one is named, else default_method(): `fast` wherever it exists.
  std::optional<method> how = {};
  /// Empty: default_result(). f64 from f32 elements exists with method::exact only.
  std::optional<element_type> result = {};
  /// Threads that CPU backends may use, and GPU backends for copying host data, the caller's included; 0: as many as
  /// the process has cores. At most 256 are used; the result's bits do not depend on it.
  unsigned threads = 0;
};

/// A checked question as a backend receives it: no field is left to be guessed.
struct request {
  operation what = operation::sum;
  array_view input;
  method how = method::fast;
  element_type result = element_type::f64;
  std::string_view variant;  ///< empty: the backend's choice
  unsigned threads = 1;      ///< at least 1
  /// dot: the other factors, as many elements of the same type in the same place; else not looked at.
  const void* other = nullptr;
};

}  // namespace fanin
